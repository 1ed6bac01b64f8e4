/** C45 and C48 for the browser: what is open in it stays, although the Talaria that opened it let go of it or was killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { test } from 'node:test';
import { openSite, openStage, browserProcesses, refOf, testChromium } from './browser-stage.ts';

const chromium = await testChromium();
const skip = chromium === null ? 'there is no Chromium on this machine' : false;

/** Runs the calls in another process, which is killed once they are done. Returns what each said. */
async function inKilledProcess(home: string, calls: readonly Record<string, unknown>[]): Promise<string[]> {
  const main = join(import.meta.dirname, 'browser-survival-main.ts');
  const child = spawn(process.execPath, [main, home, chromium ?? '', JSON.stringify(calls)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    const text = JSON.parse(line) as string;
    if (text === 'ready') child.kill('SIGKILL');
    else said.push(text);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  assert.equal(child.signalCode, 'SIGKILL');
  return said;
}

test('C45 C48 a page, what was typed into it, cookies and tabs outlive a killed Talaria', { skip }, async () => {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'browser-')));
  await using site = await openSite({
    '/': (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'visit=1' })
        .end('<title>Form</title><input aria-label="Name" autofocus><a href="/two" target="_blank">Second</a>'),
    '/two': '<title>Second</title><p>second page</p>',
    '/cookie': (request, response) => response.end(`cookie ${request.headers.cookie}`),
  });
  try {
    const [first] = await inKilledProcess(home, [{ action: 'navigate', url: site.url('/') }]);
    const before = await browserProcesses(join(home, 'browser'));
    assert.ok(before.length > 0);
    // The second Talaria takes over, writes into the form and dies as well.
    const [page = '', typed = ''] = await inKilledProcess(home, [
      { action: 'snapshot' },
      { action: 'press', text: 'H' },
      { action: 'press', text: 'i' },
    ]);
    assert.match(page, /^References of earlier snapshots no longer hold\.\nForm\n/);
    assert.match(typed, /textbox "Name".*: H/);
    await using stage = await openStage({ home, chromium: chromium ?? '' });
    await stage.tools.resume();
    const { did, run } = stage.session('1');
    const now = await did({ action: 'snapshot' });
    assert.match(now, /^References of earlier snapshots no longer hold\.\nForm\n[\s\S]*textbox "Name".*: Hi/);
    // References of the first life mean nothing in the third.
    assert.equal((await run({ action: 'click', ref: refOf(first ?? '', 'Second') })).kind, 'failed');
    assert.deepEqual(
      await browserProcesses(join(home, 'browser')).then((pids) => before.filter((pid) => !pids.includes(pid))),
      [],
    );
    assert.match(await did({ action: 'click', ref: refOf(now, 'Second') }), /second page/);
    assert.match(await did({ action: 'navigate', url: site.url('/cookie') }), /cookie visit=1/);
    assert.match(await did({ action: 'tabs' }), /^1\. \S+ Form\n2\. \S+\/cookie {1,2}\(current\)$/);
    await stage.tools.detach();
    assert.match(await did({ action: 'tabs', tab: 1 }), /textbox "Name".*: Hi/);
    const [held] = await stage.tools.holding.list();
    await stage.tools.holding.end(held?.sessionId ?? stage.session('1').id);
    assert.deepEqual(await browserProcesses(join(home, 'browser')), []);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
