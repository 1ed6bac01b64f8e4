/**
 * Ends what a session's tools hold after hours without use, so that forgotten shells and browsers do not pile up. A person
 * is told, before it goes, if something was going on in it. A session at work, or that somebody wrote to meanwhile, keeps
 * all of it. Looks rarely, and does nothing between looks.
 */
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { StoreReader } from '../store/store.ts';
import type { HeldThing, Holding } from '../tools/holding.ts';
import { durationInWords } from './progress-line.ts';

export const lookEveryMs = 600_000;
const namedMax = 5;

export interface IdleHoldingsDeps {
  readonly holdings: readonly Holding[];
  /** As the configuration has it now; 0: never. */
  readonly idleMs: () => number;
  readonly read: Pick<StoreReader, 'session'>;
  /** A word to the people of the session, stored before it resolves. */
  readonly tell: (sessionId: SessionId, text: string) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface IdleHoldings {
  /** All that is held now, of every session. */
  list(): Promise<readonly HeldThing[]>;
  /** Looks once; returns the sessions whose things were ended. */
  look(): Promise<readonly SessionId[]>;
  start(): void;
  close(): void;
}

export function createIdleHoldings(deps: IdleHoldingsDeps): IdleHoldings {
  const { holdings, clock, log } = deps;
  let cancel = () => {};

  const list = async (): Promise<readonly HeldThing[]> =>
    (await Promise.all(holdings.map((holding) => holding.list()))).flat();

  const look = async (): Promise<readonly SessionId[]> => {
    const idleMs = deps.idleMs();
    if (idleMs === 0) return [];
    const ended: SessionId[] = [];
    for (const [sessionId, things] of Map.groupBy(await list(), (thing) => thing.sessionId)) {
      const session = await deps.read.session(sessionId);
      const usedAt = Math.max(session?.updatedAt ?? 0, ...things.map((thing) => thing.usedAt));
      if (session?.turn === 'open' || clock.now() - usedAt <= idleMs) continue;
      const busy = things.filter(({ isBusy }) => isBusy);
      if (session !== null && busy.length > 0) await deps.tell(sessionId, goodbyeText(busy, clock.now() - usedAt));
      for (const holding of holdings) await holding.end(sessionId);
      ended.push(sessionId);
    }
    return ended;
  };

  const lookLater = () => {
    cancel = clock.setTimer(lookEveryMs, () => {
      look()
        .catch((error: unknown) => log.warn('idle shells and browsers not ended', { error }))
        .finally(lookLater);
    });
  };

  return { list, look, start: lookLater, close: () => cancel() };
}

function goodbyeText(busy: readonly HeldThing[], idleMs: number): string {
  const named = busy.slice(0, namedMax).map(({ what }) => `- ${what}`);
  const more = busy.length > namedMax ? [`- and ${busy.length - namedMax} more`] : [];
  const head = `Nothing was heard of this session for ${durationInWords(idleMs)}, so what still ran for it is ended now:`;
  return [head, ...named, ...more].join('\n');
}
