/**
 * What must be asked before an action, in a turn that has read a stranger's text, which is nearly every one with a browser: once
 * for each site that something is filled in or sent to, for as long as the session lasts; and for an address that neither
 * a person nor a page has shown, because it may carry something out.
 */
import type { Page } from 'playwright-core';
import type { Plan } from '../approval.ts';
import type { ToolContext } from '../tool.ts';
import type { BrowserInput } from './browser-schema.ts';
import { inTime } from './in-time.ts';
import { isLinked } from './is-linked.ts';
import { describeReference, type Snapshot } from './snapshot-text.ts';
import type { BrowserInUse } from './session-browsers.ts';
import { dialogText, whatItSends } from './what-it-sends.ts';

/** What is approved, exactly. */
export interface FrozenAction {
  readonly input: BrowserInput;
  readonly origins: readonly string[];
}

export interface Asking {
  readonly plan: Plan;
  readonly frozen: FrozenAction;
}

/** Null if nothing has to be asked. Throws a `BrowserError` for a stale reference. */
export async function askToSend(
  { browser, origins: allowed }: BrowserInUse,
  input: BrowserInput,
  context: ToolContext,
): Promise<Asking | null> {
  if (context.untrusted === null) return null;
  const page = await browser.current();
  if (input.action === 'navigate') return askToVisit(page, allowed, input, context);
  const { origins } = await whatItSends(browser, page, input);
  const asked = origins.filter((origin) => origin === 'null' || !allowed.includes(origin));
  if (asked.length === 0) return null;
  const names = asked.map((origin) => (origin === 'null' ? 'a page without an address' : origin)).join(' and ');
  const shown = [
    words(input, browser.shown.get(page) ?? null),
    `This goes to ${names}.`,
    'After a yes, the browser of this conversation may fill in and send forms there without asking again.',
  ];
  const frozen: FrozenAction = { input, origins: asked };
  return {
    frozen,
    plan: {
      kind: 'send',
      subject: `browser forms at ${asked.join(' ')}`,
      shown: shown.join('\n'),
      reasons: [`hands something to ${names}`],
      where: 'the browser',
      frozen: JSON.stringify(frozen),
      onceOnly: true,
    },
  };
}

async function askToVisit(
  page: Page,
  allowed: readonly string[],
  input: BrowserInput,
  context: ToolContext,
): Promise<Asking | null> {
  const url = input.url ?? '';
  const target = URL.parse(url);
  const isKnown = target !== null && allowed.includes(target.origin);
  if (isKnown || context.wasShown(url)) return null;
  if (target !== null && (await inTime(isLinked(page, target.href)).catch(() => false))) return null;
  const frozen: FrozenAction = { input, origins: [] };
  return {
    frozen,
    plan: {
      kind: 'send',
      subject: `browser visit ${url}`,
      shown: `Open ${url}`,
      reasons: ['nobody has shown this address, so it may carry something out'],
      where: 'the browser',
      frozen: JSON.stringify(frozen),
      onceOnly: true,
    },
  };
}

function words(input: BrowserInput, snapshot: Snapshot | null): string {
  const element = input.ref === undefined ? 'the page' : describeReference(snapshot, input.ref);
  switch (input.action) {
    case 'type':
      return `Type into ${element}${input.submit === true ? ' and press Enter' : ''}:\n${input.text ?? ''}`;
    case 'select':
      return `Choose in ${element}:\n${input.text ?? ''}`;
    case 'press':
      return `Press ${input.text ?? ''} in ${element}`;
    case 'upload':
      return `Upload ${input.path ?? ''} into ${element}`;
    default: {
      const answer = dialogText(input);
      return answer === ''
        ? `Click on ${element}, which sends a form`
        : `Click on ${element}, and answer what the page asks then with:\n${answer}`;
    }
  }
}
