import { useEffect, useMemo } from 'preact/hooks';

import type { Item } from './items.ts';
import { withoutStored, type PendingMessage } from './outbox.ts';
import type { Outgoing } from './use-outbox.ts';

/** The messages of this session that are not among its items yet; those that are done with leave the outbox. */
export function usePending(
  { pending, outbox }: Outgoing,
  session: string | null,
  items: readonly Item[],
): readonly PendingMessage[] {
  const here = useMemo(() => pending.filter((message) => message.session === session), [pending, session]);
  const shown = useMemo(() => withoutStored(here, items), [here, items]);
  useEffect(() => {
    // A message elsewhere is done with once it is accepted: its session shows it when it is opened.
    const done = pending.filter((message) => message.state.kind === 'accepted' && !shown.includes(message));
    outbox?.remove(done.map(({ externalId }) => externalId));
  }, [pending, shown, outbox]);
  return shown;
}
