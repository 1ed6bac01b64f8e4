import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { countingIdSource } from '../../lib/ids.ts';
import type { Message } from '../../protocol/messages.ts';
import type { ModelRequest } from '../model.ts';
import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import { historyMarks, type EncodedMessage } from './cache-marks.ts';
import { PromptCache } from './anthropic-messages/test-prompt-cache.ts';
import { conversations, requestsOf } from './test-journals.ts';
import { assistant, call, result, testRequest, testRuntime, user } from './test-runtime.ts';

const blocks = (role: EncodedMessage['role'], count: number): EncodedMessage => ({
  role,
  blocks: Array.from({ length: count }, () => '{}'),
});

describe('where the history is marked', () => {
  test('at its end alone while that sees everything', () => {
    assert.deepEqual(historyMarks([]), []);
    assert.deepEqual(historyMarks([blocks('user', 1)]), [0]);
    assert.deepEqual(historyMarks([blocks('user', 1), blocks('assistant', 9), blocks('tool', 9)]), [18]);
  });

  test('also where the request before ended, when a round put it out of sight', () => {
    const results = Array.from({ length: 64 }, () => blocks('tool', 1));
    assert.deepEqual(historyMarks([blocks('user', 1), blocks('assistant', 66), ...results]), [130, 0]);
    assert.deepEqual(
      historyMarks([blocks('user', 1), blocks('assistant', 66), ...results, blocks('user', 2)]),
      [132, 0],
    );
  });

  test('after a long message of a person, where the one before it ended', () => {
    assert.deepEqual(historyMarks([blocks('user', 1), blocks('user', 25), blocks('user', 25)]), [50, 25, 0]);
  });

  test('after a long message of a person, where the results before it ended', () => {
    const worked = [blocks('user', 1), blocks('assistant', 1), blocks('tool', 1)];
    assert.deepEqual(historyMarks([...worked, blocks('user', 25)]), [27, 2]);
  });

  test('messages of which nothing is sent do not count', () => {
    assert.deepEqual(historyMarks([blocks('user', 1), blocks('assistant', 0), blocks('user', 20)]), [20, 0]);
  });
});

/** Sends one request after the other; each must find in the cache everything that the one before it had. */
function everythingIsFound(requests: readonly (readonly Message[])[], changes: Partial<ModelRequest> = {}): void {
  const cache = new PromptCache();
  let before = 0;
  for (const [index, messages] of requests.entries()) {
    const { body } = anthropicMessages.encode(testRuntime(), testRequest(messages, changes));
    const { blocks: sent, cached } = cache.send(body);
    assert.equal(cached, before, `request ${index + 1}`);
    before = sent;
  }
}

/** One turn; round n has `sizes[n]` calls. */
function turnWithRounds(sizes: readonly number[]): Message[][] {
  const ids = countingIdSource();
  const requests = [[user('go')] as Message[]];
  for (const size of sizes) {
    const callIds = Array.from({ length: size }, () => ids.next('cal'));
    const answer = assistant({ kind: 'text', text: 'Working.' }, ...callIds.map((id) => call(id)));
    const results = callIds.map((id) => result(id, `done ${id}`));
    requests.push([...(requests.at(-1) ?? []), answer, ...results]);
  }
  return requests;
}

describe('the cache, by its documented rules', () => {
  test('a turn of fifty calls finds everything that was sent before', () => {
    everythingIsFound(turnWithRounds(Array.from({ length: 50 }, () => 1)));
  });

  test('so does one with rounds of every size up to 64', () => {
    everythingIsFound(turnWithRounds(Array.from({ length: 64 }, (_, index) => index + 1)));
    everythingIsFound(turnWithRounds([64, 48, 32, 16, 8, 4, 2, 1]), { cachePace: 'long' });
  });

  test('without a mark where the request before ended it would not', () => {
    const cache = new PromptCache();
    const [first = [], second = []] = turnWithRounds([64]);
    const body = (messages: readonly Message[]) => anthropicMessages.encode(testRuntime(), testRequest(messages)).body;
    const oneMark = body(second).replace('"text":"go","cache_control":{"type":"ephemeral"}', '"text":"go"');
    cache.send(body(first));
    // Tools and system prompt are all that is left.
    assert.equal(cache.send(oneMark).cached, 2);
  });

  test('a session finds everything whatever its rounds are', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(sizes, (rounds) => everythingIsFound(turnWithRounds(rounds))),
      { numRuns: 50 },
    );
  });

  test('a conversation of any shape finds everything, whichever of its requests were sent before each answer', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const asked = requestsOf(messages).filter((request) => request.at(-1)?.role !== 'assistant');
        everythingIsFound(asked);
      }),
    );
  });

  test('the way back from a fallback finds what was sent before it, over a turn of some sixty blocks', () => {
    const cache = new PromptCache();
    const requests = turnWithRounds([3, 3, 3, 3, 3, 3, 3]);
    const send = (messages: readonly Message[]) =>
      cache.send(anthropicMessages.encode(testRuntime(), testRequest(messages)).body);
    const { blocks: sent } = send(requests[0] ?? []);
    assert.equal(send([...(requests[7] ?? []), assistant({ kind: 'text', text: 'Done.' }), user('next')]).cached, sent);
  });

  test('tools get a mark of their own while there is one to spare', () => {
    const marks = (messages: readonly Message[]) =>
      anthropicMessages.encode(testRuntime(), testRequest(messages)).body.split('cache_control').length - 1;
    const requests = turnWithRounds([1, 64, 64, 64]);
    assert.deepEqual(requests.map(marks), [3, 3, 4, 4, 4]);
    const { body } = anthropicMessages.encode(testRuntime(), testRequest(requests[4] ?? []));
    assert.equal(/"tools":\[.*"cache_control".*\],"system"/.test(body), false);
  });
});
