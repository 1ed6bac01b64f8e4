/**
 * Does what was asked for on the current page, and says what came of it. Failures are `BrowserError`s in plain words that hold
 * nothing of the page's own text.
 */
import type { Page } from 'playwright-core';
import type { ToolContext, ToolImage } from '../tool.ts';
import type { AttachedBrowser } from './attached-browser.ts';
import { BrowserError } from './browser-error.ts';
import type { BrowserInput } from './browser-schema.ts';
import { findElement } from './find-element.ts';
import { inTime } from './in-time.ts';
import type { PageGlobals } from './page-globals.ts';
import { changedPage, headOf, untilQuiet, wholePage } from './page-text.ts';
import { keepScreenshot, takeScreenshot } from './screenshot.ts';
import { readUpload } from './read-upload.ts';

const actionMs = 10_000;
const navigationMs = 30_000;
const waitMs = 20_000;
/** A page that has not answered by then is busy with itself. */
const busyMs = 3_000;
const consoleLinesMax = 40;

export interface Performed {
  readonly text: string;
  readonly images?: readonly ToolImage[];
}

export async function performAction(
  browser: AttachedBrowser,
  input: BrowserInput,
  context: ToolContext,
): Promise<Performed> {
  const page = await browser.current();
  const { action, text = '', offset = 0 } = input;
  switch (action) {
    case 'navigate':
      return navigate(browser, page, input.url ?? '', context);
    case 'snapshot':
      return { text: await wholePage(browser, page, offset) };
    case 'click':
    case 'type':
    case 'press':
    case 'select':
    case 'scroll':
    case 'upload':
      return act(browser, page, { ...input, action }, context);
    case 'wait':
      await page.getByText(text).first().waitFor({ timeout: waitMs, signal: context.signal });
      return { text: await changedPage(browser, page) };
    case 'back':
      return back(browser, page, context);
    case 'screenshot':
      return screenshot(page, input, context);
    case 'console':
      return { text: await consoleText(browser, page) };
    case 'tabs':
      return tabs(browser, input);
    case 'close':
      return closeTab(browser, page, input);
  }
}

async function navigate(browser: AttachedBrowser, from: Page, url: string, context: ToolContext): Promise<Performed> {
  const page = await freeTab(from, context.signal);
  let status = 0;
  await untilQuiet(browser, page, context.signal, async () => {
    const options = { timeout: navigationMs, waitUntil: 'domcontentloaded', signal: context.signal } as const;
    status = (await page.goto(url, options))?.status() ?? 0;
  });
  const text = await wholePage(browser, await browser.current(), 0);
  return { text: status >= 400 ? `The site answered with status ${status}.\n${text}` : text };
}

/** A page that is busy with itself for ever lets its tab go nowhere: then another one is taken in its place. */
async function freeTab(page: Page, signal: AbortSignal): Promise<Page> {
  const asked = page.evaluate(() => true);
  const isFree = await inTime(asked, busyMs, signal).catch(() => false);
  signal.throwIfAborted();
  if (isFree) return page;
  const context = page.context();
  await page.close();
  return context.newPage();
}

async function back(browser: AttachedBrowser, page: Page, context: ToolContext): Promise<Performed> {
  const before = page.url();
  await untilQuiet(browser, page, context.signal, () =>
    page.goBack({ timeout: navigationMs, waitUntil: 'domcontentloaded', signal: context.signal }),
  );
  if (page.url() === before) throw new BrowserError('action-failed', 'There is no page before this one.');
  return { text: await changedPage(browser, page) };
}

/** What is done to a page or something on it. */
type PageAction = 'click' | 'type' | 'press' | 'select' | 'scroll' | 'upload';

async function act(
  browser: AttachedBrowser,
  page: Page,
  input: BrowserInput & { readonly action: PageAction },
  context: ToolContext,
): Promise<Performed> {
  const options = { timeout: actionMs, signal: context.signal };
  const { action, text = '', ref } = input;
  const element = ref === undefined ? null : await findElement(browser, page, ref);
  const upload = action === 'upload' ? await readUpload(context.workspace, input.path ?? '') : null;
  await untilQuiet(browser, page, context.signal, async () => {
    if (element === null) {
      if (action === 'press') await page.keyboard.press(text);
      else await inTime(page.evaluate(scrollBy, text));
      return;
    }
    switch (action) {
      case 'click':
        return element.click(options);
      case 'type':
        await element.fill(text, options);
        if (input.submit === true) await element.press('Enter', options);
        return;
      case 'press':
        return element.press(text, options);
      case 'select':
        await element.selectOption(text, options);
        return;
      case 'scroll':
        return element.scrollIntoViewIfNeeded(options);
      case 'upload':
        if (upload !== null) await element.setInputFiles([upload], options);
    }
  });
  return { text: await changedPage(browser, await browser.current()) };
}

/** Runs in the page. */
function scrollBy(word: string): void {
  const page = globalThis as unknown as PageGlobals;
  const height = page.innerHeight * 0.8;
  if (word === 'top') page.scrollTo(0, 0);
  else if (word === 'bottom') page.scrollTo(0, page.document.documentElement.scrollHeight);
  else page.scrollBy(0, word === 'up' ? -height : height);
}

async function screenshot(page: Page, { path }: BrowserInput, context: ToolContext): Promise<Performed> {
  const image = await takeScreenshot(page, context.signal);
  const kept = path === undefined ? '' : `\nKept as ${await keepScreenshot(context.workspace, path, image)}.`;
  return { text: `${await headOf(page)}\n\n(a picture of what is in sight)${kept}`, images: [image] };
}

async function consoleText(browser: AttachedBrowser, page: Page): Promise<string> {
  const lines = browser.printed(page).slice(-consoleLinesMax);
  return `${await headOf(page)}\n\n${lines.length === 0 ? '(no messages)' : lines.join('\n')}`;
}

async function tabs(browser: AttachedBrowser, { tab }: BrowserInput): Promise<Performed> {
  if (tab !== undefined) {
    const page = pageAt(browser, tab);
    browser.choose(page);
    await page.bringToFront();
    return { text: await wholePage(browser, page, 0) };
  }
  return { text: await tabList(browser) };
}

async function tabList(browser: AttachedBrowser): Promise<string> {
  const current = await browser.current();
  const lines = browser.pages().map(async (page, index) => {
    const title = await inTime(page.title(), busyMs).catch(() => '(does not answer)');
    const words = title.replaceAll(/\s+/g, ' ').slice(0, 100).toWellFormed();
    return `${index + 1}. ${page.url().slice(0, 300)} ${words}${page === current ? ' (current)' : ''}`;
  });
  return (await Promise.all(lines)).join('\n');
}

async function closeTab(browser: AttachedBrowser, page: Page, { tab }: BrowserInput): Promise<Performed> {
  await (tab === undefined ? page : pageAt(browser, tab)).close();
  return { text: `The tab is closed. Open now:\n${await tabList(browser)}` };
}

function pageAt(browser: AttachedBrowser, tab: number): Page {
  const pages = browser.pages();
  const page = pages[tab - 1];
  if (page !== undefined) return page;
  throw new BrowserError(
    'action-failed',
    `There is no tab ${tab}; there ${pages.length === 1 ? 'is 1' : `are ${pages.length}`}.`,
  );
}
