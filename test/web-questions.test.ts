/** Questions that wait for a person, on the web page in a real browser; the gateway behind it does as the test says. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import chromium from '@sparticuz/chromium';
import { chromium as playwright, type Browser, type Page } from 'playwright-core';
import { apiRoutes } from '../src/channels/webchat/api-routes.ts';
import { pageRoutes } from '../src/channels/webchat/page-routes.ts';
import { listen } from '../src/http/listener.ts';
import { createRouter } from '../src/http/router.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createLog } from '../src/lib/log.ts';
import { ApiError } from '../src/protocol/api.ts';
import type { CallId, TurnId } from '../src/protocol/ids.ts';
import type { Question } from '../src/protocol/messages.ts';
import { FakeApi, FakeHome, type FakeApiHooks, type FakeSession } from './support/fake-api.ts';

let browser: Browser;

before(async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  browser = await playwright.launch({ executablePath: await chromium.executablePath(), args });
});
after(() => browser.close());

const webFolder = join(import.meta.dirname, '..', 'dist', 'web');
const silent = createLog({
  clock: systemClock,
  redactor: { add: () => {}, redact: (text) => text },
  level: 'silent',
  writeLine: () => {},
});
const hour = 3_600_000;

interface Stage {
  readonly page: Page;
  readonly home: FakeHome;
  readonly session: FakeSession;
  readonly api: FakeApi;
  readonly turnId: TurnId;
  ask(question?: Partial<Question>): CallId;
}

/** A page on a session whose turn is open. */
async function open(t: TestContext, hooks: FakeApiHooks = {}): Promise<Stage> {
  const home = new FakeHome();
  const session = home.create('work');
  const turnId = home.openTurn(session, home.ids.next('inb'));
  session.live = { turnId, text: '', reasoning: '', calls: [], status: '' };
  const api = new FakeApi(home, hooks);
  const handle = createRouter([...apiRoutes(api, systemClock), ...pageRoutes(webFolder)]);
  const listener = await listen({ host: '127.0.0.1', port: 0, handle, log: silent });
  t.after(() => listener.close());
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  t.after(() => assert.deepEqual(complaints, []));
  await page.goto(`http://127.0.0.1:${listener.port}/#/s/work`);
  await page.getByText('Working…').waitFor();
  const ask = (question: Partial<Question> = {}) =>
    home.ask(session, turnId, {
      text: 'Delete the folder?',
      choices: ['yes', 'no'],
      deadline: Date.now() + hour,
      ...question,
    });
  return { page, home, session, api, turnId, ask };
}

const card = (page: Page) => page.getByRole('group', { name: 'Delete the folder?' });

test('a question is answered with a button, once, and is closed after a reload', async (t) => {
  const stage: Stage = await open(t, {
    onAnswer(session, callId, text) {
      stage.home.settle(session, stage.turnId, callId, text);
      return true;
    },
  });
  const { page, api, ask } = stage;
  const callId = ask();
  await page.getByText('Waiting for your answer…').waitFor();
  await card(page)
    .getByText(/^Waits for an answer for (59 min|1 h)/)
    .waitFor();
  await card(page).getByRole('button', { name: 'no' }).click();
  await card(page).getByText('Answered: no').waitFor();
  assert.deepEqual(
    api.calls.filter((call) => call.startsWith('answer')),
    [`answer ${callId} no`],
  );
  assert.equal(await card(page).getByRole('button', { name: 'yes' }).isDisabled(), true);
  await page.reload();
  await card(page).getByText('This question is closed.').waitFor();
  assert.equal(await card(page).getByRole('button', { name: 'yes' }).isDisabled(), true);
});

test('a question still waits after a reload, and the keyboard reaches it', async (t) => {
  const stage = await open(t, { onAnswer: () => true });
  const { page, api, ask } = stage;
  ask();
  await card(page).waitFor();
  await page.reload();
  await card(page).getByRole('button', { name: 'yes' }).waitFor();
  await page.getByRole('log').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await card(page).getByText('Answered: yes').waitFor();
  assert.match(api.calls.join('\n'), /^answer cal_\w+ yes$/m);
});

test('any text will do where no choices are given', async (t) => {
  const { page, api, ask } = await open(t, { onAnswer: () => true });
  ask({ choices: null });
  const field = card(page).getByRole('textbox');
  assert.equal(await card(page).getByRole('button', { name: 'Answer' }).isDisabled(), true);
  await field.fill(' dark green ');
  await field.press('Enter');
  await card(page).getByText('Answered: dark green').waitFor();
  assert.equal(await field.isDisabled(), true);
  assert.match(api.calls.join('\n'), /^answer cal_\w+ dark green$/m);
});

test('an answer that comes too late or does not get through is said so', async (t) => {
  let isAway = true;
  const { page, ask } = await open(t, {
    onAnswer() {
      if (isAway) throw new ApiError('draining', 'Talaria is about to stop.');
      return false;
    },
  });
  ask();
  await card(page).getByRole('button', { name: 'yes' }).click();
  await card(page).getByRole('alert').getByText('Not answered: Talaria is about to stop.').waitFor();
  isAway = false;
  await card(page).getByRole('button', { name: 'yes' }).click();
  await card(page).getByRole('alert').getByText('This question no longer waits for an answer.').waitFor();
  assert.equal(await card(page).getByRole('button', { name: 'no' }).isDisabled(), true);
});

test('a question ends with its time, and with its turn', async (t) => {
  const { page, home, session, turnId, ask } = await open(t);
  ask({ deadline: Date.now() + 1_500 });
  await card(page).getByText('Nobody answered in time.').waitFor();
  assert.equal(await card(page).getByRole('button', { name: 'yes' }).isDisabled(), true);
  ask({ text: 'And the other one?' });
  const other = page.getByRole('group', { name: 'And the other one?' });
  await other.getByRole('button', { name: 'yes' }).waitFor();
  home.close(session, turnId, 'stopped');
  await other.getByText('This question is closed.').waitFor();
  assert.equal(await other.getByRole('button', { name: 'yes' }).isDisabled(), true);
});

test('what a turn waits for is shown until it goes on', async (t) => {
  const { page, home, session, turnId } = await open(t);
  home.show(session, { kind: 'status', turnId, text: 'The model is overloaded; trying again in 4 s' });
  await page.getByText('The model is overloaded; trying again in 4 s').waitFor();
  home.show(session, { kind: 'status', turnId, text: '' });
  await page.getByText('Working…').waitFor();
});

test('the model that was chosen for a session is shown with it', async (t) => {
  const { page, session } = await open(t);
  session.settings = { model: 'openai/gpt-large', effort: null };
  await page.reload();
  await page.locator('header').getByText('openai/gpt-large').waitFor();
});
