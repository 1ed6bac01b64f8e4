/** What a cached agent costs, measured in a process of its own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startModelServer } from './model-server/model-server.ts';
import { atEnd, freshHome } from './support/talaria-process.ts';

const messageChars = 200_000;
/** A client, a chain, a registry of tools and a few closures. */
const bytesPerAgentMax = 64_000;

test('C32 a cached agent keeps nothing of its transcript, however long, and idle ones go when memory is short', async (t) => {
  const server = await startModelServer();
  atEnd(t, () => server.close());
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  const model = {
    provider: 'custom',
    base_url: server.baseUrl('chat_completions'),
    name: 'scripted',
    api_key: 'key-1',
  };
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ model }));
  const main = join(import.meta.dirname, 'agent-cache-memory-main.ts');
  const flags = ['--expose-gc', '--max-old-space-size=200'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, main, home, String(messageChars)]);
  const told = JSON.parse(stdout) as Record<'agents' | 'bytesPerAgent' | 'transcriptChars', number> & {
    relieved: number[];
  };
  t.diagnostic(stdout.trim());
  assert.equal(told.agents, 30);
  assert.ok(told.transcriptChars > 2 * messageChars);
  assert.ok(told.bytesPerAgent < bytesPerAgentMax, `${told.bytesPerAgent} bytes for each agent`);
  assert.deepEqual(told.relieved, [0, 2, 2]);
});
