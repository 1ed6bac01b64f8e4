import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sleep } from '../lib/clock.ts';
import type { LiveEvent } from '../protocol/events.ts';
import type { SessionId } from '../protocol/ids.ts';
import { StoreError } from '../store/store.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { hangs, openLiveGateway, says, toolThat, uses, type LiveGateway, type Model } from './test-live-gateway.ts';
import { Watchdog } from './watchdog.ts';

const limits = { warningMs: 900_000, timeoutMs: 1_800_000 };
const second = 1_000;

/** What the people were sent, without drafts. */
const told = ({ platform }: LiveGateway) => platform.deliveries.map(({ text }) => text);

const log = async ({ store }: LiveGateway, sessionId: SessionId) =>
  (await store.read.entries(sessionId, { after: 0, limit: 100 }))
    .map((entry) => (entry.kind === 'notice' ? entry.text : entry.kind === 'turn-closed' ? entry.outcome : null))
    .filter((text) => text !== null);

const warning =
  'Nothing has happened for 15 min (last: the model was writing). It ends by itself after 30 min of that. /stop ends it now.';
const end =
  'Nothing has happened for 30 min (last: the model was writing), so the turn was ended. Write again to go on.';

void describe('the watchdog', () => {
  void test('C55 warns at 900 s of silence and ends the turn at 1800 s, and says so both times', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 86_400_000, 'Well, ')], limits });
    const sessionId = await gateway.say('hi');
    await gateway.clock.advance(899 * second);
    assert.deepEqual(told(gateway), []);
    await gateway.clock.advance(2 * second);
    assert.deepEqual(told(gateway), [warning]);
    assert.deepEqual(gateway.platform.deliveries[0]?.buttons, [{ label: 'Stop', value: `${sessionId} /stop` }]);
    assert.equal(gateway.hub.current(sessionId)?.status, warning, 'who looks at the session sees it too');

    await gateway.clock.advance(898 * second);
    assert.deepEqual(told(gateway), [warning]);
    await gateway.clock.advance(2 * second);
    assert.deepEqual(told(gateway), [warning, end, 'Well, ']);
    assert.deepEqual(await log(gateway, sessionId), [end, 'stopped']);
    assert.deepEqual([gateway.drain.counts(), gateway.watchdog.activity(sessionId)], [{ running: 0, queued: 0 }, null]);
    await gateway.close();
  });

  void test('C55 a turn stuck for 1750 s and then interrupted is ended 50 s later', async () => {
    const gateway = await openLiveGateway({ models: [hangs, hangs], limits });
    const sessionId = await gateway.say('one');
    await gateway.clock.advance(1_750 * second);
    await gateway.say('two');
    await gateway.drain.stop(sessionId);
    await gateway.clock.advance(49 * second);
    assert.equal(gateway.clock.now() - (gateway.watchdog.activity(sessionId)?.at ?? 0), 1_799 * second);
    assert.deepEqual(await log(gateway, sessionId), ['stopped']);
    await gateway.clock.advance(2 * second);
    const [, notice, outcome] = await log(gateway, sessionId);
    assert.match(notice ?? '', /^Nothing has happened for 30 min \(last: starting new turn \(cached\)\)/);
    assert.equal(outcome, 'stopped');
    assert.equal(told(gateway).filter((text) => text.includes('It ends by itself')).length, 1, 'warned once');
    await gateway.close();
  });

  void test('what waits when a turn was ended is a fresh message, with all the time there is', async () => {
    const clock = () => gateway.clock;
    const late: Model = async function* (signal) {
      await sleep(clock(), 1_000 * second, signal);
      yield* says(clock, 10, 'Here.')(signal);
    };
    const models = [hangs, late];
    const gateway = await openLiveGateway({
      models,
      limits: { warningMs: 0, timeoutMs: 1_800_000 },
      joinWaiting: false,
    });
    await gateway.say('one');
    await gateway.clock.advance(1_000 * second);
    await gateway.say('two');
    await gateway.clock.advance(2_500 * second);
    assert.equal(told(gateway).at(-1), 'Here.');
    await gateway.close();
  });

  void test('C55 a session idle for 29 minutes does not trip it on its next message', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({
      models: [says(clock, 10, 'One.'), says(clock, 600 * second, 'Two.')],
      limits,
    });
    const sessionId = await gateway.say('one');
    await gateway.clock.advance(29 * 60 * second);
    await gateway.say('two');
    await gateway.clock.advance(second);
    assert.equal(gateway.watchdog.activity(sessionId)?.description, 'the model was writing');
    await gateway.clock.advance(700 * second);
    assert.deepEqual(told(gateway), ['One.', 'Two.']);
    await gateway.close();
  });

  void test('a sign of life from a tool begins the time anew, and so does a warning', async () => {
    const clock = () => gateway.clock;
    const tool = toolThat(async (_input, { onOutput, signal }): Promise<ToolOutcome> => {
      for (let line = 0; line < 5; line += 1) {
        await sleep(clock(), 1_000 * second, signal);
        onOutput(`line ${line}\n`);
      }
      return { kind: 'finished', text: 'ok' };
    });
    const gateway = await openLiveGateway({
      models: [uses('terminal', '{"command":"make"}'), says(clock, 10, 'Made.')],
      tool,
      limits,
    });
    const sessionId = await gateway.say('make it');
    await gateway.clock.advance(1_001 * second);
    assert.equal(gateway.hub.current(sessionId)?.status, '', 'the warning is over');
    await gateway.clock.advance(5_000 * second);
    const warnings = told(gateway).filter((text) =>
      text.startsWith('Nothing has happened for 15 min (last: terminal: make).'),
    );
    assert.deepEqual([warnings.length, told(gateway).at(-1)], [5, 'Made.']);
    await gateway.close();
  });

  void test('waiting for a person is not inactivity', async () => {
    const clock = () => gateway.clock;
    const deadline = () => clock().now() + 7_200 * second;
    const tool = toolThat(
      async () => ({ kind: 'ask', text: 'Shall I?', choices: ['yes', 'no'], deadline: deadline() }),
      async (_input, answer) => ({ kind: 'finished', text: answer ?? 'nobody' }),
    );
    const gateway = await openLiveGateway({ models: [uses('terminal', '{}'), says(clock, 10, 'Done.')], tool, limits });
    await gateway.say('tidy up');
    await gateway.clock.advance(7_100 * second);
    assert.deepEqual(told(gateway), ['Shall I?']);
    await gateway.clock.advance(200 * second);
    assert.deepEqual(told(gateway), ['Shall I?', 'Done.']);
    await gateway.close();
  });

  void test('0 switches off the warning, the end, or both', async () => {
    for (const { warningMs, timeoutMs, texts } of [
      { warningMs: 0, timeoutMs: 0, texts: 0 },
      { warningMs: 0, timeoutMs: 1_800_000, texts: 1 },
      { warningMs: 900_000, timeoutMs: 0, texts: 1 },
      { warningMs: 1_800_000, timeoutMs: 1_800_000, texts: 1 },
    ]) {
      const gateway = await openLiveGateway({ models: [hangs], limits: { warningMs, timeoutMs } });
      const sessionId = await gateway.say('hi');
      await gateway.clock.advance(7_200 * second);
      assert.equal(told(gateway).length, texts);
      assert.equal((await log(gateway, sessionId)).includes('stopped'), timeoutMs > 0);
      await gateway.close();
    }
  });

  void test('the people are told before the turn is ended, and once, however often the end has to be tried', async () => {
    const gateway = await openLiveGateway({ models: [hangs] });
    const order: string[] = [];
    let failures = 2;
    const watchdog = new Watchdog({
      ...gateway,
      log: { debug() {}, info() {}, warn() {}, error() {}, with: () => assert.fail() },
      limits: () => ({ warningMs: 0, timeoutMs: 600_000 }),
      store: { read: gateway.store.read, queueMessage: async ({ text }) => (order.push(text), true) },
      onQueued: () => order.push('delivered'),
      async stopBecause() {
        order.push('stopped');
        if (failures-- > 0) throw new StoreError('disk-full', 'The disk is full.');
        return true;
      },
    });
    const sessionId = await gateway.say('hi');
    await gateway.clock.advance(1);
    const turnId = (await gateway.store.read.journal(sessionId, 0))?.openTurn?.id;
    assert.ok(turnId !== undefined);
    watchdog.see(sessionId, { kind: 'turn-started', turnId } satisfies LiveEvent);
    await gateway.clock.advance(1_200 * second);
    const [text, ...others] = order;
    assert.match(text ?? '', /so the turn was ended/);
    assert.deepEqual(others, ['delivered', 'stopped', 'stopped', 'stopped']);
    watchdog.close();
    await gateway.close();
  });

  void test('nothing is kept of sessions that rest', async () => {
    const clock = () => gateway.clock;
    const gateway = await openLiveGateway({ models: [says(clock, 10, 'One.')], limits });
    await gateway.say('one');
    await gateway.clock.advance(60 * second);
    await gateway.leave();
    assert.equal(gateway.clock.pendingTimers, 0);
    await gateway.store.close();
  });
});
