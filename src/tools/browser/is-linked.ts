/**
 * Whether a page has a link to an address. It is looked for in a world of our own: in the page's own one its scripts decide
 * what a list and a document are, so that a page could say yes to everything, and would hear of the address.
 */
import type { Page } from 'playwright-core';
import type { PageWorld } from './page-globals.ts';

/** Throws if the page is gone, or does not answer. */
export async function isLinked(page: Page, href: string): Promise<boolean> {
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'talaria',
    });
    const { result } = await session.send('Runtime.callFunctionOn', {
      executionContextId,
      functionDeclaration: hasLink.toString(),
      arguments: [{ value: href }],
      returnByValue: true,
    });
    return result.value === true;
  } finally {
    await session.detach().catch(() => undefined);
  }
}

/** Runs in the page. By the prototype, because what a page names like a part of its document takes that part's place. */
function hasLink(wanted: string): boolean {
  const { document, Document } = globalThis as unknown as PageWorld;
  const links = Document.prototype.querySelectorAll.call(document, 'a[href], area[href]');
  return Array.from(links).some(({ href }) => href === wanted);
}
