/**
 * The tool `browser`: a real Chromium that belongs to the session and stays open between calls, turns and restarts of Talaria.
 * What a page says is marked as a stranger's.
 */
import type { Question } from '../../protocol/messages.ts';
import { defineTool } from '../define-tool.ts';
import { afterAnswer, throughGate } from '../gated.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { askToSend, type FrozenAction } from './ask-to-send.ts';
import { newTabNote } from './attached-browser.ts';
import type { BrowserDeps } from './browser-deps.ts';
import { BrowserError } from './browser-error.ts';
import { browserDescription, browserSchema, problemOf, type BrowserInput } from './browser-schema.ts';
import { inTime } from './in-time.ts';
import { originOf } from './page-happenings.ts';
import { performAction } from './perform-action.ts';
import { plainFailure } from './plain-failure.ts';
import type { BrowserInUse, SessionBrowsers } from './session-browsers.ts';
import { dialogText } from './what-it-sends.ts';

/** All of a call together; each step of it has a limit of its own. */
const callMs = 120_000;

export function createBrowserTool({ gate }: Pick<BrowserDeps, 'gate'>, browsers: SessionBrowsers): Tool<BrowserInput> {
  const tool = defineTool({
    name: 'browser',
    description: browserDescription,
    effect: 'write',
    replay: 'never',
    schema: browserSchema,
    run: (input, context) =>
      used(browsers, input, context, async (inUse) => {
        const asking = await askToSend(inUse, input, context);
        if (asking === null) return done(inUse, input, context);
        return throughGate(gate, asking.plan, context, () => allowed(inUse, asking.frozen, context));
      }),
  });
  return {
    ...tool,
    parse(input) {
      const parsed = tool.parse(input);
      const problem = parsed.ok ? problemOf(parsed.value) : null;
      return problem === null ? parsed : { ok: false, problem };
    },
    answered: (input, answer, context, asked: Question) =>
      afterAnswer(gate, asked, answer, context, (frozen) =>
        used(browsers, input, context, (inUse) => asApproved(inUse, frozen, context)),
      ),
  };
}

/** What was approved, unless the page is another one by now. */
async function asApproved(inUse: BrowserInUse, approved: string, context: ToolContext): Promise<ToolOutcome> {
  const { input } = JSON.parse(approved) as FrozenAction;
  const again = await askToSend(inUse, input, context);
  if (again === null) return done(inUse, input, context);
  if (JSON.stringify(again.frozen) === approved) return allowed(inUse, again.frozen, context);
  return {
    kind: 'failed',
    text: 'Not done: the page changed since it was approved. Take a new snapshot and ask again.',
  };
}

async function allowed(
  inUse: BrowserInUse,
  { input, origins }: FrozenAction,
  context: ToolContext,
): Promise<ToolOutcome> {
  inUse.allowOrigins(origins.filter((origin) => origin !== 'null'));
  return done(inUse, input, context);
}

async function done({ browser, news }: BrowserInUse, input: BrowserInput, context: ToolContext): Promise<ToolOutcome> {
  const page = await browser.current();
  const answer = { text: dialogText(input), page, origin: originOf(page.url()) };
  browser.answerDialogs(input.accept === true ? answer : null);
  try {
    const { text, images } = await performAction(browser, input, context);
    const notes = browser.takeNotes();
    // It may have opened after the page before it was looked at.
    const isElsewhere = notes.includes(newTabNote) && images === undefined;
    const now = isElsewhere ? (await performAction(browser, { action: 'snapshot' }, context)).text : text;
    const lines = [...news, ...notes, now];
    return { kind: 'finished', text: lines.join('\n'), ...(images === undefined ? {} : { images }), untrusted: 'web' };
  } finally {
    browser.answerDialogs(null);
  }
}

async function used(
  browsers: SessionBrowsers,
  input: BrowserInput,
  context: ToolContext,
  work: (inUse: BrowserInUse) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const problem = input.action === 'navigate' ? addressProblem(input.url ?? '') : null;
  if (problem !== null) return { kind: 'failed', text: problem };
  if (input.action === 'close' && input.tab === undefined) {
    await browsers.close(context.sessionId);
    return { kind: 'finished', text: 'The browser is closed. Its pages are opened again when it is used next.' };
  }
  context.signal.throwIfAborted();
  try {
    return await browsers.use(context.sessionId, context.signal, (inUse) =>
      inTime(work(inUse), callMs, context.signal),
    );
  } catch (error) {
    context.signal.throwIfAborted();
    return { kind: 'failed', text: error instanceof BrowserError ? error.message : plainFailure(error) };
  }
}

function addressProblem(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return `${JSON.stringify(text.slice(0, 200))} is no web address. Give a whole one: https://…`;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return `Only http and https are opened in the browser, not ${url.protocol.slice(0, -1)}.`;
  }
  return url.username === '' && url.password === '' ? null : 'An address with a name or password in it is not opened.';
}
