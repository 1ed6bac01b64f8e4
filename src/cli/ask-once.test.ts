import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { seededRandom } from '../lib/random.ts';
import type { SessionEvent } from '../protocol/events.ts';
import { askOnce, type AskDeps, type Question } from './ask-once.ts';
import { Interrupted } from './command.ts';
import type { ConnectResult, Connection } from './connect.ts';
import { FakeApi, FakeHome, type FakeApiHooks } from '../../test/support/fake-api.ts';

const question: Question = { session: { kind: 'named', name: 'work' }, text: 'hello', externalId: 'ask-1' };

/** A client whose n-th connection leads to the n-th of these; the last one is used for all further ones. */
function setUp(connections: (FakeApi | 'held')[], place: Connection['place'] = 'gateway') {
  const clock = new FakeClock();
  const interrupting = new AbortController();
  const events: SessionEvent[] = [];
  const notes: string[] = [];
  let closed = 0;
  const deps: AskDeps = {
    clock,
    random: seededRandom(1),
    interrupt: interrupting.signal,
    connect: (): Promise<ConnectResult> => {
      const api = connections.length > 1 ? connections.shift() : connections[0];
      if (api === undefined || api === 'held') {
        return Promise.resolve({ kind: 'held', problem: 'in use by the other one' });
      }
      const close = () => Promise.resolve(void closed++);
      return Promise.resolve({ kind: 'connected', connection: { api, place, close } });
    },
    onEvent: (event) => Promise.resolve(void events.push(event)),
    canAnswer: true,
    onNote: (line) => notes.push(line),
  };
  return { deps, clock, interrupting, events, notes, closed: () => closed };
}

const answering: FakeApiHooks = {
  onSend(session, inboxId) {
    const home = homeOf.get(session);
    const turnId = home?.openTurn(session, inboxId);
    if (home === undefined || turnId === undefined) return;
    home.say(session, turnId, 'thinking');
    home.say(session, turnId, 'hello to you');
    home.close(session, turnId, 'answered');
  },
};
/** Lets time pass until the promise has settled. */
async function inTime<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  const waiting = { is: true };
  const settle = () => void (waiting.is = false);
  promise.then(settle, settle);
  for (let step = 0; waiting.is && step < 1_000; step++) await clock.advance(100);
  assert.ok(!waiting.is, 'it takes for ever');
  return promise;
}

const homeOf = new WeakMap<object, FakeHome>();

function createHome(): FakeHome {
  const home = new FakeHome();
  const create = home.create.bind(home);
  home.create = (name) => {
    const session = create(name);
    homeOf.set(session, home);
    return session;
  };
  return home;
}

describe('asking once', () => {
  test('gives the last thing said in the turn that answers', async () => {
    const { deps, events, closed } = setUp([new FakeApi(createHome(), answering)]);
    const answer = await askOnce(deps, question);
    assert.deepEqual(answer, { outcome: 'answered', reply: 'hello to you', notices: [], session: 'work' });
    assert.deepEqual(
      events.map((event) => (event.kind === 'entry' ? event.entry.kind : event.kind)),
      ['turn-opened', 'message', 'message', 'message', 'turn-closed'],
    );
    assert.equal(closed(), 1);
  });

  test('is not misled by other turns of the session, before and after its own', async () => {
    const home = createHome();
    const session = home.create('work');
    const earlier = home.ids.next('trn');
    const api = new FakeApi(home, {
      onSend(_session, inboxId) {
        home.say(session, earlier, 'an answer to somebody else');
        home.close(session, earlier, 'failed');
        const turnId = home.openTurn(session, inboxId);
        home.say(session, turnId, 'mine');
        home.append(session, turnId, { kind: 'notice', text: 'nearly out of budget' });
        home.close(session, turnId, 'answered');
      },
    });
    const { deps } = setUp([api]);
    assert.deepEqual(await askOnce(deps, question), {
      outcome: 'answered',
      reply: 'mine',
      notices: ['nearly out of budget'],
      session: 'work',
    });
  });

  test('sends again under the same id when the gateway dies, and is answered once', async () => {
    const home = createHome();
    const dying: FakeApi = new FakeApi(home, {
      onSend(session, inboxId) {
        const turnId = home.openTurn(session, inboxId);
        home.say(session, turnId, 'half');
        setImmediate(() => dying.die());
      },
    });
    const next = new FakeApi(home, {
      onSend(session) {
        const turnId = session.entries.at(-1)?.turnId ?? home.ids.next('trn');
        home.say(session, turnId, 'whole');
        home.close(session, turnId, 'answered');
      },
    });
    const { deps, clock, events, notes, closed } = setUp([dying, 'held', next]);
    assert.deepEqual(await inTime(clock, askOnce(deps, question)), {
      outcome: 'answered',
      reply: 'whole',
      notices: [],
      session: 'work',
    });
    assert.deepEqual(next.calls, ['send work', 'events after 3']);
    assert.equal(home.admitted.size, 1);
    const seqs = events.filter((event) => event.kind === 'entry').map((event) => event.entry.seq);
    assert.deepEqual(seqs, [1, 2, 3, 4, 5]);
    assert.deepEqual(notes, ['the connection to the gateway broke; connecting again']);
    assert.equal(closed(), 2);
  });

  test('finds its message again when the gateway died before it could acknowledge it', async () => {
    const home = createHome();
    const dying: FakeApi = new FakeApi(home, { onSend: () => dying.die() });
    const { deps, clock } = setUp([dying, new FakeApi(home, answering)]);
    assert.deepEqual(await inTime(clock, askOnce(deps, { ...question, session: { kind: 'new' } })), {
      outcome: 'answered',
      reply: 'hello to you',
      notices: [],
      session: 'chat-1',
    });
    assert.equal(home.sessions.length, 1);
  });

  test('gives up after a bounded number of broken connections', async () => {
    const home = createHome();
    const dead = new FakeApi(home);
    dead.die();
    let connections = 0;
    const { deps, clock } = setUp([dead]);
    const counting: AskDeps = { ...deps, connect: () => (connections++, deps.connect()) };
    await assert.rejects(inTime(clock, askOnce(counting, question)), { name: 'ApiError', reason: 'unreachable' });
    assert.equal(connections, 5);
  });

  test('goes on as long as each new gateway brings the turn forward', async () => {
    const home = createHome();
    const restarts = Array.from({ length: 12 }, (_, index) => {
      const api: FakeApi = new FakeApi(home, {
        onSend(session, inboxId) {
          const turnId = session.entries.at(-1)?.turnId ?? home.openTurn(session, inboxId);
          home.say(session, turnId, `step ${index}`);
          if (index === 11) home.close(session, turnId, 'answered');
          else setImmediate(() => api.die());
        },
      });
      return api;
    });
    const { deps, clock } = setUp(restarts);
    assert.equal((await inTime(clock, askOnce(deps, question))).reply, 'step 11');
  });

  test('says at once who holds the home if it was never reached', async () => {
    const { deps } = setUp(['held']);
    await assert.rejects(askOnce(deps, question), {
      name: 'CliError',
      message: 'in use by the other one',
      exitCode: 1,
    });
  });

  test('follows the stream anew if it ends without a reason', async () => {
    const home = createHome();
    const api: FakeApi = new FakeApi(home, {
      onSend(session, inboxId) {
        const turnId = home.openTurn(session, inboxId);
        setImmediate(() => {
          for (const stream of session.streams) stream.close();
          home.say(session, turnId, 'still here');
          home.close(session, turnId, 'answered');
        });
      },
    });
    const { deps, notes } = setUp([api]);
    assert.equal((await askOnce(deps, question)).reply, 'still here');
    assert.deepEqual(api.calls, ['send work', 'events after 0', 'events after 2']);
    assert.deepEqual(notes, []);
  });

  test('tells every stored event once, though the stream repeats some', async () => {
    class Stuttering extends FakeApi {
      override async *events(ref: string, after: number, signal: AbortSignal): AsyncGenerator<SessionEvent> {
        for await (const event of super.events(ref, after, signal)) yield* [event, event];
      }
    }
    const { deps, events } = setUp([new Stuttering(createHome(), answering)]);
    assert.equal((await askOnce(deps, question)).reply, 'hello to you');
    const seqs = events.filter((event) => event.kind === 'entry').map((event) => event.entry.seq);
    assert.deepEqual(seqs, [1, 2, 3, 4, 5]);
  });

  test('a question on the way is told as its turn’s own, and does not explain how the turn ended', async () => {
    const home = createHome();
    const api = new FakeApi(home, {
      onSend(session, inboxId) {
        const turnId = home.openTurn(session, inboxId);
        home.ask(session, home.ids.next('trn'), { text: 'Theirs?', choices: null, deadline: 1 });
        home.ask(session, turnId, { text: 'Ours?', choices: null, deadline: 1 });
        home.close(session, turnId, 'failed');
      },
    });
    const { deps, clock } = setUp([api]);
    const asked: string[] = [];
    const onEvent: AskDeps['onEvent'] = async (event, { isOurs, session, connection }) => {
      if (event.kind !== 'entry' || event.entry.kind !== 'notice') return;
      asked.push(`${event.entry.text} ${isOurs} ${session} ${connection.place}`);
    };
    const answer = await inTime(clock, askOnce({ ...deps, onEvent }, question));
    assert.deepEqual(asked, ['Theirs? false work gateway', 'Ours? true work gateway']);
    assert.deepEqual(answer, { outcome: 'failed', reply: '', notices: [], session: 'work' });
  });

  test('reports a failed turn with its notice', async () => {
    const home = createHome();
    const api = new FakeApi(home, {
      onSend(session, inboxId) {
        const turnId = home.openTurn(session, inboxId);
        home.append(session, turnId, { kind: 'notice', text: 'no key' });
        home.close(session, turnId, 'failed');
      },
    });
    const { deps } = setUp([api]);
    assert.deepEqual(await askOnce(deps, question), {
      outcome: 'failed',
      reply: '',
      notices: ['no key'],
      session: 'work',
    });
  });

  test('continues the latest session, and says so if there is none', async () => {
    const home = createHome();
    const { deps } = setUp([new FakeApi(home, answering)]);
    const latest: Question = { ...question, session: { kind: 'latest' } };
    await assert.rejects(askOnce(deps, latest), {
      message: 'there is no session to continue yet; ask without --continue to start one',
      exitCode: 1,
    });
    await askOnce(deps, { ...question, session: { kind: 'named', name: 'first' } });
    assert.equal((await askOnce(deps, { ...latest, externalId: 'ask-2' })).session, 'first');
  });

  test('ends with the reason when this process can not go on, but waits for a gateway in trouble', async () => {
    const home = createHome();
    const hooks: FakeApiHooks = {
      onSend(session, inboxId) {
        setImmediate(() => {
          home.show(session, { kind: 'trouble', text: 'the disk is full' });
          const turnId = home.openTurn(session, inboxId);
          home.say(session, turnId, 'after all');
          home.close(session, turnId, 'answered');
        });
      },
    };
    const alone = setUp([new FakeApi(home, hooks)], 'this-process');
    await assert.rejects(askOnce(alone.deps, question), { name: 'CliError', message: /^the disk is full/ });
    const patient = setUp([new FakeApi(home, hooks)], 'gateway');
    assert.equal((await askOnce(patient.deps, { ...question, externalId: 'ask-2' })).reply, 'after all');
    assert.deepEqual(patient.notes, ['the disk is full']);
  });
});

describe('interrupting', () => {
  test('stops the answering turn and waits for it to close', async () => {
    const home = createHome();
    const api = new FakeApi(home, {
      onSend: (session, inboxId) => void home.openTurn(session, inboxId),
      onStop: (session) => home.close(session, session.entries.at(-1)?.turnId ?? home.ids.next('trn'), 'stopped'),
    });
    const { deps, clock, interrupting } = setUp([api]);
    const asking = askOnce(deps, question);
    await clock.advance(0);
    interrupting.abort(new Interrupted());
    assert.equal((await asking).outcome, 'stopped');
    assert.deepEqual(api.calls, ['send work', 'events after 0', 'stop']);
  });

  test('waits for the own turn before it asks for a stop, so that no other turn is stopped', async () => {
    const home = createHome();
    const api = new FakeApi(home, {
      onStop: (session) => home.close(session, session.entries.at(-1)?.turnId ?? home.ids.next('trn'), 'stopped'),
    });
    const { deps, clock, interrupting } = setUp([api]);
    const asking = askOnce(deps, question);
    await clock.advance(0);
    interrupting.abort(new Interrupted());
    await clock.advance(1_000);
    assert.deepEqual(api.calls, ['send work', 'events after 0']);
    const admitted = [...home.admitted.values()][0];
    assert.ok(admitted);
    home.openTurn(admitted.session, admitted.inboxId);
    assert.equal((await asking).outcome, 'stopped');
  });

  test('leaves after a while if the turn does not close', async () => {
    const home = createHome();
    const api = new FakeApi(home, { onSend: (session, inboxId) => void home.openTurn(session, inboxId) });
    const { deps, clock, interrupting, closed } = setUp([api]);
    const asking = askOnce(deps, question);
    await clock.advance(0);
    interrupting.abort(new Interrupted());
    await clock.advance(10_000);
    assert.deepEqual(await asking, { outcome: null, reply: '', notices: [], session: 'work' });
    assert.equal(closed(), 1);
    assert.equal(clock.pendingTimers, 0);
  });

  test('before anything was sent sends nothing', async () => {
    const api = new FakeApi(createHome(), answering);
    const { deps, interrupting } = setUp([api]);
    interrupting.abort(new Interrupted());
    await assert.rejects(askOnce(deps, question), { name: 'Interrupted' });
    assert.deepEqual(api.calls, []);
  });

  test('ends the wait for a new connection', async () => {
    const dead = new FakeApi(createHome());
    dead.die();
    const { deps, clock, interrupting } = setUp([dead]);
    const asking = assert.rejects(askOnce(deps, question), { name: 'Interrupted' });
    await clock.advance(0);
    interrupting.abort(new Interrupted());
    await asking;
    assert.equal(clock.pendingTimers, 0);
  });
});
