import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { buildRuntime, type RuntimeSpec } from './build-runtime.ts';
import type { Runtime } from './model.ts';
import { offlineRuntime } from './offline/offline-runtime.ts';
import { providerRows } from './providers.ts';

const nothing: RuntimeSpec = {
  provider: 'offline',
  name: null,
  baseUrl: null,
  apiMode: null,
  apiKeys: [],
  contextLength: null,
  outputTokensMax: null,
  stallMs: null,
  price: null,
  compressor: null,
};

const build = (spec: Partial<RuntimeSpec>, environment: Record<string, string | undefined> = {}) =>
  buildRuntime({ ...nothing, ...spec }, environment);

const free = { input: 0, cachedInput: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 };

describe('a runtime', () => {
  test('C56 is complete straight after construction, from a provider alone', () => {
    assert.deepEqual(build({ provider: 'openai' }, { OPENAI_API_KEY: 'sk-1' }), {
      provider: 'openai',
      model: 'gpt-6.1-sol',
      baseUrl: 'https://api.openai.com/v1',
      apiMode: 'responses',
      keys: [{ id: '0f2c10bf3d128c71', secret: 'sk-1' }],
      contextLength: 1_050_000,
      outputTokensMax: 64_000,
      caching: 'automatic',
      reach: 'direct',
      stallMs: 600_000,
      price: {
        input: 2,
        cachedInput: 0.1,
        cacheWrite: 2.5,
        cacheWriteLong: 5,
        output: 10,
        above: {
          inputTokens: 272_000,
          price: { input: 4, cachedInput: 0.2, cacheWrite: 5, cacheWriteLong: 10, output: 15 },
        },
      },
      seesImages: true,
      reasons: true,
      quirks: ['effort-xhigh'],
      compressor: null,
    } satisfies Runtime);
  });

  test('C56 is complete whatever is configured, and building it never throws', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('http://h', 'https://[', '://', 'anthropic/x', '/', ':free'));
    const spec = fc.record({
      provider: fc.oneof(fc.constantFrom('offline', ...Object.keys(providerRows)), fc.string()),
      name: fc.option(text),
      baseUrl: fc.option(text),
      apiMode: fc.option(fc.constantFrom('chat_completions', 'responses', 'anthropic_messages')),
      apiKeys: fc.array(fc.string()),
      contextLength: fc.option(fc.integer({ min: 1_000, max: 10_000_000 })),
      outputTokensMax: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
    });
    fc.assert(
      fc.property(spec, fc.dictionary(fc.string(), fc.string()), (given, environment) => {
        const runtime = build(given, environment);
        assert.deepEqual(
          Object.entries(runtime).filter(([, value]) => value === undefined || Number.isNaN(value)),
          [],
        );
        assert.ok(runtime.keys.length > 0 && runtime.outputTokensMax > 0 && runtime.contextLength > 0);
      }),
    );
  });

  test('is what was configured wherever that says something', () => {
    const compressor = { provider: 'x', model: 'y', contextLength: 1_000, thresholdTokens: 500 };
    const runtime = build({
      provider: 'openai',
      name: 'mystery',
      baseUrl: 'http://proxy.test/v1/',
      apiMode: 'chat_completions',
      apiKeys: ['k'],
      contextLength: 9_000,
      outputTokensMax: 8_000,
      stallMs: 5,
      price: { input: 1, output: 2 },
      compressor,
    });
    const { keys: _, caching: __, reach: ___, seesImages, reasons, quirks, ...said } = runtime;
    assert.deepEqual(said, {
      provider: 'openai',
      model: 'mystery',
      baseUrl: 'http://proxy.test/v1',
      apiMode: 'chat_completions',
      contextLength: 9_000,
      outputTokensMax: 8_000,
      stallMs: 5,
      price: { input: 1, cachedInput: 1, cacheWrite: 1, cacheWriteLong: 1, output: 2 },
      compressor,
    });
    // Nothing is claimed of a model that is not known, and nothing about thinking is sent to it.
    assert.deepEqual(
      { seesImages, reasons, quirks },
      {
        seesImages: false,
        reasons: false,
        quirks: ['max-completion-tokens', 'prompt-cache-key'],
      },
    );
  });

  test('of the offline model is the one inside the program, with the limits that were asked for', () => {
    assert.deepEqual(build({ name: 'rehearsal-instant' }), offlineRuntime('rehearsal-instant'));
    assert.deepEqual(build({ name: 'no such' }), offlineRuntime('rehearsal'));
    assert.deepEqual(build({ contextLength: 4_000, stallMs: 7 }), {
      ...offlineRuntime('rehearsal'),
      contextLength: 4_000,
      stallMs: 7,
    });
  });
});

describe('keys', () => {
  const token = (end: string) => `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${end}`;

  test('C3 that begin alike have different fingerprints, from which nothing can be read', () => {
    const { keys } = build({ provider: 'openai', apiKeys: [token('a'), token('b')] });
    assert.equal(new Set(keys.map(({ id }) => id)).size, 2);
    for (const { id, secret } of keys) {
      assert.match(id, /^[0-9a-f]{16}$/);
      assert.ok(!secret.includes(id));
    }
  });

  test('C3 of the same secret have the same fingerprint, at any provider', () => {
    const id = (provider: string) => build({ provider, apiKeys: ['one'] }).keys[0].id;
    assert.equal(id('openai'), id('anthropic'));
  });

  test('C58 of Anthropic messages say whether they are OAuth tokens', () => {
    const { keys, baseUrl } = build({ provider: 'anthropic', apiKeys: ['sk-ant-api03-x', 'sk-ant-oat01-y'] });
    assert.deepEqual(
      keys.map(({ secret, oauth }) => ({ secret, oauth })),
      [
        { secret: 'sk-ant-api03-x', oauth: false },
        { secret: 'sk-ant-oat01-y', oauth: true },
      ],
    );
    assert.equal(baseUrl, 'https://api.anthropic.com');
  });

  test('C59 of other modes have no such field, whoever the provider is', () => {
    const runtimes = [
      build({ provider: 'anthropic', apiMode: 'chat_completions', apiKeys: ['sk-ant-oat01-y'] }),
      build({ provider: 'openai', apiKeys: ['k'] }),
      build({ provider: 'ollama' }),
      build({}),
    ];
    for (const { keys } of runtimes) for (const key of keys) assert.deepEqual(Object.keys(key), ['id', 'secret']);
    assert.deepEqual(Object.keys(build({ provider: 'custom', apiMode: 'anthropic_messages' }).keys[0]), [
      'id',
      'secret',
      'oauth',
    ]);
  });

  test('are each there once, in their order', () => {
    const { keys } = build({ provider: 'groq', apiKeys: ['b', ' a ', '', 'b\n'] }, { GROQ_API_KEY: 'c' });
    assert.deepEqual(
      keys.map(({ secret }) => secret),
      ['b', 'a'],
    );
  });

  test('come from the environment where none is configured', () => {
    assert.equal(build({ provider: 'google' }, { GOOGLE_API_KEY: 'g' }).keys[0].secret, 'g');
    assert.deepEqual(build({ provider: 'google' }).keys, [{ id: '', secret: '' }]);
  });
});

describe('how a provider is reached', () => {
  const reach = (provider: string, baseUrl: string | null = null) => build({ provider, baseUrl }).reach;

  test('C73 OpenRouter is an aggregator, known by its base URL too', () => {
    assert.equal(reach('openrouter'), 'aggregator');
    assert.equal(reach('custom', 'https://openrouter.ai/api/v1'), 'aggregator');
    assert.equal(reach('openai', 'https://openrouter.ai/api/v1'), 'aggregator');
  });

  test('C74 Nous is an aggregator, known by its base URL too', () => {
    assert.equal(reach('nous'), 'aggregator');
    assert.equal(reach('custom', 'https://inference-api.nousresearch.com/v1'), 'aggregator');
  });

  test('a server on this machine is local if nobody says whose it is', () => {
    assert.equal(reach('custom', 'http://localhost:8080/v1'), 'local');
    assert.equal(reach('custom', 'https://models.example.org/v1'), 'direct');
    assert.equal(reach('openai', 'http://localhost:8080/v1'), 'direct');
    assert.equal(reach('ollama', 'https://ollama.example.org/v1'), 'local');
  });

  test('Ollama is where its own variable says', () => {
    const environment = { OLLAMA_HOST: 'gpu:9000' };
    assert.equal(build({ provider: 'ollama' }, environment).baseUrl, 'http://gpu:9000/v1');
    assert.equal(build({ provider: 'ollama', baseUrl: 'http://x:1' }, environment).baseUrl, 'http://x:1/v1');
  });
});

describe('caching', () => {
  const caching = (spec: Partial<RuntimeSpec>) => build(spec).caching;

  test("marks the prompt for Anthropic's models, directly and through an aggregator", () => {
    assert.equal(caching({ provider: 'anthropic' }), 'breakpoints');
    assert.equal(caching({ provider: 'deepseek', apiMode: 'anthropic_messages' }), 'breakpoints');
    assert.equal(caching({ provider: 'openrouter', name: 'anthropic/claude-opus-5.5' }), 'breakpoints');
    assert.equal(
      caching({ provider: 'custom', baseUrl: 'https://openrouter.ai/api/v1', name: 'anthropic/x' }),
      'breakpoints',
    );
  });

  test('is left to the provider elsewhere', () => {
    assert.equal(caching({ provider: 'openai' }), 'automatic');
    assert.equal(caching({ provider: 'openrouter', name: 'openai/gpt-6.1-sol' }), 'automatic');
    assert.equal(caching({ provider: 'groq', name: 'anthropic/x' }), 'automatic');
    assert.equal(caching({ provider: 'ollama', apiMode: 'anthropic_messages' }), 'breakpoints');
    assert.equal(caching({}), 'none');
  });
});

describe('prices', () => {
  const price = (spec: Partial<RuntimeSpec>) => build(spec).price;

  test('are unknown where they are not known, never 0', () => {
    assert.equal(price({ provider: 'openai', name: 'mystery' }), null);
    assert.equal(price({ provider: 'custom', baseUrl: 'http://localhost:1/v1', name: 'llama' }), null);
    assert.equal(price({ provider: 'openai', name: 'mystery', price: { input: 1 } }), null);
  });

  test('are 0 on local servers, unless somebody says what electricity costs', () => {
    assert.deepEqual(price({ provider: 'ollama', name: 'qwen3' }), free);
    assert.deepEqual(price({ provider: 'ollama', name: 'qwen3', price: { output: 0.1 } }), { ...free, output: 0.1 });
  });

  test('can be corrected in part', () => {
    const known = price({ provider: 'anthropic', name: 'claude-sonnet-5-5' });
    assert.deepEqual(price({ provider: 'anthropic', name: 'claude-sonnet-5-5', price: { output: 9 } }), {
      ...known,
      output: 9,
    });
  });

  test('say what long prompts cost, unless somebody names one price for all', () => {
    const sol = price({ provider: 'openai', name: 'gpt-6.1-sol' });
    assert.deepEqual([sol?.input, sol?.above?.inputTokens, sol?.above?.price.input], [2, 272_000, 4]);
    assert.equal(price({ provider: 'openai', name: 'gpt-6.1-sol', price: { input: 1 } })?.above, undefined);
  });
});

describe('limits', () => {
  test('of a model that is not known are careful', () => {
    const { contextLength, outputTokensMax, stallMs } = build({ provider: 'openai', name: 'mystery' });
    assert.deepEqual([contextLength, outputTokensMax, stallMs], [128_000, 8_192, 180_000]);
    const local = build({ provider: 'ollama', name: 'gpt-oss:20b' });
    assert.deepEqual([local.contextLength, local.outputTokensMax, local.stallMs], [32_000, 8_000, 600_000]);
  });

  test('leave room for the prompt', () => {
    const { outputTokensMax } = build({ provider: 'anthropic', contextLength: 8_000 });
    assert.equal(outputTokensMax, 2_000);
  });
});

describe('quirks', () => {
  const quirks = (spec: Partial<RuntimeSpec>) => build(spec).quirks;

  test('are those of the provider and of the model', () => {
    assert.deepEqual(quirks({ provider: 'xai', name: 'grok-4.7' }), ['reasoning-effort', 'effort-xhigh']);
    assert.deepEqual(quirks({ provider: 'moonshot', name: 'kimi-k2.6' }), [
      'reasoning-content-back',
      'thinking-switch',
    ]);
  });

  test('of a model are not those of another house that serves it', () => {
    assert.ok(!quirks({ provider: 'openrouter', name: 'moonshotai/kimi-k2.6' }).includes('thinking-switch'));
    assert.deepEqual(quirks({ provider: 'custom', name: 'gpt-6.1-sol' }), []);
  });

  test('of chat completions are not sent in another dialect', () => {
    assert.deepEqual(quirks({ provider: 'deepseek', apiMode: 'anthropic_messages' }), []);
  });
});
