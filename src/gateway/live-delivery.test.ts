import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sleep } from '../lib/clock.ts';
import { ModelError } from '../models/model.ts';
import type { Tool } from '../tools/tool.ts';
import {
  ends,
  hangs,
  openLiveGateway,
  says,
  toolThat,
  uses,
  type LiveGateway,
  type LiveGatewayOptions,
  type Model,
} from './test-live-gateway.ts';

async function withGateway(options: LiveGatewayOptions, body: (gateway: LiveGateway) => Promise<void>): Promise<void> {
  const gateway = await openLiveGateway(options);
  try {
    await body(gateway);
    assert.deepEqual(gateway.platform.problems, []);
  } finally {
    await gateway.close();
  }
}

const drafts = ({ store }: LiveGateway) => store.read.drafts('tele');
const rested = (gateway: LiveGateway) => assert.deepEqual(gateway.live.counts, { running: 0, drafts: 0 });

void describe('live display', () => {
  void test('an answer grows in a draft that the delivery takes the place of', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({
      models: [says(clock, 1_500, 'One ', 'two ', '```\nthree', '\n```\nfour')],
    });
    await gateway.say('count');
    await gateway.clock.advance(5_000);
    const [draft] = await drafts(gateway);
    assert.deepEqual([draft?.target, draft?.platformId], ['chat', 'm1'], 'what stands there is on record');
    await gateway.clock.advance(5_000);
    assert.deepEqual(gateway.platform.seen, [
      'draft m1: One',
      'edit m1: One two',
      'edit m1: One two ```\nthree',
      'edit m1: One two ```\nthree\n```\nfour\n```',
      'final m1: One two ```\nthree\n```\nfour',
    ]);
    assert.deepEqual([await drafts(gateway), gateway.platform.problems], [[], []]);
    rested(gateway);
    await gateway.close();
  });

  void test('a quick answer has no draft, and is typed all the same', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 100, 'Hi.')] });
    await gateway.say('hi');
    await gateway.clock.advance(60_000);
    assert.deepEqual(gateway.platform.seen, ['final m1: Hi.']);
    assert.deepEqual(gateway.platform.typingAtMs, [0]);
    await gateway.close();
  });

  void test('somebody is typing for as long as it takes and no longer', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 10_000, 'Hi.')] });
    await gateway.say('hi');
    await gateway.clock.advance(60_000);
    assert.deepEqual(gateway.platform.typingAtMs, [0, 4_000, 8_000]);
    await gateway.close();
  });

  void test('a running tool has a line below what was said, whose seconds go on, and which goes away with it', async () => {
    const clock = () => gateway.clock;
    const tool = toolThat(async () => (await sleep(clock(), 25_000), { kind: 'finished', text: 'ok' }));
    const models = [uses('terminal', '{"command":"npm test"}', 'Let me see.'), says(clock, 2_000, 'All ', 'is well.')];
    const gateway = await openLiveGateway({ models, tool });
    await gateway.say('test it');
    await gateway.clock.advance(60_000);
    assert.deepEqual(gateway.platform.seen, [
      'draft m1: Let me see.\n\nterminal: npm test · 1 s',
      'edit m1: Let me see.\n\nterminal: npm test · 11 s',
      'edit m1: Let me see.\n\nterminal: npm test · 21 s',
      'edit m1: All',
      'edit m1: All is well.',
      'final m1: All is well.',
    ]);
    rested(gateway);
    await gateway.close();
  });

  void test('a model that says nothing for long is seen to be waited for', async () => {
    await withGateway({ models: [hangs] }, async ({ say, clock, platform }) => {
      await say('hi');
      await clock.advance(20_000);
      assert.deepEqual(platform.seen, ['draft m1: Still waiting for scripted/script.']);
    });
  });

  void test('trouble with a model is shown in place, and what the failed attempt said is not', async () => {
    const clock = () => gateway.clock;
    const fails: Model = async function* () {
      yield { kind: 'text-delta', text: 'Well, ' };
      await sleep(clock(), 3_000);
      yield {
        kind: 'failed',
        error: new ModelError('overloaded', 'test is busy.', { retryable: true, retryAfterMs: 9_000 }),
      };
    };
    const gateway = await openLiveGateway({ models: [fails, says(clock, 3_000, 'Here I am.')] });
    await gateway.say('hi');
    await gateway.clock.advance(60_000);
    const [first, second, ...others] = gateway.platform.seen;
    assert.equal(first, 'draft m1: Well,');
    assert.match(second ?? '', /^edit m1: test is busy\. Trying again in \d+ s\.$/);
    assert.deepEqual(others, ['edit m1: Here I am.', 'final m1: Here I am.']);
    await gateway.close();
  });

  void test('a stop with nothing said removes the draft, and one with something said makes it the answer', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [hangs, says(clock, 60_000, 'Half an')] });
    const sessionId = await gateway.say('one');
    await gateway.clock.advance(15_000);
    assert.deepEqual([...gateway.platform.messages.values()], ['Still waiting for scripted/script.']);
    await gateway.drain.stop(sessionId);
    await gateway.clock.advance(10);
    assert.deepEqual([[...gateway.platform.messages.values()], await drafts(gateway)], [[], []]);
    rested(gateway);
    await gateway.say('two');
    await gateway.clock.advance(5_000);
    await gateway.drain.stop(sessionId);
    await gateway.clock.advance(10);
    assert.deepEqual(gateway.platform.seen.slice(-2), ['draft m2: Half an', 'final m2: Half an']);
    rested(gateway);
    await gateway.close();
  });

  void test('a question takes the place of the draft, and what comes after the answer begins another', async () => {
    const clock = () => gateway.clock;
    const tool = toolThat(
      async () => {
        await sleep(clock(), 3_000);
        return { kind: 'ask', text: 'Shall I?', choices: ['yes', 'no'], deadline: clock().now() + 600_000 };
      },
      async (_input, answer) => {
        await sleep(clock(), 3_000);
        return { kind: 'finished', text: `they said ${answer}` };
      },
    );
    const models = [uses('terminal', '{"command":"rm -r x"}'), says(clock, 10, 'Done.')];
    const gateway = await openLiveGateway({ models, tool });
    const sessionId = await gateway.say('tidy up');
    await gateway.clock.advance(100_000);
    const { platform, store } = gateway;
    assert.deepEqual(platform.seen, ['draft m1: terminal: rm -r x · 1 s', 'final m1: Shall I?']);
    assert.deepEqual(
      platform.deliveries[0]?.buttons.map(({ label }) => label),
      ['yes', 'no'],
    );
    const typed = platform.typingAtMs.length;
    assert.deepEqual([typed, await drafts(gateway)], [1, []], 'nobody types while a person is waited for');

    const call = (await store.read.journal(sessionId, 0))?.unsettledCalls[0];
    assert.ok(call !== undefined && (await store.answerCall(sessionId, call.id, 'yes')));
    gateway.drain.wake(sessionId);
    await gateway.clock.advance(100_000);
    assert.deepEqual(platform.seen.slice(2), ['draft m2: terminal: rm -r x · 1 s', 'final m2: Done.']);
    rested(gateway);
    await gateway.close();
  });

  void test('a file stands below what was shown before it, and the work goes on below the file', async () => {
    const clock = () => gateway.clock;
    const file = { name: 'a.pdf', mediaType: 'application/pdf', bytes: Uint8Array.of(1) };
    const tool = toolThat(async () => {
      await sleep(clock(), 5_000);
      return { kind: 'finished', text: 'sent', files: [file] };
    });
    const gateway = await openLiveGateway({
      models: [uses('terminal', '{}', 'Here it comes.'), says(clock, 3_000, 'There ', 'it is.')],
      tool,
    });
    await gateway.say('send it');
    await gateway.clock.advance(60_000);
    const kinds = gateway.platform.changes.map(({ kind, id }) => `${kind} ${id}`);
    const [draft, rest] = [kinds.slice(0, kinds.indexOf('remove m1')), kinds.slice(kinds.indexOf('remove m1'))];
    assert.ok(draft.length > 0 && draft.every((change) => change.endsWith('m1')));
    assert.deepEqual(rest.slice(0, 3), ['remove m1', 'final m2', 'draft m3']);
    assert.equal(rest.at(-1), 'final m3');
    assert.deepEqual(
      gateway.platform.deliveries.map((delivery) => [delivery.file?.name ?? null, delivery.replaces]),
      [
        ['a.pdf', null],
        [null, 'm3'],
      ],
    );
    assert.deepEqual([await drafts(gateway), gateway.platform.problems], [[], []]);
    rested(gateway);
    await gateway.close();
  });

  void test('what no turn says leaves the draft alone', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 5_000, 'One ', 'two.')] });
    const sessionId = await gateway.say('count');
    await gateway.clock.advance(3_000);
    const { store, ids, platform } = gateway;
    const reply = { outboxId: ids.next('out'), channel: 'tele', target: 'chat', text: 'status: fine', buttons: [] };
    await store.queueMessage({ ...reply, sessionId, answers: null });
    await store.queueMessage({
      ...reply,
      outboxId: ids.next('out'),
      text: 'for nobody',
      sessionId: null,
      answers: null,
    });
    gateway.outbox.poke();
    await gateway.clock.advance(30_000);
    assert.deepEqual(platform.seen, [
      'draft m1: One',
      'final m2: status: fine',
      'final m3: for nobody',
      'edit m1: One two.',
      'final m1: One two.',
    ]);
    await gateway.close();
  });

  void test('an edit under way is waited for before the answer takes its place', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 1_800, 'One ', 'two.')] });
    gateway.platform.script.push({ latencyMs: 0, answer: 'ok' }, { latencyMs: 4_000, answer: 'ok' });
    await gateway.say('count');
    await gateway.clock.advance(30_000);
    assert.deepEqual(gateway.platform.seen, ['draft m1: One', 'edit m1: One two.', 'final m1: One two.']);
    assert.deepEqual(gateway.platform.problems, []);
    await gateway.close();
  });

  void test('an edit that never ends holds up no answer: it goes out by itself, and the draft goes away', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 1_800, 'One ', 'two.')] });
    gateway.platform.script.push({ latencyMs: 0, answer: 'ok' }, { latencyMs: 100_000, answer: 'ok' });
    await gateway.say('count');
    await gateway.clock.advance(20_000);
    assert.deepEqual([...gateway.platform.messages.values()], ['One', 'One two.']);
    await gateway.clock.advance(100_000);
    assert.deepEqual([...gateway.platform.messages.values()], ['One two.']);
    rested(gateway);
    await gateway.close();
  });

  void test('what can not be shown disturbs nothing', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 3_000, 'One ', 'two ', 'three.')] });
    gateway.platform.script.push(...Array.from({ length: 20 }, () => ({ latencyMs: 0, answer: 'throws' }) as const));
    await gateway.say('count');
    await gateway.clock.advance(60_000);
    assert.deepEqual(gateway.platform.seen, ['final m1: One two three.']);
    assert.ok(gateway.platform.script.length >= 17, 'what fails is not tried all the time');
    rested(gateway);
    await gateway.close();
  });

  void test('an answer whose delivery has to be tried again takes the place of its draft then, unmarked', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 3_000, 'One ', 'two.')] });
    gateway.platform.deliveryScript.push({ kind: 'retry', afterMs: 0, error: 'timed out' });
    await gateway.say('count');
    await gateway.clock.advance(200_000);
    assert.deepEqual(gateway.platform.seen.at(-1), 'final m1: One two.');
    assert.deepEqual(
      gateway.platform.deliveries.map(({ replaces }) => replaces),
      ['m1', 'm1'],
    );
    rested(gateway);
    await gateway.close();
  });

  void test('the next turn has a draft of its own while the answer of the one before is still on its way', async () => {
    const clock = () => gateway.clock;
    const models = [says(clock, 3_000, 'First.'), says(clock, 60_000, 'Second.')];
    const gateway = await openLiveGateway({ models, joinWaiting: false });
    gateway.platform.deliveryScript.push({ kind: 'retry', afterMs: 30_000, error: 'busy', notSent: true });
    await gateway.say('one');
    await gateway.clock.advance(4_000);
    await gateway.say('two');
    await gateway.clock.advance(6_000);
    assert.deepEqual([...gateway.platform.messages.values()], ['First.', 'Second.']);
    await gateway.clock.advance(40_000);
    assert.deepEqual(gateway.platform.seen.at(-1), 'final m1: First.');
    assert.deepEqual(
      (await drafts(gateway)).map(({ platformId }) => platformId),
      ['m2'],
      'still on record',
    );
    await gateway.clock.advance(60_000);
    assert.deepEqual([...gateway.platform.messages.values()], ['First.', 'Second.']);
    assert.deepEqual(
      gateway.platform.deliveries.map(({ replaces }) => replaces),
      ['m1', 'm1', 'm2'],
    );
    rested(gateway);
    await gateway.close();
  });

  void test('an answer that had no draft does not take the place of the next turn’s', async () => {
    const clock = () => gateway.clock;
    const models = [says(clock, 10, 'First.'), says(clock, 60_000, 'Second.')];
    const gateway = await openLiveGateway({ models, joinWaiting: false });
    gateway.platform.deliveryScript.push({ kind: 'retry', afterMs: 20_000, error: 'busy' });
    await gateway.say('one');
    await gateway.clock.advance(100);
    await gateway.say('two');
    await gateway.clock.advance(30_000);
    assert.deepEqual(
      gateway.platform.deliveries.map(({ text, replaces }) => [text, replaces]),
      [
        ['First.', null],
        ['(possibly repeated) First.', null],
      ],
    );
    await gateway.clock.advance(60_000);
    assert.deepEqual([...gateway.platform.messages.values()], ['Second.', '(possibly repeated) First.']);
    rested(gateway);
    await gateway.close();
  });

  void test('a question asked while other tools still run takes the draft, and their progress another', async () => {
    const clock = () => gateway.clock;
    const asking: Tool = {
      ...toolThat(
        async (input) => {
          const { wait } = input as { wait?: number };
          await sleep(clock(), wait ?? 2_000);
          if (wait !== undefined) return { kind: 'finished', text: 'ok' };
          return { kind: 'ask', text: 'Shall I?', choices: ['yes', 'no'], deadline: clock().now() + 600_000 };
        },
        async () => ({ kind: 'finished', text: 'so be it' }),
      ),
      sideBySide: () => 'any',
    };
    const both: Model = async function* () {
      yield { kind: 'tool-call', providerCallId: 'a', name: 'terminal', arguments: '{"command":"ask"}' };
      yield { kind: 'tool-call', providerCallId: 'b', name: 'terminal', arguments: '{"command":"wait","wait":30000}' };
      yield ends('tool-calls');
    };
    const gateway = await openLiveGateway({ models: [both, says(clock, 10, 'Done.')], tool: asking });
    gateway.outbox.poke();
    await gateway.say('do both');
    await gateway.clock.advance(12_000);
    const [first, question, second] = gateway.platform.seen;
    assert.deepEqual([first, question], ['draft m1: terminal: ask (+1) · 1 s', 'final m1: Shall I?']);
    assert.match(second ?? '', /^draft m2: terminal: /);
    assert.deepEqual(
      (await drafts(gateway)).map(({ platformId }) => platformId),
      ['m2'],
    );
    await gateway.clock.advance(700_000);
    assert.deepEqual([...gateway.platform.messages.values()], ['Shall I?', 'Done.']);
    rested(gateway);
    await gateway.close();
  });

  void test('the draft goes where the newest message of the turn came from', async () => {
    const clock = () => gateway.clock;
    const tool = toolThat(async () => (await sleep(clock(), 5_000), { kind: 'finished', text: 'ok' }));
    const models = [uses('terminal', '{}'), says(clock, 5_000, 'Done.')];
    const gateway = await openLiveGateway({ models, tool });
    await gateway.say('do it', 'chat', 'here');
    await gateway.clock.advance(3_000);
    await gateway.say('and quickly', 'chat', 'there');
    await gateway.clock.advance(30_000);
    assert.deepEqual(gateway.platform.seen, [
      'draft m1: terminal · 1 s',
      'remove m1: ',
      'draft m2: Done.',
      'final m2: Done.',
    ]);
    assert.deepEqual([gateway.platform.deliveries[0]?.target, await drafts(gateway)], ['there', []]);
    rested(gateway);
    await gateway.close();
  });

  void test('after a restart the turn that goes on takes its draft over', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 60_000, 'Half an')] });
    const sessionId = await gateway.say('hi');
    await gateway.clock.advance(5_000);
    await gateway.leave();
    assert.deepEqual([...gateway.platform.messages.values()], ['Half an'], 'it stays where it is');
    const next = await openLiveGateway({ models: [says(clock, 3_000, 'A whole ', 'answer.')], after: gateway });
    await next.live.recover();
    next.drain.wake(sessionId);
    await next.clock.advance(30_000);
    assert.deepEqual(next.platform.seen, [
      'draft m1: Half an',
      'edit m1: A whole',
      'edit m1: A whole answer.',
      'final m1: A whole answer.',
    ]);
    rested(next);
    await next.close();
  });

  void test('after a restart a draft whose turn is over is removed, unless its answer is still to come', async () => {
    const gateway = await openLiveGateway({
      models: [
        async function* () {
          yield { kind: 'text-delta', text: 'Hi.' };
          yield ends('answer');
        },
      ],
    });
    const { platform, store } = gateway;
    platform.deliveryScript.push({ kind: 'retry', afterMs: 0, error: 'timed out' });
    const one = await gateway.say('one', 'one');
    await gateway.clock.advance(100);
    const lost = await openLiveGateway({ models: [hangs], after: gateway });
    const two = await lost.say('two', 'two');
    await gateway.clock.advance(100);
    await lost.drain.stop(two);
    await gateway.clock.advance(100);
    await gateway.leave();
    await lost.leave();
    for (const [sessionId, target] of [
      [one, 'one'],
      [two, 'two'],
    ] as const) {
      const platformId = await platform.channel.live?.draft(
        target,
        `draft of ${target}`,
        null,
        new AbortController().signal,
      );
      await store.noteDraft(sessionId, { channel: 'tele', target, platformId: platformId ?? '' });
    }
    const next = await openLiveGateway({ models: [], after: gateway });
    const word = { outboxId: next.ids.next('out'), channel: 'tele', target: 'two', text: 'A word.', buttons: [] };
    await store.queueMessage({ ...word, sessionId: two, answers: null });
    await next.live.recover();
    next.outbox.poke();
    await next.clock.advance(100_000);
    assert.deepEqual([...platform.messages.values()], ['Hi.', 'A word.']);
    assert.equal(platform.deliveries.find(({ text }) => text === 'A word.')?.replaces, null);
    assert.deepEqual(await drafts(next), []);
    rested(next);
    await next.close();
  });
});
