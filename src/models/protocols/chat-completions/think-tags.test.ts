import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { ThinkTags } from './think-tags.ts';

function split(...pieces: readonly string[]): { thought: string; said: string } {
  const tags = new ThinkTags();
  const found = [...pieces.flatMap((piece) => tags.push(piece)), ...tags.flush()];
  const joined = (isThought: boolean) => found.map((each) => (each.isThought === isThought ? each.text : '')).join('');
  return { thought: joined(true), said: joined(false) };
}

test('thoughts at the beginning of an answer are told from its words', () => {
  assert.deepEqual(split('<think>\nhm</think>\n\nHello'), { thought: '\nhm', said: 'Hello' });
  assert.deepEqual(split('\n<think>', 'hm', '</thi', 'nk>', '\n', 'Hello\n'), { thought: 'hm', said: 'Hello\n' });
  assert.deepEqual(split('<think></think>a'), { thought: '', said: 'a' });
});

test('anything else passes as it is', () => {
  for (const text of ['Hello', ' Hello ', '<thinking>', 'Say <think>x</think>', '<', '', '  ', '<think']) {
    assert.deepEqual(split(text), { thought: '', said: text });
  }
});

test('a thought without end is a thought', () => {
  assert.deepEqual(split('<think>hm', '</th'), { thought: 'hm</th', said: '' });
  assert.deepEqual(split('<think>a < b </thinker></think>c'), { thought: 'a < b </thinker>', said: 'c' });
});

test('wherever the text is cut, the result is the same', () => {
  const texts = ['<think>a</b></think>\n\nb <think>c</think>', 'plain <think>', '  <think>no end </thin'];
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.array(fc.nat(40)), (text, cuts) => {
      const borders = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
      const pieces = borders.map((from, index) => text.slice(from, borders[index + 1] ?? text.length));
      assert.deepEqual(split(...pieces), split(text));
    }),
  );
});

test('words after the beginning are not held back', () => {
  const tags = new ThinkTags();
  assert.deepEqual(tags.push('Hello'), [{ text: 'Hello', isThought: false }]);
  assert.deepEqual(tags.push(' <'), [{ text: ' <', isThought: false }]);
});
