/** The web page in a real browser, on a real gateway: what a person would do, and what they would see. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { after, before, test, type TestContext } from 'node:test';
import chromium from '@sparticuz/chromium';
import { chromium as playwright, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { say } from './support/http.ts';
import { poisonedHome } from './support/poisoned-home.ts';
import { freshHome, startGateway, startTalaria, type Gateway } from './support/talaria-process.ts';

let browser: Browser;

before(async () => {
  // The package's own flags are for another place: one process for all, and without the web's safeguards.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  browser = await playwright.launch({ executablePath: await chromium.executablePath(), args });
});
after(() => browser.close());

interface OpenPage {
  readonly page: Page;
  readonly gateway: Gateway;
  readonly home: string;
}

/** A page on a fresh gateway; anything the browser complains about fails the test. */
async function open(t: TestContext, options: BrowserContextOptions = {}, useHome?: string): Promise<OpenPage> {
  const home = useHome ?? (await freshHome(t));
  const gateway = await startGateway(t, { home });
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // That a killed gateway can't be reached is what those tests are about.
    if (message.type() === 'error' && !message.text().includes('net::ERR')) complaints.push(message.text());
  });
  t.after(() => assert.deepEqual(complaints, []));
  await page.goto(gateway.url);
  return { page, gateway, home };
}

const answers = (page: Page) => page.locator('.item.answer:not(.draft)');

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /message/i }).fill(text);
  await page.keyboard.press('Enter');
}

test('a first visit greets, an example is answered, and the session stands in the list', async (t) => {
  const { page } = await open(t);
  await page.getByRole('button', { name: 'what can you do?' }).click();
  await answers(page).first().waitFor();
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('what can you do?').waitFor();
  assert.match(page.url(), /#\/s\//);
  assert.match(await answers(page).first().innerText(), /rehearsal/);
});

test('a tool is shown while it runs, with its output, and folded when it is done', async (t) => {
  const { page, home } = await open(t);
  await send(page, 'run echo first; while [ ! -e go ]; do sleep 0.05; done; echo last');
  const call = page.locator('.tool-call, details').filter({ hasText: 'terminal' }).first();
  await call.getByText('first', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await writeFile(`${home}/workspace/go`, '');
  await answers(page).filter({ hasText: 'printed' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Stop' }).count(), 0);
  assert.equal(await page.locator('details[open]').filter({ hasText: 'terminal' }).count(), 0);
});

test('reloading in the middle of a turn shows the turn still going, and then its end', async (t) => {
  const { page, home } = await open(t);
  await send(page, 'run echo before; while [ ! -e go ]; do sleep 0.05; done');
  await page.getByText('before', { exact: true }).waitFor();
  await page.reload();
  await page.getByText('before', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await writeFile(`${home}/workspace/go`, '');
  await answers(page).filter({ hasText: 'printed' }).waitFor();
  assert.equal(await page.locator('.item.user').count(), 1);
});

test('C90 a parked turn can be tried again or given up right where it is said', async (t) => {
  const { page, gateway } = await open(t, {}, await poisonedHome(t));
  await page.goto(`${gateway.url}/#/s/x`);
  await page.getByRole('button', { name: 'Give up' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await answers(page).first().waitFor();
  await page.getByRole('button', { name: 'Give up' }).waitFor({ state: 'detached' });
  assert.equal(await page.locator('.item.user').count(), 1);
});

test('a parked turn that is given up leaves no choice behind', async (t) => {
  const { page, gateway } = await open(t, {}, await poisonedHome(t));
  await page.goto(`${gateway.url}/#/s/x`);
  await page.getByRole('button', { name: 'Give up' }).click();
  await page.locator('.item').getByText('The parked turn was given up.').waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
  await send(page, 'and now?');
  await answers(page).first().waitFor();
});

test('the stop button ends a turn, and so does Escape', async (t) => {
  const { page } = await open(t);
  await send(page, 'run sleep 60');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page
    .getByText(/stopped/i)
    .first()
    .waitFor();
  await send(page, 'slowly count to 100');
  await page.locator('.draft').waitFor();
  await page.keyboard.press('Escape');
  await page
    .getByText(/stopped/i)
    .nth(1)
    .waitFor();
});

test('the gateway is killed and started again under an open page: nothing is lost and nothing doubled', async (t) => {
  const { page, gateway, home } = await open(t);
  await send(page, 'say one');
  await answers(page).filter({ hasText: 'one' }).waitFor();
  const port = new URL(gateway.url).port;
  gateway.process.kill('SIGKILL');
  await gateway.process.ended;
  await send(page, 'say two');
  const second = startTalaria(t, ['gateway', '--port', port], { home });
  await second.printed(/listening on/);
  await answers(page).filter({ hasText: 'two' }).waitFor();
  const said = await page.locator('.item.user').allInnerTexts();
  assert.deepEqual(
    said.map((text) => text.split('\n').at(-1)),
    ['say one', 'say two'],
  );
  assert.equal(await answers(page).count(), 2);
});

test('a session that somebody else begins shows in the page that waits for it', async (t) => {
  const home = await freshHome(t);
  const gateway = await startGateway(t, { home });
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`${gateway.url}/#/s/daily`);
  await page.getByRole('heading', { name: 'There is no session “daily” yet' }).waitFor();
  await say(gateway.url, 'daily', 'say it is done', 'm1');
  // The list of sessions is looked at now and then.
  await page.clock.fastForward(16_000);
  await page.clock.resume();
  await answers(page).filter({ hasText: 'it is done' }).waitFor();
});

test('Markdown is drawn as elements, and what looks like HTML stays text', async (t) => {
  const { page, gateway } = await open(t);
  const source =
    '# Title\n\n- **bold** `code`\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n<img src=x onerror="window.hacked = 1">\n\n[bad](javascript:alert(1)) [good](https://example.org)';
  await say(gateway.url, 'markdown', `say ${source}`, 'm1');
  await page.goto(`${gateway.url}/#/s/markdown`);
  const answer = answers(page).first();
  await answer.locator('table td').first().waitFor();
  assert.equal(await answer.locator('strong').innerText(), 'bold');
  assert.equal(await answer.locator('img').count(), 0);
  assert.deepEqual(await answer.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))), [
    'https://example.org',
  ]);
  assert.equal(await page.evaluate(() => 'hacked' in globalThis), false);
});

test('search finds an old message and leads to it, a session can be deleted, all by keyboard', async (t) => {
  const { page, gateway } = await open(t);
  await say(gateway.url, 'old', 'say the quick brown fox', 'm1');
  await page.goto(`${gateway.url}/#/s/old`);
  await answers(page).first().waitFor();
  await page.goto(`${gateway.url}/#/`);
  await page.getByRole('heading', { name: /what shall we do/i }).waitFor();
  await page.locator('body').press('/');
  await page.getByRole('searchbox').waitFor();
  await page.getByRole('searchbox').press('Control+a');
  await page.getByRole('searchbox').pressSequentially('quick fox');
  await page.getByRole('navigation').getByText('quick').first().click();
  await answers(page).first().waitFor();
  await page.getByRole('button', { name: 'Delete this session' }).press('Enter');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /delete/i })
    .press('Enter');
  await page.getByRole('heading', { name: /what shall we do/i }).waitFor();
  await page.getByRole('searchbox').press('Escape');
  await page.getByText('No sessions yet.').waitFor();
});

test('with a key configured the page asks for it once', async (t) => {
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  await writeFile(`${home}/config.yaml`, 'channels: { api: { key: a-long-enough-key } }\n');
  const gateway = await startGateway(t, { home });
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(gateway.url);
  await page.getByLabel(/key/i).fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('That is not the key').waitFor();
  await page.getByLabel(/key/i).fill('a-long-enough-key');
  await page.keyboard.press('Enter');
  await send(page, 'say hello');
  await answers(page).filter({ hasText: 'hello' }).waitFor();
  await page.reload();
  await answers(page).filter({ hasText: 'hello' }).waitFor();
});
