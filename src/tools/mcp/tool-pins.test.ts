import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { SeenTool } from './mcp-server.ts';
import { pinsPath, ToolPins } from './tool-pins.ts';

const tool: SeenTool = { name: 'look', description: 'Looks.', inputSchema: {}, hints: {}, hash: 'h' };
const names = ['one', 'two', 'three', 'four', 'five'];

async function pinsFile(t: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'talaria-pins-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  return pinsPath(home);
}

function isBeingWritten(path: string): boolean {
  const folder = dirname(path);
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.tmp'));
}

function known(pins: ToolPins): string[] {
  return names.filter((name) => pins.of(name) !== null);
}

test('servers that are seen at the same time are all kept, however often the file is looked at meanwhile', async (t) => {
  const path = await pinsFile(t);
  const pins = new ToolPins(path);
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      pins.reread();
      await new Promise(setImmediate);
    }
  })();
  const first = pins.see('one', 'id', [tool]);
  // The others are seen while it is being written.
  while (!isBeingWritten(path)) await new Promise(setImmediate);
  await Promise.all([first, ...names.slice(1).map((name) => pins.see(name, 'id', [tool]))]);
  over.abort();
  await looking;
  assert.deepEqual(known(pins), names);
  assert.deepEqual(known(new ToolPins(path)), names);
});

test('two processes do not take from each other what they have seen', async (t) => {
  const path = await pinsFile(t);
  const [mine, theirs] = [new ToolPins(path), new ToolPins(path)];
  await mine.see('one', 'id', [tool]);
  await theirs.see('two', 'id', [tool]);
  await mine.see('three', 'id', [tool]);
  assert.deepEqual(known(mine), ['one', 'two', 'three']);
  await theirs.forget('one');
  assert.deepEqual(known(new ToolPins(path)), ['two', 'three']);
});
