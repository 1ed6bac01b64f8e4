/** Chat commands on the web page, in a real browser on a real gateway: the one table, as on every channel. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, test, type TestContext } from 'node:test';
import chromium from '@sparticuz/chromium';
import { chromium as playwright, type Browser, type Page } from 'playwright-core';
import { freshHome, startGateway, runTalaria, type Gateway } from './support/talaria-process.ts';

let browser: Browser;

before(async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  browser = await playwright.launch({ executablePath: await chromium.executablePath(), args });
});
after(() => browser.close());

async function open(t: TestContext): Promise<{ page: Page; gateway: Gateway; home: string }> {
  const home = await freshHome(t);
  const gateway = await startGateway(t, { home });
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  t.after(() => assert.deepEqual(complaints, []));
  await page.goto(gateway.url);
  return { page, gateway, home };
}

const answers = (page: Page) => page.locator('.item.answer:not(.draft)');
const delivered = (page: Page) => page.locator('.delivered');
const sessionIn = (page: Page) => /#\/s\/(.+)$/.exec(page.url())?.[1] ?? null;

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /message/i }).fill(text);
  await page.keyboard.press('Enter');
}

test('a command is answered before there is any session, and begins none', async (t) => {
  const { page, gateway } = await open(t);
  await send(page, '/help');
  await page.getByText('/status: show the conversation').waitFor();
  assert.equal(sessionIn(page), null);
  const sessions = (await (await fetch(`${gateway.url}/api/sessions`)).json()) as { sessions: unknown[] };
  assert.deepEqual(sessions, { sessions: [] });
  await send(page, 'hello');
  await answers(page).first().waitFor();
  assert.equal(await page.getByText('/status: show the conversation').count(), 0);
});

test('a command is answered in the session, no model is asked, and the answer is there after a reload', async (t) => {
  const { page } = await open(t);
  await send(page, 'hello');
  await answers(page).first().waitFor();
  await send(page, '/status');
  await delivered(page).filter({ hasText: 'You are known as owner.' }).waitFor();
  await send(page, '/nonsense');
  await delivered(page).filter({ hasText: 'There is no command /nonsense.' }).waitFor();
  assert.equal(await answers(page).count(), 1);
  assert.equal(await page.locator('.item.user').count(), 1);
  await page.reload();
  await delivered(page).filter({ hasText: 'You are known as owner.' }).waitFor();
  await send(page, '//status is a word');
  await answers(page).nth(1).waitFor();
  assert.equal(
    await page
      .locator('.item.user')
      .last()
      .innerText()
      .then((text) => text.includes('/status is')),
    true,
  );
});

test('a command acts in the middle of a turn, and the turn goes on', async (t) => {
  const { page, home } = await open(t);
  await send(page, 'run echo before; while [ ! -e go ]; do sleep 0.05; done');
  await page.getByText('before', { exact: true }).waitFor();
  await send(page, '/title A new name');
  await delivered(page).filter({ hasText: 'It is called "A new name" now.' }).waitFor();
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('A new name').waitFor();
  await writeFile(`${home}/workspace/go`, '');
  await answers(page).filter({ hasText: 'printed' }).waitFor();
});

test('/new leads to a new session, which the next message begins, and /resume leads back', async (t) => {
  const { page } = await open(t);
  await send(page, 'one');
  await answers(page).first().waitFor();
  const first = sessionIn(page);
  await send(page, '/new');
  await page.waitForURL((url) => !url.hash.includes('/s/'));
  await send(page, 'two');
  await answers(page).first().waitFor();
  const second = sessionIn(page);
  assert.ok(first !== null && second !== null && first !== second);
  await send(page, `/resume ${first}`);
  await page.waitForURL((url) => url.hash.endsWith(`/s/${first}`));
  await delivered(page).filter({ hasText: 'A new conversation begins' }).waitFor();
  await send(page, 'three');
  await answers(page).nth(1).waitFor();
  assert.equal(sessionIn(page), first);
});

test('what a command asks is answered with its button', async (t) => {
  const { page } = await open(t);
  await send(page, 'one');
  await answers(page).first().waitFor();
  await send(page, '/undo');
  await page.getByRole('button', { name: 'Take it back' }).click();
  await delivered(page).filter({ hasText: 'It is taken back.' }).waitFor();
  await page.getByText('What came before this was taken back.').waitFor();
});

test('talaria send reaches the page that is open', async (t) => {
  const { page, home } = await open(t);
  await send(page, 'hello');
  await answers(page).first().waitFor();
  const sent = await runTalaria(t, ['send', `web:${sessionIn(page)}`, 'the build is done'], { home });
  assert.equal(sent.code, 0, sent.stderr);
  await delivered(page).filter({ hasText: 'the build is done' }).waitFor();
  const lost = await runTalaria(t, ['send', 'web:nobody', 'hello?'], { home });
  assert.equal(lost.code, 1);
  assert.match(lost.stderr, /There is no session named nobody/);
});
