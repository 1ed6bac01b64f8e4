/**
 * One tool call: its name and arguments in a line, and the output folded away beneath it; open while it runs, closed
 * when it has ended, unless the reader decided otherwise.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { CallOutcome } from '../../src/protocol/messages.ts';
import { Attachments } from './attachments.tsx';
import { callDetails, callSummary, durationText } from './call-summary.ts';
import type { RunningCall } from './conversation.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon, type IconName } from './icon.tsx';
import type { CallResult } from './items.ts';

/** This near to the end counts as being there. */
const endDistancePx = 24;

export interface ToolCallProps {
  readonly name: string;
  readonly argumentText: string;
  readonly result: CallResult | null;
  readonly running: RunningCall | undefined;
}

export function ToolCall({ name, argumentText, result, running }: ToolCallProps) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isRunning = result === null && running !== undefined && running.ended === null;
  const output = result?.text ?? running?.output ?? '';
  const isOpen = chosen ?? (isRunning && output !== '');
  const tookMs = result?.tookMs ?? 0;
  const outcome = result?.outcome ?? running?.ended ?? null;
  const files = result?.files ?? [];
  return (
    <>
      <details
        class={`fold call ${outcome ?? (isRunning ? 'running' : 'waiting')}`}
        open={isOpen}
        onToggle={(event) => {
          if (event.currentTarget.open !== isOpen) setChosen(event.currentTarget.open);
        }}
      >
        <summary>
          <Mark outcome={outcome} isRunning={isRunning} />
          <span class="fold-name">{name}</span>
          <span class="call-arguments">{callSummary(argumentText)}</span>
          {isRunning && <Elapsed since={running.startedAt} />}
          {tookMs >= 1_000 && <span class="elapsed">{durationText(tookMs)}</span>}
        </summary>
        {isOpen && <CallBody argumentText={argumentText} output={output} isRunning={isRunning} />}
        {isOpen && <Attachments files={files.filter(({ way }) => way === 'seen')} />}
      </details>
      <Attachments files={files.filter(({ way }) => way === 'sent')} />
    </>
  );
}

function CallBody({ argumentText, output, isRunning }: { argumentText: string; output: string; isRunning: boolean }) {
  const details = callDetails(argumentText);
  const pre = useRef<HTMLPreElement>(null);
  const followsEnd = useRef(true);
  // What the tool prints now is at the end; a reader who scrolled up is left there.
  if (pre.current !== null)
    followsEnd.current = pre.current.scrollHeight - pre.current.scrollTop - pre.current.clientHeight < endDistancePx;
  useLayoutEffect(() => {
    if (isRunning && followsEnd.current && pre.current !== null) pre.current.scrollTop = pre.current.scrollHeight;
  }, [output]);
  return (
    <div class="call-body">
      {details !== '' && <pre class="call-input">{details}</pre>}
      {output === '' ? (
        <p class="call-empty">{isRunning ? 'No output yet.' : 'No output.'}</p>
      ) : (
        <div class="call-output">
          <pre ref={pre}>{output}</pre>
          <CopyButton text={output} label="Copy output" />
        </div>
      )}
    </div>
  );
}

const marks: Readonly<Record<CallOutcome, { icon: IconName; label: string }>> = {
  finished: { icon: 'check', label: 'Finished' },
  failed: { icon: 'cross', label: 'Failed' },
  unknown: { icon: 'question', label: 'Unknown: it started, and whether it finished cannot be told' },
  skipped: { icon: 'skip', label: 'Skipped: it was never started' },
};

function Mark({ outcome, isRunning }: { outcome: CallOutcome | null; isRunning: boolean }) {
  if (isRunning) return <span class="mark spinner" role="img" aria-label="Running" title="Running" />;
  const { icon, label } = outcome === null ? { icon: 'waiting' as const, label: 'Waiting' } : marks[outcome];
  return (
    <span class="mark" role="img" aria-label={label} title={label}>
      <Icon name={icon} />
    </span>
  );
}

function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <span class="elapsed">{durationText(Math.max(0, now - since))}</span>;
}
