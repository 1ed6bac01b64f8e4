import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { FakeClock } from '../lib/fake-clock.ts';
import { seededRandom } from '../lib/random.ts';
import type { TurnId } from '../protocol/ids.ts';
import { noTokens, type ModelCallRecord } from '../protocol/usage.ts';
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
    isDumb: false,
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
    raw: () => text,
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
  test('a command that only the table of all channels knows is carried out there, and never sent to the model', async () => {
    const home = new FakeHome();
    const api = new FakeApi(home, answering(home));
    const chat = setUp([api]);
    await chat.type('/undo\r');
    await chat.until(/did \/undo/);
    await chat.type('hello\r');
    await chat.until(/you said hello/);
    await chat.type('/title  A name\r');
    await chat.until(/did \/title {2}A name\n(› )+$/);
    await chat.type('/etc/hosts is a file\r');
    await chat.until(/you said \/etc\/hosts is a file/);
    assert.deepEqual(
      api.calls.filter((call) => /^(send|command)/.test(call)),
      ['command /undo', 'send (new)', 'command /title  A name', 'send chat-1'],
    );
    await chat.type(ctrlD);
    await chat.chatting;
  });

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

  test('lines that are pasted together, or end in a backslash, are one message', async () => {
    const home = new FakeHome();
    const api = new FakeApi(home, answering(home));
    const chat = setUp([api]);
    await chat.until(/› $/);
    await chat.type('\u001b[200~first\r  second\r\rlast\u001b[201~');
    await chat.until(/first\n… {3}second\n… \n… last$/);
    assert.equal(home.sessions.length, 0, 'nothing is sent before Enter');
    await chat.type('\r');
    await chat.until(/you said first\n {2}second\n\nlast\n› $/);
    await chat.type('one \\\rtwo\r');
    await chat.until(/you said one \ntwo\n› $/);
    await chat.type('dropped\\\rby Ctrl-C');
    await chat.type(ctrlC);
    await chat.until(/leaves\)\n› $/);
    await chat.type('alone\r');
    await chat.until(/you said alone\n› $/);
    await chat.type(ctrlD);
    await chat.chatting;
    assert.ok(chat.raw().includes('\u001b[?2004h'));
    assert.ok(chat.raw().endsWith('\u001b[?2004l'), 'the terminal is left as it was');
  });

  test('what is typed before it is connected goes into the session that was chosen', async () => {
    const home = new FakeHome();
    const chat = setUp([new FakeApi(home, answering(home))], { kind: 'named', name: 'work' });
    await chat.type('early\r');
    await chat.until(/you said early\n› $/);
    assert.deepEqual(
      home.sessions.map(({ name }) => name),
      ['work'],
    );
    await chat.type(ctrlD);
    await chat.chatting;
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
    await chat.until(/session {3}work\nmodel {5}offline rehearsal[^]*cost {6}\$0 today, \$0 in all/);
    await chat.type('/nonsense\r');
    await chat.until(/did \/nonsense/);
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

  test('a line that is a choice answers the question, any other one stays a message', async () => {
    const home = new FakeHome();
    const api: FakeApi = new FakeApi(home, {
      onSend(session, inboxId) {
        const open = session.entries.findLast((entry) => entry.kind === 'turn-opened')?.turnId ?? null;
        if (open !== null) return home.promote(session, open, inboxId);
        home.ask(session, home.openTurn(session, inboxId), { text: 'Delete it?', choices: ['yes', 'no'], deadline });
      },
      onAnswer(session, callId, text) {
        const turnId = session.entries[0]?.turnId ?? home.ids.next('trn');
        home.settle(session, turnId, callId, text);
        home.say(session, turnId, `so be it: ${text}`);
        home.close(session, turnId, 'answered');
        return true;
      },
    });
    const chat = setUp([api]);
    const deadline = chat.clock.now() + 60_000;
    await chat.until(/› $/);
    await chat.type('tidy up\r');
    await chat.until(/\? Delete it\?\n {2}1 {2}yes\n {2}2 {2}no\n {2}\(waits until .*\)\n\? $/);
    await chat.type('what is in it?\r');
    await chat.until(/sent as a message; the question still waits/);
    await chat.type('/answer maybe\r');
    await chat.until(/the question waits for: yes, no\n\? $/);
    await chat.type('2\r');
    await chat.until(/\(answered: no\)[^]*so be it: no\n(› )+$|so be it: no[^]*\(answered: no\)\n(› )+$/);
    await chat.type('/answer yes\r');
    await chat.until(/no question waits for an answer/);
    await chat.type(ctrlD);
    await chat.chatting;
    assert.deepEqual(
      api.calls.filter((call) => /^(send|answer)/.test(call)).map((call) => call.replace(/cal_\w+/, 'ID')),
      ['send (new)', 'send chat-1', 'answer ID no'],
    );
  });

  test('shows a question that was asked before one came, and takes any text where any will do', async () => {
    const home = new FakeHome();
    const session = home.create('work');
    const turnId = home.openTurn(session, home.ids.next('inb'));
    const api = new FakeApi(home, { onAnswer: () => false });
    const question = { text: 'Which colour?', choices: null, deadline: 1e15 };
    home.ask(session, turnId, question);
    const chat = setUp([api], { kind: 'named', name: 'work' });
    await chat.until(/\? Which colour\?\n.*\n\? $/);
    await chat.type('dark green\r');
    await chat.until(/that question does not wait any more/);
    await chat.type(ctrlD);
    await chat.chatting;
    assert.match(api.calls.join(), /answer cal_\w+ dark green/);
  });

  test('a question past its deadline takes no line for itself', async () => {
    const home = new FakeHome();
    const session = home.create('work');
    home.ask(session, home.openTurn(session, home.ids.next('inb')), { text: 'Hm?', choices: null, deadline: 1 });
    const api = new FakeApi(home, {});
    const chat = setUp([api], { kind: 'named', name: 'work' });
    await chat.until(/leaves\.\n/);
    await chat.type('hello\r');
    await chat.until(/hello/);
    await chat.clock.advance(100);
    await chat.type(ctrlD);
    await chat.chatting;
    assert.deepEqual(
      api.calls.filter((call) => /^(send|answer)/.test(call)),
      ['send work'],
    );
  });

  test('shows the prompt although one came between the stored and the live end of a turn', async () => {
    const home = new FakeHome();
    let closeLive = () => {};
    const api = new FakeApi(home, {
      onSend(session, inboxId) {
        const turnId = home.openTurn(session, inboxId);
        home.say(session, turnId, 'done');
        home.close(session, turnId, 'answered');
        session.live = { turnId, text: '', reasoning: '', calls: [], status: '' };
        closeLive = () => home.show(session, { kind: 'turn-ended', turnId });
      },
    });
    const chat = setUp([api]);
    await chat.until(/› $/);
    await chat.type('hello\r');
    await chat.until(/done\n/);
    await chat.clock.advance(100);
    closeLive();
    await chat.type('/help\r');
    await chat.until(/quit +leave\n(› )+$/);
    await chat.type(ctrlD);
    await chat.chatting;
  });

  test('a status line gives way to what is typed', async () => {
    const home = new FakeHome();
    const session = home.create('work');
    const turnId = home.openTurn(session, home.ids.next('inb'));
    session.live = { turnId, text: '', reasoning: '', calls: [], status: 'the model is slow' };
    const chat = setUp([new FakeApi(home)], { kind: 'named', name: 'work' });
    await chat.until(/… the model is slow$/);
    await chat.type('/help');
    home.show(session, { kind: 'status', turnId, text: 'still slow' });
    home.append(session, turnId, { kind: 'notice', text: 'something else' });
    await chat.until(/… the model is slow\/help! something else$/m);
    assert.ok(chat.raw().includes('the model is slow\r\u001b[K'));
    chat.interrupting.abort();
    await chat.chatting;
  });

  test('says what another model costs before it is chosen, and asks', async () => {
    const home = new FakeHome();
    const session = home.create('work');
    const quote = ({ model }: { model?: string | null }) =>
      model === 'openai/gpt' ? { uncachedTokens: 12_345, usd: 0.04 } : { uncachedTokens: 0, usd: 0 };
    const api = new FakeApi(home, { quote });
    const chat = setUp([api], { kind: 'named', name: 'work' });
    await chat.until(/› $/);
    await chat.type('/model openai/gpt\r');
    await chat.until(
      /about 12,345 tokens again that are cached now, for about \$0\.0400 more.*\nChange it\? \[y\/N\] $/,
    );
    await chat.type('\r');
    await chat.until(/nothing was changed\n› $/);
    assert.deepEqual(session.settings, { model: null, effort: null });
    await chat.type('/model openai/gpt\r');
    await chat.until(/nothing was changed[^]*Change it\? \[y\/N\] $/);
    await chat.type('y\r');
    await chat.until(/model {2}openai\/gpt \(chosen for this session/);
    await chat.type('/reasoning brutal\r');
    await chat.until(/there is no effort "brutal"; choose one of: none, minimal/);
    await chat.type('/reasoning high\r');
    await chat.until(/reasoning {2}high/);
    assert.deepEqual(session.settings, { model: 'openai/gpt', effort: 'high' });
    await chat.type('/model default\r');
    await chat.until(/model {2}offline\/rehearsal \(as configured\)/);
    await chat.type('/reasoning default\r');
    await chat.until(/reasoning {2}as the configuration/);
    assert.deepEqual(session.settings, { model: null, effort: null });
    await chat.type('/new\r');
    await chat.type('/model x\r');
    await chat.until(/begins with your first message, on offline rehearsal/);
    await chat.type(ctrlD);
    await chat.chatting;
  });

  test('Ctrl-C is a no, and leaves the chat as it was', async () => {
    const home = new FakeHome();
    const session = home.create('work');
    const api = new FakeApi(home, { quote: () => ({ uncachedTokens: 5, usd: null }) });
    const chat = setUp([api], { kind: 'named', name: 'work' });
    await chat.until(/› $/);
    await chat.type('/model x\r');
    await chat.until(/at a price that is not known\.\nChange it\? \[y\/N\] $/);
    await chat.type(ctrlC);
    await chat.until(/nothing was changed\n› $/);
    assert.deepEqual(session.settings, { model: null, effort: null });
    await chat.type(ctrlD);
    await chat.chatting;
  });

  test('/usage adds up the last turn, the session and today', async () => {
    const home = new FakeHome();
    const session = home.create('work');
    const call = (turnId: TurnId, usd: number | null): ModelCallRecord => ({
      id: home.ids.next('mdl'),
      turnId,
      purpose: 'answer',
      provider: 'openai',
      model: 'gpt',
      keyId: 'k',
      state: 'completed',
      startedAt: 0,
      endedAt: 1,
      usage: { ...noTokens, inputTokens: 100, cachedTokens: 50, outputTokens: 7, usd },
      error: null,
      promptUnits: 1,
      promptUnitsKept: 0,
      prefixBreak: null,
    });
    const [first, second] = [home.ids.next('trn'), home.ids.next('trn')];
    session.modelCalls.push(call(first, 0.25), call(second, 0.5), call(second, null));
    const chat = setUp([new FakeApi(home)], { kind: 'named', name: 'work' });
    await chat.until(/› $/);
    await chat.type('/usage\r');
    await chat.until(/last turn {2}2 calls, 200 in \(100 cached, 50 %\), 14 out, \$0\.50, and 1 call of unknown cost/);
    await chat.until(
      /session {4}3 calls, 300 in .*\$0\.75, and 1 call of unknown cost\ntoday {6}0 calls, 0 in, 0 out, \$0/,
    );
    await chat.type(ctrlD);
    await chat.chatting;
  });
});
