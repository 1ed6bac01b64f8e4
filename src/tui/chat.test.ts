import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { FakeClock } from '../lib/fake-clock.ts';
import { seededRandom } from '../lib/random.ts';
import { FakeApi, FakeHome, type FakeApiHooks } from '../../test/support/fake-api.ts';
import { runChat, type ChatOptions } from './chat.ts';
import { createStyle } from './style.ts';

const ctrlC = '\u0003';
const ctrlD = '\u0004';

function setUp(apis: FakeApi[], session: ChatOptions['session'] = { kind: 'new' }) {
  const clock = new FakeClock();
  const input = new PassThrough();
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk: Buffer) => void (text += chunk.toString()));
  const interrupting = new AbortController();
  let closed = 0;
  const [first] = apis;
  assert.ok(first);
  const chatting = runChat({
    clock,
    random: seededRandom(1),
    ids: first.home.ids,
    session,
    input,
    output,
    style: createStyle(false),
    interrupt: interrupting.signal,
    connect: () => {
      const api = (apis.length > 1 ? apis.shift() : apis[0]) ?? first;
      return Promise.resolve({ api, close: () => Promise.resolve(void closed++) });
    },
  });
  const screen = () => stripVTControlCharacters(text).replaceAll('\r', '');
  return {
    clock,
    interrupting,
    chatting,
    screen,
    closed: () => closed,
    /** Lets things happen until the screen shows this. */
    async until(what: RegExp): Promise<void> {
      for (let step = 0; step < 500 && !what.test(screen()); step++) await clock.advance(20);
      assert.match(screen(), what);
    },
    async type(keys: string): Promise<void> {
      input.write(keys);
      await clock.advance(0);
    },
  };
}

function answering(home: FakeHome): FakeApiHooks {
  return {
    onSend(session, inboxId, request) {
      const turnId = home.openTurn(session, inboxId);
      home.say(session, turnId, `you said ${request.text}`);
      home.close(session, turnId, 'answered');
    },
  };
}

describe('the interactive chat', () => {
  test('says where it is, answers a line, and leaves on Ctrl-D', async () => {
    const home = new FakeHome();
    const chat = setUp([new FakeApi(home, answering(home))]);
    await chat.until(/a new session · offline rehearsal \(a rehearsal, no AI\)\n.*\n› $/);
    await chat.type('hello\r');
    await chat.until(/hello\n+you said hello\n› $/);
    await chat.type('again\r');
    await chat.until(/you said again\n› $/);
    await chat.type(ctrlD);
    await chat.chatting;
    assert.deepEqual([home.sessions.length, home.admitted.size, chat.closed()], [1, 2, 1]);
  });

  test('stops the reply on Ctrl-C and leaves on two at the prompt', async () => {
    const home = new FakeHome();
    const api = new FakeApi(home, {
      onSend: (session, inboxId) => void home.openTurn(session, inboxId),
      onStop: (session) => home.close(session, session.entries.at(-1)?.turnId ?? home.ids.next('trn'), 'stopped'),
    });
    const chat = setUp([api]);
    await chat.until(/› $/);
    await chat.type('work\r');
    await chat.type(ctrlC);
    await chat.until(/\(stopped\)\n› $/);
    assert.deepEqual(api.calls.filter((call) => call === 'stop').length, 1);
    await chat.type(ctrlC);
    await chat.until(/once more, or Ctrl-D, leaves\)\n› $/);
    await chat.type(ctrlC);
    await chat.chatting;
  });

  test('knows its commands and sends none of them', async () => {
    const home = new FakeHome();
    const api = new FakeApi(home, answering(home));
    const chat = setUp([api], { kind: 'named', name: 'work' });
    await chat.until(/session work/);
    await chat.type('first\r');
    await chat.until(/you said first\n› $/);
    await chat.type('/new\r');
    await chat.until(/a new session begins/);
    await chat.type('second\r');
    await chat.until(/you said second\n› $/);
    await chat.type('/sessions\r');
    await chat.until(/\* chat-2[^]* {2}work/);
    await chat.type('/resume nowhere\r');
    await chat.until(/there is no session "nowhere"/);
    await chat.type('/resume work\r');
    await chat.until(/now in work/);
    await chat.type('/stop\r');
    await chat.until(/nothing is running/);
    await chat.type('/status\r');
    await chat.until(/session {2}work\nmodel {4}offline rehearsal/);
    await chat.type('/nonsense\r');
    await chat.until(/there is no command \/nonsense/);
    await chat.type('third\r');
    await chat.until(/you said third\n› $/);
    await chat.type('/quit\r');
    await chat.chatting;
    const texts = [...home.admitted.values()].map(({ session, text }) => `${session.name}: ${text}`);
    assert.deepEqual(texts, ['work: first', 'chat-2: second', 'work: third']);
  });

  test('goes on after the gateway died in the middle of a reply', async () => {
    const home = new FakeHome();
    const dying: FakeApi = new FakeApi(home, {
      onSend(session, inboxId) {
        home.openTurn(session, inboxId);
        setImmediate(() => dying.die());
      },
    });
    const next = new FakeApi(home, {
      onSend(session) {
        const turnId = session.entries.at(-1)?.turnId ?? home.ids.next('trn');
        home.say(session, turnId, 'here I am');
        home.close(session, turnId, 'answered');
      },
    });
    const chat = setUp([dying, next]);
    await chat.until(/› $/);
    await chat.type('hello\r');
    await chat.until(/connection broke[^]*connected again\nhere I am\n› $/);
    assert.equal(home.admitted.size, 1);
    await chat.type(ctrlD);
    await chat.chatting;
  });

  test('ends with the reason if there is no way back', async () => {
    const home = new FakeHome();
    const dying: FakeApi = new FakeApi(home, { onSend: () => setImmediate(() => dying.die()) });
    const chat = setUp([dying]);
    const ending = assert.rejects(chat.chatting, { name: 'ApiError', reason: 'unreachable' });
    await chat.until(/› $/);
    await chat.type('hello\r');
    await chat.clock.advance(60_000);
    await chat.clock.advance(60_000);
    await ending;
  });

  test('tells why a message was refused and goes on', async () => {
    const home = new FakeHome();
    const chat = setUp([
      new FakeApi(home, {
        onSend() {
          throw new Error('too many messages are waiting');
        },
      }),
    ]);
    await chat.until(/› $/);
    await chat.type('hello\r');
    await chat.until(/! too many messages are waiting\n› $/);
    chat.interrupting.abort();
    await chat.chatting;
  });
});
