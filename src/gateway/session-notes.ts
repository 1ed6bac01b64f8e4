/**
 * Words in a session's log that no turn wrote and no model sees: what is delivered to front ends that read the log. They
 * are written at any time, also in the middle of a turn, and shown at once to whoever looks.
 */
import type { SessionId } from '../protocol/ids.ts';
import type { DeliveredNotice } from '../protocol/messages.ts';
import type { LiveHub } from './live-hub.ts';
import { writeAnytime, type LeaseServices } from './commands/services.ts';

/** How far back a delivery is looked for that may have been written by a process that died before it could say so. */
const entriesLookedThrough = 256;

export interface SessionNotesDeps extends LeaseServices {
  readonly hub: LiveHub;
}

export interface SessionNote extends DeliveredNotice {
  readonly text: string;
}

/**
 * Writes it, once for the same id. Resolves with its sequence; null if there is no such session, `busy` while another
 * process is at work in it. Throws a `StoreError`.
 */
export type WriteNote = (sessionId: SessionId, note: SessionNote) => Promise<number | 'busy' | null>;

export function createSessionNotes(deps: SessionNotesDeps): WriteNote {
  const { store, hub } = deps;
  return async (sessionId, { id, text, buttons }) => {
    const session = await store.read.session(sessionId);
    if (session === null) return null;
    const newest = async () => {
      const after = Math.max(0, session.lastSeq - entriesLookedThrough);
      const limit = 2 * entriesLookedThrough;
      const entries = await store.read.entries(sessionId, { after, limit });
      return entries.findLast((entry) => entry.kind === 'notice' && entry.delivery?.id === id) ?? null;
    };
    const known = await newest();
    if (known !== null) return known.seq;
    const write = { verb: 'notice', turnId: null, text, delivery: { id, buttons } } as const;
    if (!(await writeAnytime(deps, sessionId, [write]))) return 'busy';
    const written = await newest();
    // No run of the session wrote it, so none shows it.
    if (written !== null) hub.publish(sessionId, { kind: 'entry', entry: written });
    return written?.seq ?? session.lastSeq + 1;
  };
}
