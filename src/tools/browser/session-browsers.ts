/**
 * The browsers of all sessions: one Chromium each, found again after a restart of Talaria, started where there is none, and
 * opened anew with its pages where it ended. At most `browsersMax` run at once: for one more, the one that was not used for
 * longest is closed and its addresses are kept. Calls of one session come one after the other.
 */
import { rm } from 'node:fs/promises';
import type { SessionId } from '../../protocol/ids.ts';
import { attachBrowser, type AttachedBrowser } from './attached-browser.ts';
import type { BrowserDeps } from './browser-deps.ts';
import { BrowserError } from './browser-error.ts';
import { makePlaces, placesOf, readState, sessionsIn, writeState } from './browser-state.ts';
import type { BrowserPlaces, BrowserState } from './browser-state.ts';
import { connectToHost } from './control-connection.ts';
import { closeBrowser } from './end-browser.ts';
import { isAlive, killGroup } from './browser-process.ts';
import { reopenTabs } from './reopen-tabs.ts';
import { createSessionTurns } from './session-turns.ts';
import { lastWords, startHost, untilListening } from './start-host.ts';
import { createWayOut } from './way-out.ts';

const browsersMaxUsual = 4;
const startMs = 30_000;

export interface BrowserInUse {
  readonly browser: AttachedBrowser;
  /** What the model should know about how the browser came to be here; empty if it was here all the time. */
  readonly news: readonly string[];
  /** Sites that a person lets it fill in. */
  readonly origins: readonly string[];
  readonly allowOrigins: (origins: readonly string[]) => void;
}

export interface SessionBrowsers {
  /** Throws a `BrowserError`. Afterwards what is open is written down. */
  use<T>(sessionId: SessionId, signal: AbortSignal, work: (inUse: BrowserInUse) => Promise<T>): Promise<T>;
  /** Ends the process and keeps the profile; does nothing if there is none. */
  close(sessionId: SessionId): Promise<void>;
  /** Ends the process and forgets everything. */
  end(sessionId: SessionId): Promise<void>;
  /** After a start of Talaria: pages of browsers that still run get their way to the network back. */
  resume(): Promise<void>;
  /** Before Talaria ends: lets go of all browsers, which stay. */
  detach(): Promise<void>;
}

interface Ready {
  readonly browser: AttachedBrowser;
  readonly state: BrowserState;
  readonly news: readonly string[];
}

export function createSessionBrowsers(deps: BrowserDeps): SessionBrowsers {
  const { clock, root, browsersMax = browsersMaxUsual } = deps;
  const attached = new Map<SessionId, AttachedBrowser>();
  const turns = createSessionTurns();
  const wayOut = createWayOut(deps);

  async function living(): Promise<{ sessionId: SessionId; usedAt: number }[]> {
    const found: { sessionId: SessionId; usedAt: number }[] = [];
    for (const sessionId of await sessionsIn(root)) {
      const state = await readState(placesOf(root, sessionId));
      if (state?.host && (await isAlive(state.host))) found.push({ sessionId, usedAt: state.usedAt });
    }
    return found.sort((left, right) => left.usedAt - right.usedAt);
  }

  async function makeRoom(): Promise<void> {
    const others = await living();
    let tooMany = others.length + 1 - browsersMax;
    for (const { sessionId } of others) {
      // Never waits behind a call, which could be waiting for its own start.
      if (tooMany <= 0 || turns.isBusy(sessionId)) continue;
      await turns.inTurn(sessionId, () => close(sessionId));
      tooMany -= 1;
    }
    if (tooMany <= 0) return;
    const text = `${browsersMax} browsers are in use, and no more run at once. Try again later.`;
    throw new BrowserError('too-many', text);
  }

  async function start(sessionId: SessionId, before: BrowserState | null, signal: AbortSignal): Promise<Ready> {
    const places = placesOf(root, sessionId);
    // Two that start at once would both find room for one.
    const state = await turns.oneAtATime(async () => {
      await makeRoom();
      await makePlaces(root, places);
      const started = await startHost(deps, places, wayOut.socketPath);
      const now = clock.now();
      const kept = before ?? { tabs: [], current: 0, documents: 0, origins: [] };
      const begun = { ...kept, ...started, startedAt: now, usedAt: now };
      await writeState(places, begun);
      return begun;
    });
    try {
      const browser = await attach(deps, places, { ...state, tabs: [] }, signal);
      return { browser, state, news: await reopenTabs(browser, state, before?.host === null, signal) };
    } catch (error) {
      await killGroup(clock, state.host);
      await writeState(places, { ...state, host: null });
      throw error;
    }
  }

  async function ready(sessionId: SessionId, signal: AbortSignal): Promise<Ready> {
    await wayOut.open();
    const places = placesOf(root, sessionId);
    const state = await readState(places);
    if (state?.host && (await isAlive(state.host))) {
      const here = attached.get(sessionId);
      if (here?.isConnected() === true) return { browser: here, state, news: [] };
      try {
        const browser = await attach(deps, places, state, signal);
        return { browser, state, news: ['References of earlier snapshots no longer hold.'] };
      } catch {
        signal.throwIfAborted();
        // It runs and does not answer: as good as ended.
        await killGroup(clock, state.host);
      }
    }
    return start(sessionId, state, signal);
  }

  async function close(sessionId: SessionId): Promise<void> {
    const places = placesOf(root, sessionId);
    const state = await readState(places);
    const here = attached.get(sessionId);
    attached.delete(sessionId);
    const tabs = here?.isConnected() === true ? await here.tabs() : (state?.tabs ?? []);
    await here?.detach();
    if (!state?.host) return;
    await closeBrowser(deps, places, state.host);
    await writeState(places, { ...state, tabs, host: null });
  }

  async function writeDown(sessionId: SessionId, { browser, state }: Ready, origins: readonly string[]): Promise<void> {
    const isOpen = browser.isConnected();
    const tabs = isOpen ? await browser.tabs() : state.tabs;
    const current = isOpen ? Math.max(0, browser.pages().indexOf(await browser.current())) : state.current;
    const now = { tabs, current, documents: browser.documents(), origins: [...origins], usedAt: clock.now() };
    await writeState(placesOf(root, sessionId), { ...state, ...now });
  }

  return {
    use: (sessionId, signal, work) =>
      turns.inTurn(sessionId, async () => {
        const found = await ready(sessionId, signal);
        attached.set(sessionId, found.browser);
        let origins: readonly string[] = found.state.origins;
        const allowOrigins = (more: readonly string[]): void => void (origins = [...new Set([...origins, ...more])]);
        try {
          return await work({ browser: found.browser, news: found.news, origins, allowOrigins });
        } finally {
          await writeDown(sessionId, found, origins);
        }
      }),
    close: (sessionId) => turns.inTurn(sessionId, () => close(sessionId)),
    async end(sessionId) {
      const places = placesOf(root, sessionId);
      const kill = async (): Promise<void> => {
        const host = (await readState(places))?.host;
        if (host) await killGroup(clock, host);
      };
      // A call that still runs ends with its browser, instead of being waited for.
      await kill();
      await turns.inTurn(sessionId, async () => {
        await kill();
        await attached.get(sessionId)?.detach();
        attached.delete(sessionId);
        await rm(places.folder, { recursive: true, force: true, maxRetries: 5 });
      });
    },
    async resume() {
      if ((await living()).length > 0) await wayOut.open();
    },
    async detach() {
      await Promise.all([...attached.values()].map((browser) => browser.detach()));
      attached.clear();
      await wayOut.close();
    },
  };
}

/** Throws a `BrowserError`, or the signal's reason. */
async function attach(
  deps: BrowserDeps,
  places: BrowserPlaces,
  { host, documents, tabs, current }: BrowserState,
  signal: AbortSignal,
): Promise<AttachedBrowser> {
  const transport = await untilListening(deps, {
    attempt: () => connectToHost(places.controlSocket),
    isOver: async () => host !== null && !(await isAlive(host)),
    withinMs: startMs,
    signal,
  });
  try {
    if (transport === null) throw new Error('nobody answers at its socket');
    return await attachBrowser(transport, { artifactsFolder: places.folder, documents, tabs, current });
  } catch (error) {
    transport?.close();
    // Written before the connection ends.
    const why = (await lastWords(places)) || 'it gave no reason';
    throw new BrowserError('start-failed', `The browser did not start: ${why}`, { cause: error });
  }
}
