import assert from 'node:assert/strict';
import test from 'node:test';
import { countingIdSource } from '../../lib/ids.ts';
import type { CallOutcome, Message } from '../../protocol/messages.ts';
import type { ModelRequest } from '../model.ts';
import { testRequest } from '../scripted-model.ts';
import { isAskedToBeSlow, respond, type OfflineResponse } from './respond.ts';
import { rehearsalNotice } from './topics.ts';

const tools = ['terminal', 'read_file', 'write_file', 'memory'].map((name) => ({
  name,
  description: '',
  parameters: {},
}));

const request = (messages: readonly Message[]): ModelRequest => testRequest({ systemPrompt: '', tools, messages });
const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });
const assistant = (text: string): Message => ({ role: 'assistant', parts: [{ kind: 'text', text }] });
const ids = countingIdSource();
const told = assistant(`Hello. ${rehearsalNotice}`);

type Result = readonly [outcome: CallOutcome, text: string];

/** Goes through a turn as an agent does: asks, runs the calls with these results, asks again until there are no calls. */
function converse(before: readonly Message[], results: readonly Result[]) {
  const messages = [...before];
  const left = [...results];
  const calls: string[][] = [];
  for (;;) {
    const response = respond(request(messages));
    if (response.calls.length === 0) return { calls, text: response.text, messages };
    calls.push(response.calls.map((call) => call.arguments));
    const parts = response.calls.map((call) => ({ kind: 'tool-call', callId: ids.next('cal'), ...call }) as const);
    messages.push({ role: 'assistant', parts });
    for (const { callId } of parts) {
      const [outcome, text] = left.shift() ?? ['finished', 'ok'];
      messages.push({ role: 'tool', parts: [{ kind: 'tool-result', callId, outcome, text }] });
    }
  }
}

const replyTo = (words: string, results: readonly Result[] = []) => converse([told, user(words)], results).text;

test('the first reply of a session says that it is a rehearsal and how to connect a model, the next one does not', () => {
  const first = respond(request([user('hello')]));
  assert.ok(first.text.endsWith(`\n\n${rehearsalNotice}`));
  assert.match(rehearsalNotice, /rehearsal.*talaria model set anthropic.*talaria model providers/);
  const second = respond(request([user('hello'), assistant(first.text), user('hello')]));
  assert.ok(!second.text.includes(rehearsalNotice));
});

test('the notice also stands under the first reply that needed tools', () => {
  const { text } = converse([user('run ls')], [['finished', 'a.txt']]);
  assert.equal(text, `\`ls\` printed:\n\n\`\`\`\na.txt\n\`\`\`\n\n${rehearsalNotice}`);
});

test('exact words come exactly, and the notice waits for the next reply', () => {
  const first = respond(request([user('echo  *a*\n b ')]));
  assert.deepEqual(first, { text: '*a*\n b', calls: [] } satisfies OfflineResponse);
  assert.ok(respond(request([user('echo x'), assistant('x'), user('hello')])).text.endsWith(rehearsalNotice));
});

test('a command is called, and its output quoted', () => {
  const { calls, text } = converse([told, user('run ls -la')], [['finished', 'total 0\nb.txt\n']]);
  assert.deepEqual(calls, [['{"command":"ls -la"}']]);
  assert.equal(text, '`ls -la` printed:\n\n```\ntotal 0\nb.txt\n```');
});

test('how a command ended is told', () => {
  assert.equal(replyTo('run true', [['finished', '[no output]']]), '`true` ran and printed nothing.');
  assert.equal(
    replyTo('run false', [['finished', '[exit code 1]']]),
    '`false` ended with exit code 1 and printed nothing.',
  );
  assert.equal(
    replyTo('run ls x', [['finished', 'no x\n[exit code 2]']]),
    '`ls x` ended with exit code 2 and printed:\n\n```\nno x\n```',
  );
});

test('failed, unknown and skipped calls are told as what they are', () => {
  assert.equal(
    replyTo('read x.txt', [['failed', 'x.txt does not exist.']]),
    '`x.txt` failed:\n\n```\nx.txt does not exist.\n```',
  );
  assert.equal(
    replyTo('run deploy', [['unknown', 'It was interrupted.']]),
    'It is **not known** whether `deploy` finished. Check before you ask for it again.',
  );
  assert.equal(replyTo('run deploy', [['skipped', 'Not run.']]), '`deploy` was **not run**.');
});

test('files and memory are told in their own words', () => {
  assert.equal(replyTo('read a.txt', [['finished', 'one\ntwo']]), '`a.txt` says:\n\n```\none\ntwo\n```');
  assert.equal(
    replyTo('write a to b.txt', [['finished', 'wrote 1 line, 1 byte to b.txt']]),
    'Done: wrote 1 line, 1 byte to b.txt.',
  );
  assert.equal(replyTo('remember that x', [['finished', 'Stored in memory: - x']]), 'Stored in memory: - x');
  assert.equal(replyTo('call tool odd with [', [['finished', 'hm']]), 'the tool `odd` answered:\n\n```\nhm\n```');
});

test('steps are taken one after the other, each in a round of its own', () => {
  const { calls, text } = converse(
    [told, user('run date and then write x to a.txt and then echo')],
    [
      ['finished', 'Monday'],
      ['finished', 'wrote 1 line, 1 byte to a.txt'],
    ],
  );
  assert.deepEqual(calls, [['{"command":"date"}'], ['{"path":"a.txt","content":"x"}']]);
  assert.equal(
    text,
    '`date` printed:\n\n```\nMonday\n```\n\nDone: wrote 1 line, 1 byte to a.txt.\n\nI did not understand “echo”.',
  );
});

test('calls that go together go out in one round', () => {
  const { calls, text } = converse(
    [told, user('run a and run b at once')],
    [
      ['finished', '1'],
      ['finished', '2'],
    ],
  );
  assert.deepEqual(calls, [['{"command":"a"}', '{"command":"b"}']]);
  assert.equal(text, '`a` printed:\n\n```\n1\n```\n\n`b` printed:\n\n```\n2\n```');
});

test('after a step that went wrong the next ones are not taken, and that is told', () => {
  const { calls, text } = converse([told, user('read a.txt and then run b and then run c')], [['failed', 'gone']]);
  assert.deepEqual(calls, [['{"path":"a.txt"}']]);
  assert.equal(
    text,
    '`a.txt` failed:\n\n```\ngone\n```\n\nSo I did not go on with `b`.\n\nSo I did not go on with `c`.',
  );
});

test('long output is quoted in part, and fences in it do not end the quote', () => {
  const many = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n');
  const text = replyTo('run x', [['finished', many]]);
  assert.ok(text.includes('line 39\n```\n\n(That is its beginning.)'));
  assert.ok(!text.includes('line 40'));
  assert.equal(replyTo('read a.md', [['finished', '```js\nx\n```']]), '`a.md` says:\n\n````\n```js\nx\n```\n````');
  assert.ok(replyTo('run x', [['finished', `${'x'.repeat(1_999)}${'😀'.repeat(1_000)}`]]).isWellFormed());
});

test('a message that arrives during a turn is added to what there is to do', () => {
  const steering = converse([told, user('run a and then run b')], []).messages.slice(0, 4);
  const { calls, text } = converse([...steering, user('echo and this')], [['finished', '2']]);
  assert.deepEqual(calls, [['{"command":"b"}']]);
  assert.equal(text, '`a` printed:\n\n```\nok\n```\n\n`b` printed:\n\n```\n2\n```\n\nand this');
});

test('two messages that waited together are both answered', () => {
  assert.equal(respond(request([told, user('echo one'), user('echo two')])).text, 'one\n\ntwo');
});

test('what was stopped is not taken up again by the next message', () => {
  const { messages } = converse([told, user('run a and then run b')], [['failed', '[stopped before it finished]']]);
  assert.deepEqual(respond(request([...messages, user('echo hello')])), { text: 'hello', calls: [] });
});

test('thinking shows as reasoning, once', () => {
  const first = respond(request([told, user('think about tea and then run ls')]));
  assert.match(first.reasoning ?? '', /^The user wants me to think about tea\./);
  assert.deepEqual([first.text, first.calls.length], ['', 1]);
  const { messages, text } = converse([told, user('think about tea and then run ls')], [['finished', 'x']]);
  assert.equal(respond(request(messages)).reasoning, undefined);
  assert.match(text, /^I thought about tea\./);
});

test('it answers the same request in the same way', () => {
  const asked = request([told, user('run a and then run b')]);
  assert.deepEqual(respond(asked), respond(structuredClone(asked)));
});

test('a request without new words is answered too', () => {
  assert.equal(respond(request([])).text, 'There is nothing new to answer.');
  assert.equal(respond(request([user('hi'), told])).text, 'There is nothing new to answer.');
});

test('only the words not answered yet decide the pace', () => {
  assert.equal(isAskedToBeSlow(request([user('count to 3 slowly')])), true);
  assert.equal(isAskedToBeSlow(request([user('count to 3 slowly'), told, user('hello')])), false);
});
