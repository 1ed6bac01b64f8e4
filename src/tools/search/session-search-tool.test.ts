import assert from 'node:assert/strict';
import test from 'node:test';
import type { SearchHit } from '../../protocol/api.ts';
import { countingIdSource } from '../../lib/ids.ts';
import type { Entry, UntrustedSource } from '../../protocol/messages.ts';
import { fakeToolContext } from '../fake-tool-context.ts';
import { createSessionSearchTool, type FoundSession } from './session-search-tool.ts';

const ids = countingIdSource();
const at = new Date(2026, 2, 1, 9, 30).getTime();
const turns = [ids.next('trn'), ids.next('trn')];

/** Asks and answers, two messages a turn. */
function log(texts: readonly string[], untrusted: Readonly<Record<number, UntrustedSource>> = {}): Entry[] {
  return texts.map((text, index): Entry => {
    const place = { seq: index + 1, at, turnId: turns[Math.floor(index / 2)] ?? null, kind: 'message' } as const;
    const source = untrusted[index + 1];
    const parts = [{ kind: 'text', text }] as const;
    if (index % 2 === 1) return { ...place, modelCallId: ids.next('mdl'), message: { role: 'assistant', parts } };
    const marked = source === undefined ? {} : { untrusted: source };
    return { ...place, inboxId: ids.next('inb'), message: { role: 'user', parts, ...marked } };
  });
}

function stage(
  options: { hits?: readonly number[]; entries?: readonly Entry[]; key?: string; foundKey?: string } = {},
) {
  const { hits = [], entries = [], key = 'cli:direct:now', foundKey = 'cli:direct:old' } = options;
  const context = fakeToolContext('/nowhere');
  const own: FoundSession = { id: context.sessionId, name: 'now', key, owner: 'owner' };
  const old: FoundSession = { id: ids.next('ses'), name: 'old', key: foundKey, owner: 'owner' };
  const foreign: FoundSession = { id: ids.next('ses'), name: 'foreign', key: 'cli:direct:f', owner: 'telegram:7' };
  const all = [own, old, foreign];
  const asked: unknown[] = [];
  const tool = createSessionSearchTool({
    search: (...call) => {
      asked.push(call);
      const hit = (seq: number): SearchHit => ({
        sessionId: old.id,
        sessionName: 'old',
        seq,
        at,
        role: 'user',
        snippet: `‹hit› ${seq}`,
      });
      return Promise.resolve(hits.map(hit));
    },
    session: (id) => Promise.resolve(all.find((session) => session.id === id) ?? null),
    sessionByName: (name) => Promise.resolve(all.find((session) => session.name === name) ?? null),
    entries: (_id, { after, limit }) => Promise.resolve(entries.filter(({ seq }) => seq > after).slice(0, limit)),
  });
  const run = async (input: Record<string, unknown>) => {
    const parsed = tool.parse(input);
    return parsed.ok ? tool.run(parsed.value, context) : { kind: 'wrong', text: parsed.problem };
  };
  return { run, asked, foreign, old };
}

test('a hit comes with the messages around it, and where to read on', async () => {
  const { run, asked } = stage({ hits: [3], entries: log(['one', 'two', 'three hit', 'four', 'five']) });
  assert.deepEqual(await run({ query: 'hit' }), {
    kind: 'finished',
    text: [
      'old #3, user, 2026-03-01 09:30\n  assistant: two\n  > ‹hit› 3\n  assistant: four',
      'Read on with `session` and `around`.',
    ].join('\n\n'),
  });
  assert.deepEqual(asked, [['hit', 8, { owner: 'owner' }]]);
});

test('days and times narrow it, and alone they are enough', async () => {
  const { run, asked } = stage();
  const nothing = { kind: 'finished', text: 'Nothing was found.' };
  assert.deepEqual(await run({ after: '2026-03-01', before: '2026-03-02T12:00' }), nothing);
  const [after, before] = [new Date(2026, 2, 1).getTime(), new Date(2026, 2, 2, 12).getTime()];
  assert.deepEqual(asked, [['', 8, { owner: 'owner', after, before }]]);
  for (const wrong of [{ after: 'yesterday' }, { before: '2026-02-30' }, {}, { query: ' ' }, { around: 3 }]) {
    assert.equal((await run(wrong)).kind, 'failed', JSON.stringify(wrong));
  }
});

test('reading around a message marks it, and knows its neighbours', async () => {
  const { run, old } = stage({ entries: log(['one', 'two', 'three', 'four']) });
  const read = await run({ session: 'old', around: 3 });
  assert.deepEqual(read, await run({ session: old.id, around: 3 }));
  assert.equal(
    'text' in read ? read.text : '',
    [
      'old:',
      '#1 user, 2026-03-01 09:30\none',
      '#2 assistant, 2026-03-01 09:30\ntwo',
      '#3 user, 2026-03-01 09:30 ←\nthree',
      '#4 assistant, 2026-03-01 09:30\nfour',
    ].join('\n\n'),
  );
});

test('somebody else’s conversation is not there', async () => {
  const { run, foreign } = stage({ entries: log(['one']) });
  for (const session of ['foreign', foreign.id, 'nothing']) {
    assert.deepEqual(await run({ session, around: 1 }), {
      kind: 'failed',
      text: `There is no conversation ${JSON.stringify(session)}.`,
    });
  }
});

test('in a group, what was said elsewhere does not come up', async () => {
  const entries = log(['one']);
  const elsewhere = stage({ hits: [1], entries, key: 'telegram:group:-1:7' });
  assert.equal((await elsewhere.run({ query: 'hit' })).text, 'Nothing was found.');
  assert.equal((await elsewhere.run({ session: 'old', around: 1 })).kind, 'failed');
  const here = stage({ hits: [1], entries, key: 'telegram:group:-1:7', foundKey: 'telegram:thread:-1:3' });
  assert.match((await here.run({ query: 'hit' })).text, /^old #1/);
});

test('in a group, what was said there is found behind any number of private hits', async () => {
  const context = fakeToolContext('/nowhere');
  const inGroup = (id: FoundSession['id'], name: string): FoundSession => ({
    id,
    name,
    key: 'telegram:group:-1:7',
    owner: 'telegram:7',
  });
  const own = inGroup(context.sessionId, 'now');
  const group = inGroup(ids.next('ses'), 'group');
  const direct = { ...inGroup(ids.next('ses'), 'direct'), key: 'telegram:direct:7' };
  // The newest first: very many private ones, then one of the group.
  const all = Array.from({ length: 1_201 }, (_, index): SearchHit => {
    const { id, name } = index === 1_200 ? group : direct;
    return { sessionId: id, sessionName: name, seq: 1, at: 5_000 - index, role: 'user', snippet: '‹hit›' };
  });
  const tool = createSessionSearchTool({
    search: (_query, limit, { before = Infinity }) =>
      Promise.resolve(all.filter((hit) => hit.at < before).slice(0, limit)),
    session: (id) => Promise.resolve([own, group, direct].find((session) => session.id === id) ?? null),
    sessionByName: () => Promise.resolve(null),
    entries: () => Promise.resolve(log(['hit'])),
  });
  const { text } = (await tool.run({ query: 'hit' }, context)) as { text: string };
  assert.match(text, /^group #1, user/);
  assert.doesNotMatch(text, /direct/);
});

test('what a stranger wrote, and what was answered in the same turn, is marked', async () => {
  const entries = log(['a mail says hit', 'so it does', 'hit', 'yes'], { 1: 'webhook' });
  const sourceAt = async (seq: number) => {
    const { run } = stage({ entries: entries.slice(0, seq + 1), hits: [seq] });
    const outcome = await run({ query: 'hit' });
    return 'untrusted' in outcome ? outcome.untrusted : null;
  };
  assert.deepEqual([await sourceAt(1), await sourceAt(2)], ['webhook', 'webhook']);
  const { run } = stage({ entries: entries.slice(2) });
  assert.ok(!('untrusted' in (await run({ session: 'old', around: 3 }))));
});
