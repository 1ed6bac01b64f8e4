/**
 * A connection to a session's Chromium: its pages, which of them is the current one, new tabs, refused downloads. Ending the
 * connection leaves all pages as they are.
 */
import type { Browser, ConnectOverCDPTransport, Page } from 'playwright-core';
import type { Tab } from './browser-state.ts';
import { inTime } from './in-time.ts';
import { createPageHappenings, originOf, type PageHappenings } from './page-happenings.ts';
import type { Snapshot } from './snapshot-text.ts';
import { inOrder, tabId } from './tab-order.ts';

const tabsMax = 12;
const connectMs = 20_000;

export const newTabNote = 'A new tab opened; it is the current one now.';

export interface AttachedBrowser extends Pick<PageHappenings, 'takeNotes' | 'printed' | 'answerDialogs'> {
  /** In the order in which they were opened. */
  readonly pages: () => readonly Page[];
  /** The same, to be written down. */
  readonly tabs: () => Promise<Tab[]>;
  /** Opens one if there is none. */
  readonly current: () => Promise<Page>;
  readonly choose: (page: Page) => void;
  /** Which document a page shows, by number; another document has another one. */
  readonly documentNumber: (page: Page) => Promise<number>;
  /** How many there were so far. */
  readonly documents: () => number;
  /** What the model was shown of the page last. */
  readonly shown: WeakMap<Page, Snapshot>;
  readonly isConnected: () => boolean;
  /** Leaves the browser running. */
  readonly detach: () => Promise<void>;
}

export interface AttachOptions {
  readonly artifactsFolder: string;
  /** How many documents there were before. */
  readonly documents: number;
  /** As they were written down. */
  readonly tabs: readonly Tab[];
  readonly current: number;
}

export async function attachBrowser(
  transport: ConnectOverCDPTransport,
  options: AttachOptions,
): Promise<AttachedBrowser> {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.connectOverCDP(transport, {
    artifactsDir: options.artifactsFolder,
    timeout: connectMs,
  });
  const [context] = browser.contexts();
  if (context === undefined) throw new Error('Chromium has no context');
  const happenings = createPageHappenings();
  const ids = new WeakMap<Page, string>();
  const found = await inOrder(context, ids, options.tabs);
  // Some may have been opened meanwhile.
  let pages = [...found, ...context.pages().filter((page) => !found.includes(page))];
  const wanted = options.tabs[options.current]?.id;
  let current: Page | null = pages.find((page) => ids.get(page) === wanted) ?? pages[0] ?? null;
  const watch = (page: Page): void => {
    happenings.watch(page);
    page.once('close', () => {
      pages = pages.filter((one) => one !== page);
      if (current === page) current = pages.at(-1) ?? null;
    });
  };
  let isOurs = false;
  context.on('page', (page) => {
    watch(page);
    if (!pages.includes(page)) pages = [...pages, page];
    if (isOurs) return;
    if (pages.length > tabsMax) {
      happenings.note(`A page wanted to open another tab; there are ${tabsMax} already, so it was closed.`);
      void page.close().catch(() => undefined);
      return;
    }
    current = page;
    happenings.note(newTabNote);
  });
  for (const page of pages) watch(page);
  await refuseDownloads(browser, happenings.note);
  return {
    ...documentNumbers(options.documents),
    pages: () => pages,
    tabs: () => Promise.all(pages.map(async (page) => ({ id: await tabId(context, ids, page), url: page.url() }))),
    async current() {
      if (current !== null && !current.isClosed() && !happenings.hasCrashed(current)) return current;
      const crashed = current;
      isOurs = true;
      try {
        current = await context.newPage();
      } finally {
        isOurs = false;
      }
      if (crashed !== null && !crashed.isClosed()) await crashed.close().catch(() => undefined);
      return current;
    },
    choose: (page) => void (current = page),
    takeNotes: happenings.takeNotes,
    printed: happenings.printed,
    answerDialogs: happenings.answerDialogs,
    shown: new WeakMap(),
    isConnected: () => browser.isConnected(),
    detach: () => browser.close().catch(() => undefined),
  };
}

/** A document is told from the next by when it began, on the page's own clock. */
function documentNumbers(before: number): Pick<AttachedBrowser, 'documentNumber' | 'documents'> {
  const known = new WeakMap<Page, { readonly key: string; readonly number: number }>();
  let count = before;
  return {
    documents: () => count,
    async documentNumber(page) {
      const key = `${await inTime(page.evaluate(() => performance.timeOrigin))} ${originOf(page.url())}`;
      const found = known.get(page);
      if (found?.key === key) return found.number;
      count += 1;
      known.set(page, { key, number: count });
      return count;
    },
  };
}

async function refuseDownloads(browser: Browser, note: (text: string) => void): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  session.on('Browser.downloadWillBegin', () => {
    note('The page wanted to download a file; that was refused. Fetch it with another tool, if it is needed.');
  });
  await session.send('Browser.setDownloadBehavior', { behavior: 'deny', eventsEnabled: true });
}
