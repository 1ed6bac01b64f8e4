import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../fake-tool-context.ts';
import { SandboxError, type Sandbox } from '../sandbox.ts';
import { reportBrowser } from './browser-tools.ts';
import { findChromium } from './find-chromium.ts';

async function program(path: string, text = '#!/bin/sh\n'): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await chmod(path, 0o755);
  return path;
}

test('the configured Chromium is taken, or said to be wrong', async (t) => {
  const folder = await temporaryFolder(t);
  const path = await program(join(folder, 'mine'));
  assert.deepEqual(await findChromium({ configured: path, env: {} }), { kind: 'found', path });
  assert.deepEqual(await findChromium({ configured: join(folder, 'none'), env: {} }), {
    kind: 'missing',
    message: `browser.path is ${join(folder, 'none')}, which is not a program. Correct or remove it.`,
  });
});

test('a Chromium is found in PATH, but not one that is a snap', async (t) => {
  const folder = await temporaryFolder(t);
  await program(join(folder, 'a/chromium'), '#!/bin/sh\nexec /snap/bin/chromium "$@"\n');
  const path = await program(join(folder, 'b/chromium'));
  const env = { PATH: `relative:${folder}/a:${folder}/b`, HOME: folder };
  assert.deepEqual(await findChromium({ configured: null, env }), { kind: 'found', path });
});

test('what playwright downloaded is found, the newest first', async (t) => {
  const folder = await temporaryFolder(t);
  await program(join(folder, 'chromium-999/chrome-linux/chrome'));
  const path = await program(join(folder, 'chromium-1200/chrome-linux64/chrome'));
  const env = { PATH: '', PLAYWRIGHT_BROWSERS_PATH: folder };
  const found = await findChromium({ configured: null, env });
  // The machine may have one of its own, which comes first.
  if (found.kind === 'found' && found.path.startsWith('/usr')) t.skip('there is a Chromium in /usr');
  else assert.deepEqual(found, { kind: 'found', path });
});

test('doctor is told what is around Chromium, and what to do where there is nothing', async () => {
  const findIt = () => Promise.resolve({ kind: 'found', path: '/usr/bin/chromium' } as const);
  const level = (name: Sandbox['level']) => () => Promise.resolve({ level: name } as Sandbox);
  const none = () => Promise.reject(new SandboxError('no sandbox'));
  const report = (sandbox: () => Promise<Sandbox>, isRoot: boolean) =>
    reportBrowser({ findChromium: findIt, sandbox, isRoot });
  assert.deepEqual(await report(level('bubblewrap'), true), {
    isUsable: true,
    text: "/usr/bin/chromium, in Talaria's sandbox (Chromium's own is off inside it), all traffic through the proxy",
  });
  assert.match((await report(none, false)).text, /in Chromium's own sandbox.*not kept apart$/);
  assert.match((await report(level('none'), true)).text, /in no sandbox at all/);
  assert.deepEqual(await report(none, true), {
    isUsable: false,
    text:
      "The browser is not started: Chromium's own sandbox does not work for root, and no other one works here. " +
      'Install bubblewrap, or run Talaria as another user.',
  });
  const missing = await reportBrowser({
    findChromium: () => Promise.resolve({ kind: 'missing', message: 'There is none.' }),
    sandbox: none,
  });
  assert.deepEqual(missing, { isUsable: false, text: 'There is none.' });
});

test('the tool tells the model about itself in at most 900 bytes', async () => {
  const { createBrowserTool } = await import('./browser-tool.ts');
  const { definition } = createBrowserTool({} as never, {} as never);
  assert.ok(Buffer.byteLength(JSON.stringify(definition)) <= 900);
});
