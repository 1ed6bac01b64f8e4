import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tool } from '../tools/tool.ts';
import { TestChat } from './commands/test-chat.ts';
import { ends, type Answer } from './test-gateway.ts';

test('files and pictures of a session are in its export, and an import here has their bytes', async () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const tool: Tool = {
    definition: { name: 'make', description: '', parameters: {} },
    effect: 'read',
    replay: 'safe',
    parse: (value) => ({ ok: true, value }),
    run: () =>
      Promise.resolve({
        kind: 'finished',
        text: 'made',
        images: [{ mediaType: 'image/png', bytes: Uint8Array.of(9) }],
        files: [{ name: 'a.pdf', mediaType: 'application/pdf', bytes, caption: 'here' }],
        untrusted: 'web',
      }),
  };
  const answer: Answer = async function* ({ messages }) {
    const isDone = messages.at(-1)?.role === 'tool';
    if (isDone) yield { kind: 'text-delta', text: 'done' };
    else yield { kind: 'tool-call', providerCallId: 'p', name: 'make', arguments: '{}' };
    yield ends(isDone ? 'answer' : 'tool-calls');
  };
  const chat = await TestChat.open({ tool, policy: { allowedUsers: ['*'], owners: ['7'] } }, answer);
  assert.deepEqual(await chat.says('go'), ['here', 'done']);
  const { api, store } = chat.gateway;
  const session = await chat.session();
  assert.ok(session);
  const lines = await Array.fromAsync(api.export(session.name));
  const copy = await api.import(
    (async function* () {
      yield* lines;
    })(),
    'copy',
  );
  const strip = (line: string) => JSON.stringify({ ...(JSON.parse(line) as object), name: '' });
  assert.deepEqual((await Array.fromAsync(api.export('copy'))).map(strip), lines.map(strip));
  assert.match(lines.join('\n'), /"images":\[.*"files":\[\{"name":"a\.pdf".*"untrusted":"web"/);
  assert.equal(await api.delete(session.name), true);
  const entries = await store.read.entries(copy.id, { after: 0, limit: 99 });
  const [file] = entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'tool' ? (entry.message.parts[0].files ?? []) : [],
  );
  assert.deepEqual(await api.content(file?.content.sha256 ?? ''), bytes);
  await chat.close();
});
