/** Which pictures a model that can't see has not been told of. Pure. */
import type { StoredContent } from '../protocol/messages.ts';
import { messagesOfTurn, type Journal } from './journal.ts';

/** Those of the open turn that nothing was said about yet, oldest first. */
export function undescribedImages(journal: Journal): StoredContent[] {
  const described = new Set<string>();
  const found = new Map<string, StoredContent>();
  for (const { message } of messagesOfTurn(journal)) {
    if (message.role === 'user') for (const sha256 of message.describes ?? []) described.add(sha256);
    for (const part of message.parts) {
      if (part.kind === 'image') found.set(part.content.sha256, part.content);
      if (part.kind === 'tool-result') for (const image of part.images ?? []) found.set(image.sha256, image);
    }
  }
  return [...found.values()].filter(({ sha256 }) => !described.has(sha256)).reverse();
}
