/** Opens the pages of a browser that ended, by their addresses, in one that was just started. */
import type { AttachedBrowser } from './attached-browser.ts';
import type { BrowserState } from './browser-state.ts';

const pageMs = 15_000;

/** What the model should know about it. */
export async function reopenTabs(
  browser: AttachedBrowser,
  { tabs, current }: BrowserState,
  wasClosed: boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const addresses = tabs.map(({ url }) => url).filter((url) => /^https?:/.test(url));
  if (addresses.length === 0) return [];
  const first = await browser.current();
  let chosen = first;
  const loading: Promise<unknown>[] = [];
  for (const [index, url] of addresses.entries()) {
    const page = index === 0 ? first : await first.context().newPage();
    if (url === tabs[current]?.url) chosen = page;
    // A page that can't be reached now still has its tab.
    loading.push(page.goto(url, { waitUntil: 'domcontentloaded', timeout: pageMs, signal }).catch(() => undefined));
  }
  await Promise.all(loading);
  browser.choose(chosen);
  browser.takeNotes();
  const why = wasClosed ? 'The browser was closed since it was last used' : 'The browser had ended unexpectedly';
  return [`${why}. Its pages were opened again by their addresses; what was typed into them is gone.`];
}
