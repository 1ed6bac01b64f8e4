import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dialogue, Utterance } from './dialogue.ts';
import { answerTo } from './script.ts';

function dialogue(utterances: readonly Utterance[], thinking: Dialogue['thinking'] = 'may'): Dialogue {
  return { model: 'm', toolNames: new Set(['terminal', 'ask']), utterances, thinking };
}

const user = (text: string): Utterance => ({ role: 'user', text });
const ran = (id: string, command: string): Utterance => {
  return { role: 'assistant', text: '', calls: [{ id, name: 'terminal', arguments: JSON.stringify({ command }) }] };
};
const gave = (callId: string, text: string): Utterance => ({ role: 'result', callId, text });
const call = (name: string, input: object) => ({ name, arguments: JSON.stringify(input) });

const asked: readonly [string, object][] = [
  ['say hello, then go', { text: 'hello, then go' }],
  ['run date', { calls: [call('terminal', { command: 'date' })] }],
  ['read a b.txt', { calls: [call('read_file', { path: 'a b.txt' })] }],
  ['write a.txt: one: two', { calls: [call('write_file', { path: 'a.txt', content: 'one: two' })] }],
  ['remember me', { calls: [call('memory', { action: 'add', text: 'me' })] }],
  ['call some_tool {"a":1}', { calls: [{ name: 'some_tool', arguments: '{"a":1}' }] }],
  ['ask which one?', { calls: [call('ask', { question: 'which one?' })] }],
  ['both run a and run b', { calls: [call('terminal', { command: 'a' }), call('terminal', { command: 'b' })] }],
  ['many 2 run a #', { calls: [call('terminal', { command: 'a 1' }), call('terminal', { command: 'a 2' })] }],
  ['mistake', { calls: [{ name: 'terminal', arguments: '{"command": "echo' }] }],
  ['slowly say hello', { text: 'hello', pieceChars: 4, paceMs: 20 }],
  ['think say hello', { text: 'hello', reasoning: 'I think about say hello, after 0 rounds.' }],
  [
    'WHAT WAS SAID AND DONE SINCE:\nperson: run a, then run b',
    { text: '## Goal\nWHAT WAS SAID AND DONE SINCE:\nperson: run a, then run b' },
  ],
  ['refuse', { text: 'I can’t help with that.', stop: 'refused' }],
  ['nothing', { text: '' }],
  ['What is this?', { text: 'You said: What is this?' }],
];

for (const [words, expected] of asked) {
  test(`"${words}" is understood`, () => assert.deepEqual(answerTo(dialogue([user(words)])), expected));
}

test('a long text has exactly the length that was asked for', () => {
  assert.deepEqual(
    [1, 50, 4_000].map((chars) => answerTo(dialogue([user(`long ${chars}`)])).text?.length),
    [1, 50, 4_000],
  );
});

test('steps go on round by round, and the end tells what each gave', () => {
  const words = user('run a then run b and then say done');
  const one = [words, ran('1', 'a'), gave('1', 'A')];
  const two = [...one, ran('2', 'b'), gave('2', 'B')];
  assert.deepEqual(answerTo(dialogue(one)).calls, [call('terminal', { command: 'b' })]);
  assert.deepEqual(answerTo(dialogue(two)), { text: 'terminal gave: A\n\nterminal gave: B\n\ndone' });
});

test('new words replace the plan; words in a row are answered together', () => {
  const before = [user('run a then run b'), ran('1', 'a'), gave('1', 'A')];
  assert.deepEqual(answerTo(dialogue([...before, user('say one'), user('say two')])), { text: 'one\n\ntwo' });
});

test('the same step can be taken many times', () => {
  const words = user('times 3 run a');
  const rounds = ['1', '2', '3'].flatMap((id) => [ran(id, 'a'), gave(id, id)]);
  assert.deepEqual(
    [0, 2, 4].map((count) => answerTo(dialogue([words, ...rounds.slice(0, count)])).calls?.length),
    [1, 1, 1],
  );
  assert.equal(answerTo(dialogue([words, ...rounds])).text, 'terminal gave: 1\n\nterminal gave: 2\n\nterminal gave: 3');
});

test('who is asked to think does so, and who may not does not', () => {
  assert.match(answerTo(dialogue([user('say a')], 'yes')).reasoning ?? '', /^I think/);
  assert.equal(answerTo(dialogue([user('think say a')], 'no')).reasoning, undefined);
});
