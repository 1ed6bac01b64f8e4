/** A session by what a person calls it: its name, or its id. */
import { isId } from '../lib/ids.ts';
import type { SessionRecord, StoreReader } from '../store/store.ts';

export function sessionFinder(read: StoreReader): (ref: string) => Promise<SessionRecord | null> {
  return (ref) => (isId('ses', ref) ? read.session(ref) : read.sessionByName(ref));
}
