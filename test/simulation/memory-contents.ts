/** The bytes that messages and results refer to, on the in-memory data. */
import type { Content } from '../../src/store/store.ts';
import type { SessionRows, Transaction } from './memory-data.ts';

export function keepContents(on: Transaction, session: SessionRows, contents: readonly Content[]): void {
  for (const { sha256, bytes } of contents) {
    if (!on.data.contents.has(sha256)) on.set(on.data.contents, sha256, Uint8Array.from(bytes));
    if (!session.contents.has(sha256)) on.add(session.contents, sha256);
  }
}
