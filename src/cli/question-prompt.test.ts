import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { FakeApi, FakeHome } from '../../test/support/fake-api.ts';
import { createStyle } from '../tui/style.ts';
import type { EventOrigin } from './ask-once.ts';
import { createQuestionPrompt } from './question-prompt.ts';
import type { Streams } from './streams.ts';

function setUp({ isTty, place = 'gateway' }: { isTty: boolean; place?: 'gateway' | 'this-process' }) {
  const home = new FakeHome();
  const session = home.create('work');
  const turnId = home.openTurn(session, home.ids.next('inb'));
  const answered = Promise.withResolvers<string>();
  const api = new FakeApi(home, { onAnswer: (_, __, text) => (answered.resolve(text), true) });
  const notes: string[] = [];
  const stdin = new PassThrough();
  const streams = {
    stdin: stdin as unknown as Streams['stdin'],
    stdinIsTty: isTty,
    stderrIsTty: isTty,
    errStyle: createStyle(false),
    note: (line: string) => void notes.push(line),
  } as Streams;
  const prompt = createQuestionPrompt({ streams });
  const connection = { api, place, close: () => Promise.resolve() };
  const origin: EventOrigin = { connection, session: 'work', isOurs: true };
  const tell = (isOurs = true) => {
    const entry = session.entries.at(-1);
    assert.ok(entry);
    prompt.onEvent({ kind: 'entry', entry }, { ...origin, isOurs });
  };
  const ask = (choices: string[] | null = ['yes', 'no']) =>
    home.ask(session, turnId, { text: 'Sure?', choices, deadline: 1e14 });
  return { home, session, turnId, stdin, notes, prompt, tell, ask, answered: answered.promise };
}

const asked = ['? Sure?', '  1  yes', '  2  no'];

describe('questions while one question is worked on', () => {
  test('are told with the command that answers them', () => {
    const { notes, ask, tell } = setUp({ isTty: false });
    ask();
    tell(false);
    assert.deepEqual(notes, []);
    tell();
    assert.deepEqual(
      [...notes.slice(0, 3), notes.at(-1)],
      [...asked, 'answer with: talaria sessions answer "work" TEXT'],
    );
  });

  test('nobody can answer where no gateway runs and nobody sits at the terminal', () => {
    const { notes, ask, tell } = setUp({ isTty: false, place: 'this-process' });
    ask();
    tell();
    assert.match(notes.at(-1) ?? '', /nobody can answer this while no gateway runs; start one with talaria gateway/);
  });

  test('are answered from the terminal, with a choice and nothing else', async () => {
    const { notes, ask, tell, stdin, answered, prompt } = setUp({ isTty: true });
    ask();
    tell();
    assert.equal(notes.at(-1), 'type your answer:');
    stdin.write('perhaps\n2\n');
    assert.equal(await answered, 'no');
    assert.equal(notes.at(-1), 'answer with one of: yes, no');
    prompt.close();
  });

  test('give the terminal back once they are settled', async () => {
    const { home, session, turnId, ask, tell, stdin } = setUp({ isTty: true });
    const callId = ask(null);
    tell();
    await new Promise(setImmediate);
    home.settle(session, turnId, callId, 'done');
    tell();
    await new Promise(setImmediate);
    assert.equal(stdin.isPaused(), true);
  });
});
