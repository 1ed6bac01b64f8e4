/** Sessions whose tools change between turns, with the bytes of a real protocol. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { says, scriptedRuntime } from '../models/scripted-model.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Tool } from '../tools/tool.ts';
import { CachedSessions } from './test-cached-sessions.ts';

const tool = (name: string): Tool => ({
  definition: { name, description: `It is ${name}.`, parameters: { type: 'object', properties: {} } },
  effect: 'read',
  replay: 'safe',
  parse: (value) => ({ ok: true, value }),
  run: () => Promise.resolve({ kind: 'finished', text: 'done' }),
});

async function talk(sessions: CachedSessions, sessionId: SessionId, text: string): Promise<void> {
  sessions.script = [says(`answer to ${text}`)];
  await sessions.hears(sessionId, text);
  await sessions.run(sessionId);
}

test('C94 other toolsets change the tools of a prompt once, at the next turn and with that reason; C93 else nothing changes', async (t) => {
  const runtimes = [scriptedRuntime({ apiMode: 'anthropic_messages' })] as const;
  const sessions = await CachedSessions.open({ runtimes, tools: [tool('a'), tool('b')] });
  t.after(() => sessions.close());
  const sessionId = sessions.newSession();
  await talk(sessions, sessionId, 'one');
  sessions.cache.drop(sessionId);
  await talk(sessions, sessionId, 'two');

  // Somebody chooses a smaller set, then a tool of it is replaced; each stays so for another turn.
  sessions.toolsets = ['safe'];
  sessions.tools = [tool('a')];
  sessions.cache.drop(sessionId);
  for (const text of ['three', 'four']) await talk(sessions, sessionId, text);
  sessions.tools = [tool('c')];
  sessions.cache.drop(sessionId);
  for (const text of ['five', 'six']) await talk(sessions, sessionId, text);

  const entries = await sessions.store.read.entries(sessionId, { after: 0, limit: 100 });
  const heads = entries.flatMap((entry) => (entry.kind === 'head' ? [entry] : []));
  assert.deepEqual(
    heads.map(({ reason, head }) => [reason, head.systemPrompt, head.tools.map(({ name }) => name), head.toolsets]),
    [
      ['session-started', 'Prompt number 1.', ['a', 'b'], ['core']],
      ['toolset-changed', 'Prompt number 1.', ['a'], ['safe']],
      ['registry-changed', 'Prompt number 1.', ['c'], ['safe']],
    ],
  );
  const calls = await sessions.store.read.modelCalls(sessionId);
  assert.deepEqual(
    calls.map(({ prefixBreak }) => prefixBreak),
    ['first-call', null, 'toolset-changed', null, 'registry-changed', null],
  );
  assert.deepEqual(
    sessions.requests.map(({ tools }) => tools.map(({ name }) => name).join()),
    ['a,b', 'a,b', 'a', 'a', 'c', 'c'],
  );
  assert.equal((await sessions.store.read.totals()).prefixBreaks, 0);
});
