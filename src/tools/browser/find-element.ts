/** The element that a reference means, if it is still the one that the model saw. */
import type { Locator, Page } from 'playwright-core';
import type { AttachedBrowser } from './attached-browser.ts';
import { BrowserError } from './browser-error.ts';
import { inTime } from './in-time.ts';
import { readReference } from './snapshot-text.ts';

/** Throws a `BrowserError`. */
export async function findElement(browser: AttachedBrowser, page: Page, ref: string): Promise<Locator> {
  const reference = readReference(ref);
  if (reference === null) {
    throw new BrowserError(
      'action-failed',
      `${JSON.stringify(ref)} is no reference. They look like d1e5; take a snapshot.`,
    );
  }
  const stale = `${ref} is not on the page any more. Take a new snapshot and use a reference from it.`;
  if (reference.document !== (await browser.documentNumber(page))) throw new BrowserError('action-failed', stale);
  const locator = page.locator(`aria-ref=${reference.inner}`);
  const count = await inTime(locator.count().catch(() => 0));
  if (count !== 1) throw new BrowserError('action-failed', stale);
  return locator;
}
