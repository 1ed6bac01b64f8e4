/**
 * Says aloud, for screen readers, what has been added to a conversation since it was opened: whole replies and notices,
 * not every word as it is written.
 */
import { useRef } from 'preact/hooks';

import type { Conversation } from './conversation.ts';
import type { Item } from './items.ts';

const spokenCharsMax = 600;

export function Announcer({ conversation }: { conversation: Conversation }) {
  const openedAtSeq = useRef<number | null>(null);
  if (openedAtSeq.current === null && conversation.caughtUp) openedAtSeq.current = conversation.lastSeq;
  const newest = conversation.items.findLast((item) => spokenText(item) !== '');
  const isNew = newest !== undefined && openedAtSeq.current !== null && newest.seq > openedAtSeq.current;
  return (
    <div class="offscreen" aria-live="polite" aria-atomic="true">
      {isNew ? spokenText(newest).slice(0, spokenCharsMax) : ''}
    </div>
  );
}

function spokenText(item: Item): string {
  switch (item.kind) {
    case 'answer':
      return item.blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
    case 'notice':
      return item.text;
    case 'question':
      return [item.text, ...(item.question.choices ?? [])].join('\n');
    case 'outcome':
      return `The turn ${item.outcome === 'failed' ? 'failed' : `was ${item.outcome}`}.`;
    case 'user':
    case 'nudge':
    case 'stray-result':
      return '';
  }
}
