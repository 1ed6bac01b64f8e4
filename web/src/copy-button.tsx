import { useEffect, useState } from 'preact/hooks';

import { Icon } from './icon.tsx';

const shownMs = 1_500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null);
  useEffect(() => {
    if (outcome === null) return undefined;
    const timer = setTimeout(() => setOutcome(null), shownMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => setOutcome((await copyText(text)) ? 'copied' : 'failed');
  const said = outcome === null ? label : outcome === 'copied' ? 'Copied' : 'Not copied';
  return (
    <button type="button" class="quiet copy" aria-label={said} title={said} onClick={() => void copy()}>
      <Icon name={outcome === 'copied' ? 'check' : 'copy'} />
    </button>
  );
}

/** The clipboard API exists only on secure origins; a gateway on the local network often is none. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => copyBySelection(text),
    );
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const active = document.activeElement;
  const area = document.createElement('textarea');
  area.className = 'offscreen';
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (active instanceof HTMLElement) active.focus();
  return copied;
}
