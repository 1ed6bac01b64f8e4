/** Keeps tabs in the order in which they were opened, over restarts of Talaria, by Chromium's own names for them. */
import type { BrowserContext, Page } from 'playwright-core';
import type { Tab } from './browser-state.ts';

/** Chromium lists them anew for each connection, in any order. */
export async function inOrder(
  context: BrowserContext,
  ids: WeakMap<Page, string>,
  tabs: readonly Tab[],
): Promise<Page[]> {
  const pages = context.pages();
  await Promise.all(pages.map((page) => tabId(context, ids, page)));
  const place = (page: Page): number => {
    const index = tabs.findIndex(({ id }) => id === ids.get(page));
    return index === -1 ? tabs.length : index;
  };
  return pages.toSorted((left, right) => place(left) - place(right));
}

/** Chromium's name for a page; empty for one that is just going. */
export async function tabId(context: BrowserContext, ids: WeakMap<Page, string>, page: Page): Promise<string> {
  const known = ids.get(page);
  if (known !== undefined) return known;
  try {
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send('Target.getTargetInfo');
    await session.detach();
    ids.set(page, targetInfo.targetId);
    return targetInfo.targetId;
  } catch {
    return '';
  }
}
