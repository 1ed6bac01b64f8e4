/** What the answers of all protocols share: how long their pieces are, and the ids of their calls. */
import type { Answer } from '../dialect.ts';
import type { Reply } from '../dialogue.ts';
import { fingerprint } from '../seal.ts';

const pieceChars = 24;

export function pieceCharsOf(reply: Reply): number {
  return Math.max(1, reply.pieceChars ?? pieceChars);
}

/** The same request gives the same ids. */
export function callIdsOf(answer: Answer, prefix: string): string[] {
  return (answer.reply.calls ?? []).map(
    (call, index) => call.id ?? `${prefix}_${fingerprint(`${answer.id} ${index}`)}`,
  );
}
