/** What browsers hold for sessions: those that run, also of earlier processes, and what is kept of closed ones. */
import type { HeldThing, Holding } from '../holding.ts';
import type { BrowserDeps } from './browser-deps.ts';
import { placesOf, readState, sessionsIn, type BrowserState } from './browser-state.ts';
import { isAlive } from './browser-process.ts';
import type { SessionBrowsers } from './session-browsers.ts';

const addressCharsMax = 100;

export function createBrowserHolding({ root }: Pick<BrowserDeps, 'root'>, browsers: SessionBrowsers): Holding {
  return {
    name: 'browsers',
    async list() {
      const held: HeldThing[] = [];
      for (const sessionId of await sessionsIn(root)) {
        const state = await readState(placesOf(root, sessionId));
        if (state === null) continue;
        const { startedAt, usedAt, host } = state;
        const isRunning = host !== null && (await isAlive(host));
        const what = `${isRunning ? 'browser' : 'closed browser'}${pagesOf(state)}`;
        held.push({ sessionId, kind: 'browser', what, startedAt, usedAt, isBusy: false });
      }
      return held;
    },
    end: (sessionId) => browsers.end(sessionId),
  };
}

function pagesOf({ tabs, current }: BrowserState): string {
  const address = (tabs[current]?.url ?? '').slice(0, addressCharsMax).toWellFormed();
  const more = tabs.length > 1 ? ` and ${tabs.length - 1} more` : '';
  return address === '' ? '' : ` at ${address}${more}`;
}
