import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prompt, PromptUnit } from './dialect.ts';
import { anthropicMessages } from './dialects/anthropic-messages.ts';
import type { Json } from './json.ts';
import { exactCacheOptions, PromptCache, providerCacheOptions } from './prompt-cache.ts';

const scope = { keyId: 'k', model: 'm', protocol: 'p', conversation: 'c' };
const minuteMs = 60_000;

/** Units of four bytes: a token each. `!` marks one for five minutes, `+` for an hour. */
function marked(units: string): Prompt {
  const list = units.split(' ').map((unit): PromptUnit => {
    const mark = unit.endsWith('!') ? '5m' : unit.endsWith('+') ? '1h' : null;
    return { text: unit.replace(/[!+]$/, '').padEnd(4, '.'), mark };
  });
  return { units: list, caching: 'marks', cacheKey: '' };
}

function automatic(text: string, cacheKey = ''): Prompt {
  return { units: [{ text, mark: null }], caching: 'automatic', cacheKey };
}

test('a mark remembers everything before it, and the next request finds it', () => {
  const cache = new PromptCache(exactCacheOptions);
  const uses = ['a b!', 'a b c d!', 'a b c d e!'].map((units) => cache.use(scope, marked(units), 0));
  assert.deepEqual(
    uses.map(({ input, cached, written5m, possible }) => [input, cached, written5m, possible]),
    [
      [2, 0, 2, 0],
      [4, 2, 2, 2],
      [5, 4, 1, 4],
    ],
  );
});

test('a single byte that differs loses everything behind it', () => {
  const cache = new PromptCache(exactCacheOptions);
  cache.use(scope, marked('a! b c d!'), 0);
  const { cached, possible } = cache.use(scope, marked('a! X c d!'), 0);
  assert.deepEqual([cached, possible], [1, 1]);
});

test('a conversation that does not only grow shows: it has less in common than there was before', () => {
  const cache = new PromptCache(exactCacheOptions);
  cache.use(scope, marked('a b! c d!'), 0);
  const { cached, possible, before } = cache.use(scope, marked('a b! X Y!'), 0);
  assert.deepEqual([cached, possible, before], [2, 2, 4]);
});

test('without a mark nothing is remembered, and what was possible shows', () => {
  const cache = new PromptCache(exactCacheOptions);
  cache.use(scope, marked('a b c'), 0);
  const { cached, written5m, possible } = cache.use(scope, marked('a b c d'), 0);
  assert.deepEqual([cached, written5m, possible], [0, 0, 3]);
});

test('from a mark it looks back 20 units and no further', () => {
  const more = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`).join(' ');
  const found = [19, 20].map((count) => {
    const cache = new PromptCache(exactCacheOptions);
    cache.use(scope, marked('a b!'), 0);
    return cache.use(scope, marked(`a b ${more(count)}!`), 0).cached;
  });
  assert.deepEqual(found, [2, 0]);
});

test('what is remembered for five minutes is gone after them, unless it is used; an hour lasts', () => {
  const cache = new PromptCache(exactCacheOptions);
  const at = (minutes: number, units: string) => cache.use(scope, marked(units), minutes * minuteMs);
  at(0, 'a+ b!');
  assert.equal(at(4, 'a+ b!').cached, 2);
  assert.equal(at(8, 'a+ b!').cached, 2);
  const late = at(14, 'a+ b!');
  assert.deepEqual([late.cached, late.written5m, late.written1h, late.possible], [1, 1, 0, 2]);
  assert.equal(at(75, 'a+ b!').cached, 0);
});

test('long marks are paid before short ones', () => {
  const cache = new PromptCache(exactCacheOptions);
  const { written5m, written1h } = cache.use(scope, marked('a b+ c d e!'), 0);
  assert.deepEqual([written1h, written5m], [2, 3]);
});

test('another key and another model have caches of their own', () => {
  const cache = new PromptCache(exactCacheOptions);
  cache.use(scope, marked('a b!'), 0);
  const others = [
    { ...scope, keyId: 'other' },
    { ...scope, model: 'other' },
  ].map((other) => cache.use(other, marked('a b!'), 0));
  assert.deepEqual(
    others.map(({ cached, possible }) => [cached, possible]),
    // To another key it was possible all the same; to another model it never was.
    [
      [0, 2],
      [0, 0],
    ],
  );
});

test('what is shorter than the least is not remembered', () => {
  const cache = new PromptCache(providerCacheOptions);
  cache.use(scope, marked('a b!'), 0);
  assert.equal(cache.use(scope, marked('a b!'), 0).cached, 0);
});

test('a cache that works by itself counts whole steps of what is common', () => {
  const cache = new PromptCache(providerCacheOptions);
  const long = 'x'.repeat(4 * 1_300);
  assert.equal(cache.use(scope, automatic(`${long}a`), 0).cached, 0);
  const { cached, possible } = cache.use(scope, automatic(`${long}b`), 0);
  assert.deepEqual([cached, possible], [1_280, 1_280]);
  assert.equal(cache.use(scope, automatic('x'.repeat(4 * 1_000)), 0).cached, 0);
});

test('to the token if it shall, and to each cache key its own', () => {
  const cache = new PromptCache(exactCacheOptions);
  cache.use(scope, automatic('abcdefgh', 'one'), 0);
  assert.equal(cache.use(scope, automatic('abcdefgX', 'one'), 0).cached, 1);
  assert.equal(cache.use(scope, automatic('abcdefgh', 'two'), 0).cached, 0);
  assert.equal(cache.use(scope, automatic('abcdefgh', 'one'), 11 * minuteMs).cached, 0);
});

test('Anthropic reads tools, system and messages in this order; how to think counts with the messages', () => {
  const system = [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }];
  const content = [{ type: 'text', text: 'hello', cache_control: { type: 'ephemeral', ttl: '1h' } }];
  const body = (more: Json) => ({ messages: [{ role: 'user', content }], system, tools: [{ name: 't' }], ...more });
  const { units } = anthropicMessages.prompt(body({}));
  assert.deepEqual(
    units.map(({ text, mark }) => [text, mark]),
    [
      ['tool{"name":"t"}', null],
      ['system{"type":"text","text":"be brief"}', '5m'],
      ['[null,null]user{"type":"text","text":"hello"}', '1h'],
    ],
  );
  const cache = new PromptCache(exactCacheOptions);
  const first = cache.use(scope, anthropicMessages.prompt(body({})), 0);
  const thinking = anthropicMessages.prompt(body({ thinking: { type: 'enabled', budget_tokens: 1_024 } }));
  const second = cache.use(scope, thinking, 0);
  assert.ok(second.cached > 0 && second.cached < first.input);
  assert.equal(cache.use(scope, thinking, 0).cached, Math.floor(bytesOf(thinking) / 4));
});

test('a text that is sent plainly and one that is sent as a block are the same to the cache', () => {
  const plain = anthropicMessages.prompt({ messages: [{ role: 'user', content: 'hello' }] });
  const block = anthropicMessages.prompt({ messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] });
  assert.deepEqual(plain, block);
});

function bytesOf({ units }: Prompt): number {
  return units.reduce((sum, { text }) => sum + text.length, 0);
}
