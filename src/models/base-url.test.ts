import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { baseUrlFor, hostOf, isAggregator, isLocal, ollamaAddress } from './base-url.ts';
import { providerRows } from './providers.ts';

describe('the address of an API', () => {
  const { anthropic, openai, openrouter, deepseek, ollama, custom } = providerRows;

  test("is the provider's own where none is configured", () => {
    assert.equal(baseUrlFor(openai, 'responses', null), 'https://api.openai.com/v1');
    assert.equal(baseUrlFor(anthropic, 'anthropic_messages', ' '), 'https://api.anthropic.com');
  });

  test("is another one for Anthropic's dialect", () => {
    assert.equal(baseUrlFor(openrouter, 'anthropic_messages', null), 'https://openrouter.ai/api');
    assert.equal(baseUrlFor(deepseek, 'anthropic_messages', null), 'https://api.deepseek.com/anthropic');
  });

  test("loses slashes at its end, and what Anthropic's path begins with", () => {
    assert.equal(baseUrlFor(openai, 'responses', 'http://proxy.test/v1//'), 'http://proxy.test/v1');
    assert.equal(baseUrlFor(anthropic, 'anthropic_messages', 'http://proxy.test/v1/'), 'http://proxy.test');
    assert.equal(baseUrlFor(anthropic, 'anthropic_messages', 'http://proxy.test/a/v1'), 'http://proxy.test/a');
    assert.equal(baseUrlFor(anthropic, 'chat_completions', 'http://proxy.test/v1'), 'http://proxy.test/v1');
  });

  test('of a local server may be only its host and port', () => {
    assert.equal(baseUrlFor(ollama, 'chat_completions', 'http://gpu:11434/'), 'http://gpu:11434/v1');
    assert.equal(baseUrlFor(ollama, 'chat_completions', 'http://gpu/ollama/v1'), 'http://gpu/ollama/v1');
    assert.equal(baseUrlFor(custom, 'chat_completions', 'http://gpu:8080'), 'http://gpu:8080');
  });

  test('shows its host', () => {
    const urls = ['https://u:p@Host.test:1/x', 'http://[::1]:1234/v1', 'http://host', 'host', ''];
    assert.deepEqual(urls.map(hostOf), ['host.test', '::1', 'host', '', '']);
  });

  test('shows an aggregator, and nobody who is only called like one', () => {
    const urls = [
      'https://openrouter.ai/api/v1',
      'https://eu.openrouter.ai/api/v1',
      'https://inference-api.nousresearch.com/v1',
      'https://notopenrouter.ai/v1',
      'https://proxy.test/openrouter.ai/v1',
    ];
    assert.deepEqual(urls.map(isAggregator), [true, true, true, false, false]);
  });

  test('shows what is on this machine or a private network', () => {
    const local = [
      'localhost',
      '127.0.0.1',
      '[::1]',
      '192.168.1.5',
      '10.0.0.1',
      '172.20.0.1',
      'box.local',
      '[fd00::1]',
    ];
    const others = ['example.org', '172.32.0.1', '8.8.8.8', '10.example.org', 'localhost.example.org'];
    assert.deepEqual(
      local.map((host) => isLocal(`http://${host}:1/v1`)),
      Array(local.length).fill(true),
    );
    assert.deepEqual(
      others.map((host) => isLocal(`http://${host}:1/v1`)),
      Array(others.length).fill(false),
    );
    assert.equal(isLocal('nonsense'), false);
  });
});

describe('where Ollama listens', () => {
  const said: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'http://127.0.0.1:11434'],
    [' ', 'http://127.0.0.1:11434'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:9000', 'http://127.0.0.1:9000'],
    [':9000', 'http://127.0.0.1:9000'],
    ['[::]:9000', 'http://127.0.0.1:9000'],
    ['gpu', 'http://gpu:11434'],
    ['gpu:9000', 'http://gpu:9000'],
    ['http://gpu:9000/', 'http://gpu:9000'],
    ['http://gpu', 'http://gpu:80'],
    ['https://ollama.example.org', 'https://ollama.example.org:443'],
    ['https://example.org/ollama/', 'https://example.org:443/ollama'],
    ['no address at all: really', 'http://127.0.0.1:11434'],
  ];
  for (const [variable, address] of said) {
    test(`${JSON.stringify(variable)} is ${address}`, () => {
      assert.equal(ollamaAddress({ OLLAMA_HOST: variable }), address);
    });
  }
});
