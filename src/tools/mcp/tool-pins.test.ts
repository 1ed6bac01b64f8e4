import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { SeenTool } from './mcp-server.ts';
import { seenTools } from './seen-tool.ts';
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

test('where what was approved is there and can not be read, nothing is approved by itself', async (t) => {
  const path = await pinsFile(t);
  await mkdir(dirname(path));
  for (const text of ['{"version":1,"serv', '{"version":2,"servers":{}}', ' '.repeat(33_000_000)]) {
    await writeFile(path, text);
    const pins = new ToolPins(path);
    await pins.see('one', 'id', [tool]);
    await pins.see('two', 'id', [tool]);
    assert.deepEqual([pins.standing('one', tool), pins.standing('two', tool)], ['new', 'new']);
    assert.equal(new ToolPins(path).standing('one', tool), 'new');
  }
});

test('however much a server says of its tools, it is kept in so little that it can be read again', async (t) => {
  const path = await pinsFile(t);
  const listed = Array.from({ length: 256 }, (_, index) => ({
    name: `tool-${index}`,
    description: `${index}\u0001`.repeat(16_000),
    inputSchema: { type: 'object', enum: Array(30_000).fill(index % 10) },
  }));
  const seen = seenTools(listed);
  await new ToolPins(path).see('one', 'id', seen);
  const pins = new ToolPins(path);
  assert.deepEqual(
    seen.filter((one) => pins.standing('one', one) !== 'approved'),
    [],
  );
  assert.ok((await stat(path)).size < 8_000_000);
  const [first, ...others] = listed;
  const changed = seenTools([{ ...first, name: 'tool-0', description: 'another' }, ...others]);
  const last = seenTools([...listed.slice(0, -1), { ...(listed.at(-1) ?? { name: '' }), description: 'another' }]);
  assert.equal(changed.filter((one) => pins.standing('one', one) === 'changed').length, 1);
  assert.equal(last.filter((one) => pins.standing('one', one) === 'changed').length, 1);
});
