/** The session that a sender has chosen, if they may see it: where a front end lets them name one with every message. */
import type { ChosenSession } from '../channels/channel.ts';
import type { SessionRecord, StoreReader } from '../store/store.ts';
import { maySee, type Identity } from './identity.ts';

/** Undefined if none was chosen; null if there is no such session yet, or not for them. */
export async function chosenSession(
  read: StoreReader,
  identity: Identity,
  into: ChosenSession | undefined,
): Promise<SessionRecord | null | undefined> {
  if (into === undefined) return undefined;
  const session = 'existing' in into ? await read.session(into.existing) : null;
  return session !== null && maySee(identity, session) ? session : null;
}
