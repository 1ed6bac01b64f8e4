/** Which bytes a session's entries refer to, by their hashes, each once. Pure. */
import type { Entry } from '../protocol/messages.ts';

export function contentHashes(entries: readonly Entry[]): ReadonlySet<string> {
  const hashes = new Set<string>();
  for (const entry of entries) {
    if (entry.kind !== 'message') continue;
    for (const part of entry.message.parts) {
      if (part.kind === 'image' || part.kind === 'file') hashes.add(part.content.sha256);
      if (part.kind !== 'tool-result') continue;
      for (const { sha256 } of part.images ?? []) hashes.add(sha256);
      for (const { content } of part.files ?? []) hashes.add(content.sha256);
    }
  }
  return hashes;
}
