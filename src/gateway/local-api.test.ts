import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingIdSource, createIdSource } from '../lib/ids.ts';
import { systemRandom } from '../lib/random.ts';
import { ModelError } from '../models/model.ts';
import { ApiError, messageBytesMax, waitingMessagesMax, type SendReceipt } from '../protocol/api.ts';
import type { SessionEvent } from '../protocol/events.ts';
import { textOf } from '../protocol/messages.ts';
import { FakeConversation } from '../store/fake-conversation.ts';
import { StoreError } from '../store/store.ts';
import { statelessKey } from './stateless-sessions.ts';
import { ends, echo, openTestGateway, type Answer, type TestGateway } from './test-gateway.ts';

let sent = 0;
const send = (
  gateway: TestGateway,
  text: string,
  session: string | null = 'one',
  externalId = `e${++sent}`,
): Promise<SendReceipt> => gateway.api.send({ session, text, externalId, channel: 'cli' });

/** Follows a session until an event for which `until` is true; returns all events up to it. */
async function follow(
  gateway: TestGateway,
  session: string,
  until: (event: SessionEvent) => boolean,
  after = 0,
): Promise<SessionEvent[]> {
  const done = new AbortController();
  const events: SessionEvent[] = [];
  for await (const event of gateway.api.events(session, after, done.signal)) {
    events.push(event);
    if (until(event)) done.abort();
  }
  return events;
}

const isClosed = (event: SessionEvent) => event.kind === 'entry' && event.entry.kind === 'turn-closed';

function assistantTexts(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) =>
    event.kind === 'entry' && event.entry.kind === 'message' && event.entry.message.role === 'assistant'
      ? [textOf(event.entry.message)]
      : [],
  );
}

/** Streams one word, then waits to be let go or stopped. */
function waiting() {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const answer: Answer = async function* (request, signal) {
    yield { kind: 'text-delta', text: 'thinking' };
    reached.resolve();
    await Promise.race([
      release.promise,
      new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
    ]);
    if (signal.aborted) yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled') };
    else yield* echo(request, signal);
  };
  return { answer, reached: reached.promise, release: release.resolve };
}

test('a message is answered and delivered, and both are in the log', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const receipt = await send(gateway, 'hello');
  const events = await follow(gateway, 'one', isClosed);
  assert.deepEqual(assistantTexts(events), ['hello']);
  await gateway.clock.advance(0);
  assert.deepEqual(
    gateway.deliveries.map(({ target, text }) => [target, text]),
    [['one', 'hello']],
  );
  const session = await gateway.api.session(receipt.sessionId);
  assert.deepEqual([session?.name, session?.title, session?.state, session?.messages], ['one', 'hello', 'idle', 2]);
  await gateway.close();
});

test('the same external id is the same message: answered once', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const [first, second] = await Promise.all([
    send(gateway, 'hello', null, 'same'),
    send(gateway, 'hello', null, 'same'),
  ]);
  assert.equal(first.sessionId, second.sessionId);
  assert.equal(first.inboxId, second.inboxId);
  assert.notEqual(first.duplicate, second.duplicate);
  assert.deepEqual(assistantTexts(await follow(gateway, first.sessionId, isClosed)), ['hello']);
  await gateway.close();
});

test('who looks in the middle of a turn sees what was said so far, then the rest, without gap or repetition', async () => {
  const { answer, reached, release } = waiting();
  const gateway = await openTestGateway({ answer });
  await send(gateway, 'hello');
  await reached;
  const events = await follow(gateway, 'one', (event) => {
    if (event.kind === 'live-state') release();
    return isClosed(event);
  });
  const state = events.find((event) => event.kind === 'live-state');
  assert.equal(state?.turn?.text, 'thinking');
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'text-delta' ? [event.text] : [])),
    ['hello'],
  );
  const seqs = events.flatMap((event) => (event.kind === 'entry' ? [event.entry.seq] : []));
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  );
  await gateway.close();
});

test('one turn per session at a time, sessions side by side', async () => {
  const inside = new Map<string, number>();
  let mostInOne = 0;
  let mostSessions = 0;
  const allInside = Promise.withResolvers<void>();
  const gateway = await openTestGateway({
    joinWaiting: false,
    answer: async function* (request, signal) {
      const first = request.messages[0];
      const session = first === undefined ? '' : textOf(first);
      inside.set(session, (inside.get(session) ?? 0) + 1);
      mostInOne = Math.max(mostInOne, ...inside.values());
      mostSessions = Math.max(mostSessions, inside.size);
      if (inside.size === 3) allInside.resolve();
      try {
        await allInside.promise;
        yield* echo(request, signal);
      } finally {
        inside.delete(session);
      }
    },
  });
  const sessions = ['a', 'b', 'c'];
  for (const session of sessions) for (const text of [session, 'second']) await send(gateway, text, session);
  for (const session of sessions) {
    let closed = 0;
    const events = await follow(gateway, session, (event) => isClosed(event) && ++closed === 2);
    assert.deepEqual(assistantTexts(events), [session, 'second']);
  }
  assert.deepEqual([mostInOne, mostSessions], [1, 3]);
  await gateway.close();
});

test('a stop ends the turn at once and keeps what was said', async () => {
  const { answer, reached } = waiting();
  const gateway = await openTestGateway({ answer });
  await send(gateway, 'hello');
  await reached;
  assert.equal(await gateway.api.stop('one'), true);
  const events = await follow(gateway, 'one', isClosed);
  assert.deepEqual(assistantTexts(events), ['thinking']);
  assert.deepEqual(
    events.flatMap((event) =>
      event.kind === 'entry' && event.entry.kind === 'turn-closed' ? [event.entry.outcome] : [],
    ),
    ['stopped'],
  );
  assert.equal(await gateway.api.stop('one'), false, 'nothing is left to stop');
  await gateway.close();
});

test('bad input is refused with a reason and stores nothing', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const tries: [string, string | null, ApiError['reason'], RegExp][] = [
    ['', 'one', 'bad-request', /empty/],
    [' \n\t', 'one', 'bad-request', /empty/],
    ['x'.repeat(messageBytesMax + 1), 'one', 'too-large', /limit is 1 MB/],
    ['hello', '../escape', 'bad-request', /session name/],
    ['hello', 'a/b', 'bad-request', /session name/],
    ['hello', 'x'.repeat(65), 'bad-request', /session name/],
  ];
  for (const [text, session, reason, words] of tries) {
    await assert.rejects(send(gateway, text, session), (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.reason, reason);
      assert.match(error.message, words);
      return true;
    });
  }
  assert.deepEqual(await gateway.api.sessions({ limit: 10 }), []);
  await gateway.close();
});

test('half a character is stored as the replacement character, not as broken text', async () => {
  const gateway = await openTestGateway({ answer: echo });
  await send(gateway, 'a\ud800b\0c');
  assert.deepEqual(assistantTexts(await follow(gateway, 'one', isClosed)), ['a\ufffdb\ufffdc']);
  await gateway.close();
});

test('more waiting messages than the limit are refused, and those before are kept', async () => {
  const { answer, reached, release } = waiting();
  const gateway = await openTestGateway({ answer, joinWaiting: false });
  await send(gateway, 'first');
  await reached;
  for (let count = 0; count < waitingMessagesMax; count++) await send(gateway, `waiting ${count}`);
  await assert.rejects(send(gateway, 'one too many'), { reason: 'busy' });
  release();
  await gateway.close();
});

test('C86 the user is told when a write fails, and the message is answered once the store works again', async () => {
  let broken = true;
  const gateway = await openTestGateway({
    answer: echo,
    wrapStore: (store) => ({
      ...store,
      commit: (lease, writes) =>
        broken ? Promise.reject(new StoreError('disk-full', 'The disk is full.')) : store.commit(lease, writes),
    }),
  });
  const receipt = await send(gateway, 'hello');
  const following = follow(gateway, receipt.sessionId, isClosed);
  const told = await follow(gateway, receipt.sessionId, (event) => event.kind === 'trouble' || advanceSoon());
  assert.deepEqual(told.at(-1), { kind: 'trouble', text: 'The disk is full.' });
  broken = false;
  await gateway.clock.advance(60_000);
  assert.deepEqual(assistantTexts(await following), ['hello']);
  await gateway.close();

  function advanceSoon(): false {
    void gateway.clock.advance(5_000);
    return false;
  }
});

test('a delivery that fails for now is tried again later, marked as a possible repetition, in order', async () => {
  const gateway = await openTestGateway({ answer: echo });
  gateway.deliverWith(() => ({ kind: 'retry', afterMs: 1_000, error: 'busy' }));
  await send(gateway, 'first');
  await follow(gateway, 'one', isClosed);
  await gateway.clock.advance(0);
  gateway.deliverWith(() => ({ kind: 'sent', platformId: null }));
  await gateway.clock.advance(10_000);
  assert.deepEqual(
    gateway.deliveries.map(({ text }) => text),
    ['first', '(possibly repeated) first'],
  );
  await gateway.close();
});

test('leaving takes no more messages and leaves an open turn for the next process', async () => {
  const { answer, reached } = waiting();
  const gateway = await openTestGateway({ answer });
  const receipt = await send(gateway, 'hello');
  await reached;
  gateway.intake.close();
  const left = gateway.drain.leave(1_000);
  await gateway.clock.advance(1_000);
  await left;
  await assert.rejects(send(gateway, 'too late'), { reason: 'draining' });
  const journal = await gateway.store.read.journal(receipt.sessionId, 0);
  assert.equal(journal?.openTurn?.state, 'open');
  assert.equal(journal?.openTurn?.crashes, 0);
  await gateway.close();
});

/** A session whose turn was parked, as after three crashes. */
async function park(gateway: TestGateway): Promise<void> {
  const ids = countingIdSource();
  const chat = new FakeConversation(gateway.store, ids, 'one');
  const turnId = await chat.openTurn('hello');
  await chat.commit(
    { verb: 'freeze-head', reason: 'session-started', head: { systemPrompt: 'S', tools: [] } },
    { verb: 'close-turn', turnId, outcome: 'parked', reply: null },
  );
  await gateway.store.releaseLease(chat.lease);
}

test('C90 a parked turn that is tried again is answered, and who looks on sees all of it', async () => {
  const gateway = await openTestGateway({ answer: echo });
  await park(gateway);
  assert.equal((await gateway.api.session('one'))?.state, 'parked');
  let closed = 0;
  const retried: Promise<boolean>[] = [];
  const events = await follow(gateway, 'one', (event) => {
    if (event.kind === 'live-state') retried.push(gateway.api.parked('one', 'retry'));
    return isClosed(event) && ++closed === 2;
  });
  assert.deepEqual(await Promise.all(retried), [true]);
  assert.deepEqual(assistantTexts(events), ['hello']);
  const entries = events.flatMap((event) => (event.kind === 'entry' ? [event.entry] : []));
  assert.deepEqual(
    entries.map((entry) => entry.seq),
    entries.map((_, index) => index + 1),
  );
  assert.deepEqual(
    entries.flatMap((entry) => (entry.kind === 'turn-closed' ? [entry.outcome] : [])),
    ['parked', 'answered'],
  );
  assert.equal(await gateway.api.parked('one', 'retry'), false);
  assert.equal((await gateway.api.session('one'))?.state, 'idle');
  await gateway.close();
});

test('a parked turn that is given up is not tried again, and the session goes on', async () => {
  const gateway = await openTestGateway({ answer: echo });
  await park(gateway);
  const dropped: Promise<boolean>[] = [];
  await follow(gateway, 'one', (event) => {
    if (event.kind === 'live-state') dropped.push(gateway.api.parked('one', 'drop'));
    return event.kind === 'entry' && event.entry.kind === 'notice';
  });
  assert.deepEqual(await Promise.all(dropped), [true]);
  assert.equal(await gateway.api.parked('one', 'drop'), false);
  assert.equal((await gateway.api.session('one'))?.state, 'idle');
  await send(gateway, 'and now?');
  let closed = 0;
  const events = await follow(gateway, 'one', (event) => isClosed(event) && ++closed === 2);
  assert.deepEqual(assistantTexts(events), ['and now?']);
  await gateway.close();
});

test('a parked turn that the session left behind is not tried again, in words that say what to do', async () => {
  const gateway = await openTestGateway({ answer: echo });
  await park(gateway);
  await send(gateway, 'something else');
  let closed = 0;
  await follow(gateway, 'one', (event) => isClosed(event) && ++closed === 2);
  await gateway.clock.advance(0);
  await assert.rejects(gateway.api.parked('one', 'retry'), { reason: 'busy', message: /has gone on .* drop/ });
  await assert.rejects(gateway.api.parked('nowhere', 'retry'), { reason: 'not-found' });
  await gateway.close();
});

test('an exported session is read back the same, under another name', async () => {
  const gateway = await openTestGateway({ answer: echo });
  await send(gateway, 'remember the milk');
  await follow(gateway, 'one', isClosed);
  const lines = await Array.fromAsync(gateway.api.export('one'));
  const copy = await gateway.api.import(stream(lines), 'two');
  assert.equal(copy.name, 'two');
  const strip = (line: string) => JSON.stringify({ ...(JSON.parse(line) as object), name: '' });
  assert.deepEqual((await Array.fromAsync(gateway.api.export('two'))).map(strip), lines.map(strip));
  await gateway.close();
});

test('an import that is not a whole session is refused by line', async () => {
  const gateway = await openTestGateway({ answer: echo });
  await send(gateway, 'hello');
  await follow(gateway, 'one', isClosed);
  const lines = await Array.fromAsync(gateway.api.export('one'));
  const tries: [string[], RegExp][] = [
    [[], /empty/],
    [['{'], /Line 1 .*not JSON/],
    [['{"hello": 1}'], /Line 1 .*not the beginning/],
    [[...lines.slice(0, 2), '{"kind":"message"}'], /Line 3 .*not an entry/],
    [[...lines.slice(0, 3), lines[3]?.slice(0, 20) ?? ''], /Line 4 .*whole/],
  ];
  for (const [bad, words] of tries) await assert.rejects(gateway.api.import(stream(bad), 'bad'), words);
  assert.equal(await gateway.api.session('bad'), null);
  await gateway.close();
});

test('a deleted session is gone, also in the middle of a turn, and whoever keeps more of it is told', async () => {
  const { answer, reached } = waiting();
  const deleted: string[] = [];
  const gateway = await openTestGateway({ answer, onDeleted: (id) => Promise.resolve(void deleted.push(id)) });
  const { sessionId } = await send(gateway, 'hello');
  await reached;
  assert.equal(await gateway.api.delete('one'), true);
  assert.deepEqual(deleted, [sessionId]);
  assert.equal(await gateway.api.session('one'), null);
  await assert.rejects(gateway.api.delete('one'), { reason: 'not-found' });
  await gateway.close();
});

async function* stream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

test('a lease is kept up for as long as the turn takes, so that nobody else takes the session over', async () => {
  const { answer, reached, release } = waiting();
  const gateway = await openTestGateway({ answer });
  const receipt = await send(gateway, 'hello');
  await reached;
  const other = countingIdSource().next('nod');
  await gateway.clock.advance(600_000);
  assert.equal(await gateway.store.acquireLease(receipt.sessionId, `${other}x` as typeof other, 30_000), null);
  release();
  await follow(gateway, 'one', isClosed);
  await gateway.close();
});

test('what a process left unfinished is taken up by the next one', async () => {
  const { answer, reached } = waiting();
  const first = await openTestGateway({ answer });
  const receipt = await send(first, 'hello');
  await reached;
  const left = first.drain.leave(0);
  await first.clock.advance(0);
  await left;
  const second = await openTestGateway({ answer: echo, wrapStore: () => first.store });
  await second.drain.recover();
  assert.deepEqual(assistantTexts(await follow(second, receipt.sessionId, isClosed)), ['hello']);
  await second.close();
});

/** A gateway whose model asks for a tool that asks a person, and then says what came of it. */
async function gatewayThatAsks(deadlineInMs: number) {
  const gateway = await openTestGateway({
    tool: {
      definition: { name: 'ask', description: '', parameters: {} },
      effect: 'write',
      replay: 'never',
      parse: (value) => ({ ok: true, value }),
      run: () =>
        Promise.resolve({ kind: 'ask', text: 'Shall I?', choices: null, deadline: gateway.clock.now() + deadlineInMs }),
      answered: (_input, answer) => Promise.resolve({ kind: 'finished', text: `they said ${answer}` }),
    },
    answer: async function* (request) {
      const last = request.messages.at(-1);
      if (last?.role === 'tool') yield { kind: 'text-delta', text: last.parts[0].text };
      else yield { kind: 'tool-call', providerCallId: 'p', name: 'ask', arguments: '{}' };
      yield ends(last?.role === 'tool' ? 'answer' : 'tool-calls');
    },
  });
  await send(gateway, 'go');
  const events = await follow(gateway, 'one', (event) => event.kind === 'entry' && event.entry.kind === 'notice');
  const last = events.at(-1);
  assert.ok(last?.kind === 'entry' && last.entry.kind === 'notice' && last.entry.question !== undefined);
  await gateway.clock.advance(0);
  return { gateway, callId: last.entry.question.callId };
}

test('a question is answered through the API, once, and the turn goes on at once', async () => {
  const { gateway, callId } = await gatewayThatAsks(600_000);
  assert.equal(gateway.drain.counts().running, 0, 'nobody is at work while it waits');
  assert.deepEqual(
    [await gateway.api.answer('one', callId, 'yes'), await gateway.api.answer('one', callId, 'no')],
    [true, false],
  );
  assert.deepEqual(assistantTexts(await follow(gateway, 'one', isClosed)).at(-1), 'they said yes');
  await gateway.close();
});

test('a question that nobody answers times out by the clock, also in the process after this one', async () => {
  const { gateway } = await gatewayThatAsks(600_000);
  await gateway.clock.advance(599_000);
  assert.equal((await gateway.api.session('one'))?.state, 'running');
  await gateway.clock.advance(2_000);
  assert.deepEqual(assistantTexts(await follow(gateway, 'one', isClosed)).at(-1), 'they said null');
  await gateway.close();

  const { gateway: first } = await gatewayThatAsks(1_000);
  await first.drain.leave(0);
  const second = await openTestGateway({ answer: echo, wrapStore: () => first.store });
  await second.clock.advance(2_000);
  await second.drain.recover();
  const events = await follow(second, 'one', isClosed);
  assert.match(JSON.stringify(events), /can not take an answer any more|There is no tool named/);
  await second.close();
});

test('a stop ends a turn that waits for a person', async () => {
  const { gateway } = await gatewayThatAsks(600_000);
  assert.equal(await gateway.api.stop('one'), true);
  const events = await follow(gateway, 'one', isClosed);
  const [closed] = events.flatMap((event) =>
    event.kind === 'entry' && event.entry.kind === 'turn-closed' ? [event.entry.outcome] : [],
  );
  assert.equal(closed, 'stopped');
  await gateway.close();
});

test('a message that was stored by a process that died before it could begin is answered when it is sent again', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const ids = countingIdSource();
  const session = { kind: 'by-key', key: 'cli:direct:one', id: ids.next('ses'), name: 'one', owner: 'owner' } as const;
  const message = { role: 'user', parts: [{ kind: 'text', text: 'hello' }] } as const;
  const rest = {
    channel: 'cli',
    externalId: 'again',
    sender: 'me',
    message,
    contents: [],
    target: 'one',
    session,
    title: '',
    waitingMax: 9,
  };
  await gateway.store.admit({ inboxId: ids.next('inb'), ...rest });
  const receipt = await send(gateway, 'hello', 'one', 'again');
  assert.equal(receipt.duplicate, true);
  assert.deepEqual(assistantTexts(await follow(gateway, 'one', isClosed)), ['hello']);
  await gateway.close();
});

test('what stateless requests left behind is in no list, however much it is, and is found by its name', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const ids = createIdSource({ clock: gateway.clock, random: systemRandom });
  for (const name of ['first', 'second']) {
    await send(gateway, 'hi', name);
    await follow(gateway, name, isClosed);
    await gateway.clock.advance(1);
    for (let count = 0; count < 3; count++) {
      const id = ids.next('ses');
      const session = { name: `api-${name}-${count}`, title: '', createdAt: gateway.clock.now(), entries: [] };
      await gateway.store.importSession(id, statelessKey('laptop', id), 'api:laptop', session);
      await gateway.clock.advance(1);
    }
  }
  const listed = async (limit: number, before?: number) => {
    const page = before === undefined ? { limit } : { limit, before };
    return (await gateway.api.sessions(page)).map(({ name }) => name);
  };
  assert.deepEqual(
    [await listed(1), await listed(2), await listed(9)],
    [['second'], ['second', 'first'], ['second', 'first']],
  );
  const second = await gateway.api.session('second');
  assert.deepEqual(await listed(1, second?.updatedAt), ['first']);
  assert.equal((await gateway.api.session('api-first-0'))?.name, 'api-first-0');
  await gateway.close();
});
