/**
 * What an action would hand to a site: found out before it is done. Typed text, chosen options and files are the page's as
 * soon as they are in it, whether a form is sent or not, so they count as sent to the origin of the frame that holds the
 * element. A click on a button that sends a form counts if the form changes something (not GET) or goes to another origin;
 * one that comes with an answer to the page's question hands that over.
 * Links, scrolling and other clicks hand over nothing that the page has not got. The frame's address is Chromium's word;
 * a page can lie about its forms, but it needs no click to send what it has.
 */
import type { Frame, Page } from 'playwright-core';
import type { AttachedBrowser } from './attached-browser.ts';
import type { BrowserInput } from './browser-schema.ts';
import { findElement } from './find-element.ts';
import { inTime } from './in-time.ts';
import type { PageElement, PageGlobals } from './page-globals.ts';

/** Keys that move about or edit, and say nothing. */
const silentKeys =
  /^(?:(?:Shift|Control|Alt|Meta|ControlOrMeta)\+)*(?:Tab|Escape|Arrow\w+|Page(?:Up|Down)|Home|End|Backspace|Delete|F\d{1,2})$|^(?:Control|Meta|ControlOrMeta)\+[acz]$/;

export interface Sending {
  /** Where it goes; empty: nowhere. An origin that can't be told is `null`. */
  readonly origins: readonly string[];
}

/** Throws a `BrowserError` for a stale reference. */
export async function whatItSends(browser: AttachedBrowser, page: Page, input: BrowserInput): Promise<Sending> {
  switch (input.action) {
    case 'type':
    case 'select':
    case 'upload':
      return { origins: await originsOfElement(browser, page, input.ref ?? '', true) };
    case 'click': {
      const answered = dialogText(input) === '' ? [] : page.frames().map(originOfFrame);
      return { origins: distinct([...answered, ...(await originsOfElement(browser, page, input.ref ?? '', false))]) };
    }
    case 'press':
      if (silentKeys.test(input.text ?? '')) return { origins: [] };
      if (input.ref !== undefined) return { origins: await originsOfElement(browser, page, input.ref, true) };
      return { origins: distinct(page.frames().map(originOfFrame)) };
    case 'navigate':
    case 'snapshot':
    case 'scroll':
    case 'wait':
    case 'back':
    case 'screenshot':
    case 'console':
    case 'tabs':
    case 'close':
      return { origins: [] };
  }
}

/** What a question of the page (`prompt`) would be answered with. Only a click has a text to spare. */
export function dialogText({ action, accept, text = '' }: BrowserInput): string {
  return action === 'click' && accept === true ? text : '';
}

async function originsOfElement(
  browser: AttachedBrowser,
  page: Page,
  ref: string,
  isFilled: boolean,
): Promise<string[]> {
  const locator = await findElement(browser, page, ref);
  const handle = await locator.elementHandle({ timeout: 5_000 });
  const frame = (await handle.ownerFrame()) ?? page.mainFrame();
  const own = originOfFrame(frame);
  const form = await inTime(handle.evaluate(formOf));
  await handle.dispose();
  const target = form === null ? own : (URL.parse(form.action)?.origin ?? 'null');
  const isSent = form !== null && (form.isSubmit || isFilled);
  const elsewhere = isSent && target !== own ? [target] : [];
  if (isFilled) return distinct([own, ...elsewhere]);
  const changes = form !== null && form.isSubmit && form.method !== 'get';
  return distinct([...(changes ? [target] : []), ...elsewhere]);
}

/** Runs in the page. By attributes, because a form's fields can have the names of its properties. */
function formOf(element: PageElement): { method: string; action: string; isSubmit: boolean } | null {
  const { document } = globalThis as unknown as PageGlobals;
  const start = element.closest === undefined ? element.parentElement : element;
  const field = start?.closest?.('button, input, select, textarea') ?? null;
  const form = field?.form ?? start?.closest?.('form') ?? null;
  if (form === null) return null;
  const isButtonTag = field?.tagName === 'BUTTON';
  const type = field?.getAttribute('type')?.toLowerCase() ?? '';
  const isSubmit = isButtonTag ? type !== 'button' && type !== 'reset' : type === 'submit' || type === 'image';
  const attribute = (name: string): string =>
    (isSubmit ? field?.getAttribute(`form${name}`) : null) ?? form.getAttribute(name) ?? '';
  const action = new URL(attribute('action') || document.URL, document.baseURI).href;
  return { method: attribute('method').toLowerCase() || 'get', action, isSubmit };
}

/** A frame without an address of its own has its parent's. */
function originOfFrame(frame: Frame): string {
  for (let at: Frame | null = frame; at !== null; at = at.parentFrame()) {
    const origin = URL.parse(at.url())?.origin ?? 'null';
    if (origin !== 'null') return origin;
  }
  return 'null';
}

function distinct(origins: readonly string[]): string[] {
  return [...new Set(origins)];
}
