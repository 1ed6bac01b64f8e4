import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import type { Entry } from '../protocol/messages.ts';
import type { Tool } from '../tools/tool.ts';
import { TestChat } from './commands/test-chat.ts';
import { parseExport } from './portable-session.ts';
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

test('sections of a prompt, files of a project and titles come through an export and an import', async () => {
  const common = { at: 5, turnId: null };
  const head = { systemPrompt: 'a', sections: [{ name: 'identity', chars: 1 }], tools: [], toolsets: ['core'] };
  const ids = countingIdSource();
  const callId = ids.next('cal');
  const call = { kind: 'tool-call', callId, name: 'read_file', arguments: '{}' } as const;
  const part = {
    kind: 'tool-result',
    callId,
    outcome: 'finished',
    text: 't',
    projectFiles: ['web/AGENTS.md'],
  } as const;
  const entries: Entry[] = [
    { kind: 'head', reason: 'session-started', head, seq: 1, ...common },
    { kind: 'titled', title: 'Ducks', by: 'person', seq: 2, ...common },
    { kind: 'message', message: { role: 'assistant', parts: [call] }, modelCallId: ids.next('mdl'), seq: 3, ...common },
    { kind: 'message', message: { role: 'tool', parts: [part] }, seq: 4, ...common },
  ];
  assert.deepEqual(await readBack(entries), entries);
});

test('what was shortened comes along with every step of it, and a wish that nothing came of stays behind', async () => {
  const common = { at: 5, turnId: null };
  const asked = { kind: 'asked', why: 'person', topic: 'ducks', place: { channel: 'telegram', target: '7' } } as const;
  const done = {
    kind: 'done',
    why: 'person',
    headSeq: 1,
    toSeq: 1,
    preface: 'shortly:',
    summary: 'ducks',
    by: 'model',
    keeps: [],
    digests: [],
    tokensBefore: 100,
    tokensAfter: 10,
  } as const;
  const steps = [asked, { kind: 'begun' }, done, { kind: 'declined', tokens: 9 }] as const;
  const finished = steps.map((step, index): Entry => ({ kind: 'compression', step, seq: index + 1, ...common }));
  const begun = { kind: 'compression', step: { kind: 'begun' }, seq: 6, ...common } as const;
  const wish: Entry[] = [{ kind: 'compression', step: asked, seq: 5, ...common }, begun];
  assert.deepEqual(await readBack([...finished, ...wish]), finished);
});

async function readBack(entries: readonly Entry[]): Promise<readonly Entry[]> {
  const header = { talaria: 'session', version: 1, name: 'x', title: 'Ducks', createdAt: 1 };
  const lines = [header, ...entries].map((line) => JSON.stringify(line));
  const read = await parseExport(
    (async function* () {
      yield* lines;
    })(),
  );
  return read.entries;
}
