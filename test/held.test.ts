/**
 * What a session holds, over everything that may happen to the program: a shell with a changed folder, a server in the
 * background and an open page with something typed into it.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StatusReport } from '../src/protocol/api.ts';
import type { SessionEvent } from '../src/protocol/events.ts';
import { pidsWith, until } from '../src/tools/terminal/test-processes.ts';
import { testChromium } from './browser-stage.ts';
import { startModelServer } from './model-server/model-server.ts';
import { ask, follow, isClosed, say } from './support/http.ts';
import { atEnd, freshHome, startGateway } from './support/talaria-process.ts';

const chromium = process.platform === 'linux' ? await testChromium() : null;
const skip = chromium === null ? 'there is no Chromium here' : false;

async function page(t: TestContext): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<title>Form</title><h1>Order</h1><label>Name <input id="name"></label>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Says it, and what the tools of that turn returned. */
async function turn(url: string, words: string, number: number): Promise<string> {
  await say(url, 'x', words, `m${number}`);
  let closed = 0;
  const events = await follow(url, 'x', (event) => isClosed(event) && ++closed === number);
  const results = events.flatMap(resultIn);
  return results.at(-1) ?? '';
}

function resultIn(event: SessionEvent): string[] {
  if (event.kind !== 'entry' || event.entry.kind !== 'message' || event.entry.message.role !== 'tool') return [];
  return [event.entry.message.parts[0].text];
}

const call = (name: string, input: object) => `call ${name} ${JSON.stringify(input)}`;

test(
  'C44 C45 C47 C48 idle, evicted, killed and started again: shell, server and tab are still there, until the session ends',
  { skip },
  async (t) => {
    const server = await startModelServer();
    atEnd(t, () => server.close());
    const home = await freshHome(t);
    await mkdir(home, { mode: 0o700 });
    const model = { provider: 'custom', base_url: server.baseUrl('chat_completions'), name: 'scripted', api_key: 'k' };
    const config = {
      model,
      gateway: { agent_cache: { idle_ttl_s: 1 } },
      browser: { path: chromium },
      web: { private_hosts: ['127.0.0.1'] },
    };
    await writeFile(join(home, 'config.yaml'), JSON.stringify(config));
    const address = await page(t);
    const first = await startGateway(t, { home });
    const statusOf = async (url: string) => JSON.parse((await ask(`${url}/api/status`)).text) as StatusReport;

    await turn(
      first.url,
      call('terminal', { command: 'mkdir sub && cd sub && export COLOUR=blue && f() { echo fun; }' }),
      1,
    );
    const script = `require('http').createServer((q, r) => r.end('served')).listen(7123)`;
    await turn(first.url, call('terminal', { command: `node -e "${script}"`, background: true }), 2);
    const opened = await turn(first.url, call('browser', { action: 'navigate', url: address }), 3);
    const ref = /textbox "Name" \[ref=(\w+)\]/.exec(opened)?.[1] ?? '';
    assert.notEqual(ref, '', opened);
    await turn(first.url, call('browser', { action: 'type', ref, text: 'Ada Lovelace' }), 4);
    atEnd(t, async () => {
      for (const url of urls) await ask(`${url}/api/sessions/x`, { method: 'DELETE' }).catch(() => {});
    });
    const urls = [first.url];

    // Past its time: the agent is let go, and nothing that it held is.
    while ((await statusOf(first.url)).agent_cache.sweeps < 1) await sleep(50);
    assert.match(await turn(first.url, call('terminal', { command: 'pwd' }), 5), /\/workspace\/sub$/);

    first.process.kill('SIGKILL');
    await first.process.ended;
    const second = await startGateway(t, { home });
    urls.push(second.url);
    const shell = await turn(second.url, call('terminal', { command: 'pwd; echo $COLOUR; f' }), 6);
    assert.match(shell, /\/workspace\/sub\nblue\nfun$/);
    assert.equal(await turn(second.url, call('terminal', { command: 'curl -s http://localhost:7123/' }), 7), 'served');
    assert.match(await turn(second.url, call('process', { action: 'list' }), 8), /^p1 running/);
    const tab = await turn(second.url, call('browser', { action: 'snapshot' }), 9);
    assert.match(tab, /Ada Lovelace/);
    const held = (await statusOf(second.url)).held.map(({ kind }) => kind).sort();
    assert.deepEqual(held, ['browser', 'process', 'shell']);

    await ask(`${second.url}/api/sessions/x`, { method: 'DELETE' });
    assert.deepEqual((await statusOf(second.url)).held, []);
    // What tidies up after a sandbox ends a moment after it; anything else would stay.
    await until(async () => ((await pidsWith(home)).length === 0 ? true : null));
  },
);
