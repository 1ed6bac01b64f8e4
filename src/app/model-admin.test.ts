import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkConfigText } from '../config/check.ts';
import { systemClock } from '../lib/clock.ts';
import { openModelAdmin } from './model-admin.ts';
import { describeProviders, readProviderChoice } from './model-choice.ts';

const never = new AbortController().signal;

async function admin(text: string, environment: Record<string, string> = {}) {
  const { config, problems } = await checkConfigText(text, environment);
  assert.deepEqual(problems, []);
  assert.ok(config);
  return openModelAdmin({ config, environment, clock: systemClock });
}

const chain = `
model: { provider: openai, name: gpt-x, api_key: [key-one, key-two] }
fallback: [{ provider: anthropic, name: claude-x }, { name: gpt-small }]
auxiliary: { title: { provider: ollama, name: tiny } }
`;

describe('the models of a configuration', () => {
  test('are described with what they are for, and without their secrets', async () => {
    const models = (await admin(chain)).describe();
    assert.deepEqual(
      models.map(({ role, provider, name, origin, keys }) => [role, provider, name, origin, keys.length]),
      [
        ['main', 'openai', 'gpt-x', 'configured', 2],
        ['fallback', 'anthropic', 'claude-x', 'configured', 0],
        ['fallback', 'openai', 'gpt-small', 'configured', 2],
        ['compression', 'openai', 'gpt-x', 'main', 2],
        ['title', 'ollama', 'tiny', 'configured', 0],
        ['approval', 'openai', 'gpt-x', 'main', 2],
      ],
    );
    assert.equal(models[1]?.problem, 'no key is known; enter one with: talaria model set anthropic');
    assert.equal(models[0]?.problem, null);
    assert.doesNotMatch(JSON.stringify(models), /key-one|key-two/);
  });

  test('the rehearsal does not answer for a model that nobody has', async () => {
    const models = await admin('model: { provider: offline }');
    assert.equal(models.choose(models.read('rehearsal-instant')).description.name, 'rehearsal-instant');
    for (const typed of ['nosuch/x', 'gpt-x']) {
      assert.throws(() => models.read(typed), /^AppError: there is no provider "(nosuch|gpt-x)"; see talaria model/);
    }
  });

  test('a choice takes what is configured for its provider, and nothing of another one', async () => {
    const models = await admin(chain, { ANTHROPIC_API_KEY: 'from-outside' });
    const chosen = (typed: string) => {
      const { provider, name, keys } = models.choose(models.read(typed)).description;
      return [provider, name, keys.length];
    };
    assert.deepEqual(chosen('openai'), ['openai', 'gpt-x', 2]);
    assert.deepEqual(chosen('gpt-other'), ['openai', 'gpt-other', 2]);
    assert.deepEqual(chosen('openai/gpt-small'), ['openai', 'gpt-small', 2]);
    assert.deepEqual(chosen('anthropic'), ['anthropic', 'claude-x', 1]);
    assert.deepEqual(chosen('groq/llama'), ['groq', 'llama', 0]);
    assert.deepEqual(chosen('meta/llama'), ['openai', 'meta/llama', 2]);
    const withKey = models.choose({ provider: 'openai', name: null, key: 'third' }).description;
    assert.equal(withKey.keys.length, 1);
    const own = models.choose({ provider: 'custom', name: 'x', baseUrl: 'http://127.0.0.1:1/v1' }).description;
    assert.deepEqual([own.base_url, own.problem], ['http://127.0.0.1:1/v1', null]);
    assert.match(models.choose({ provider: 'custom', name: 'x' }).description.problem ?? '', /model\.base_url/);
    assert.match(models.choose({ provider: 'vllm', name: null }).description.problem ?? '', /no model is named/);
  });

  test('an aggregator’s names may begin like a provider', async () => {
    const models = await admin('model: { provider: openrouter, api_key: k }');
    assert.deepEqual(models.read('anthropic/claude'), { provider: 'openrouter', name: 'anthropic/claude' });
    assert.deepEqual(models.read('openrouter/anthropic/claude'), { provider: 'openrouter', name: 'anthropic/claude' });
    assert.deepEqual(models.read('anthropic'), { provider: 'anthropic', name: null });
  });

  test('a mistyped provider is told the nearest one', () => {
    assert.throws(() => readProviderChoice('antropic/x'), { name: 'AppError', message: /did you mean anthropic\?/ });
    assert.throws(() => readProviderChoice('qqqqq'), { name: 'AppError', message: /see talaria model providers/ });
    assert.throws(() => readProviderChoice('openai/'), { name: 'AppError', message: /names no model/ });
    assert.deepEqual(readProviderChoice('openrouter/a/b:free'), { provider: 'openrouter', name: 'a/b:free' });
  });

  test('the offline model answers a trial and is listed', async () => {
    const model = (await admin('model: { provider: offline, name: rehearsal-instant }')).choose(null);
    assert.deepEqual(await model.names(never), ['rehearsal', 'rehearsal-instant']);
    const [trial] = await model.try(never);
    assert.ok(trial?.kind === 'answered' && trial.text !== '' && trial.usage.outputTokens > 0);
  });

  test('a provider without its key fails with what to do', async () => {
    const [trial] = await (await admin('model: { provider: anthropic }')).choose(null).try(never);
    assert.ok(trial?.kind === 'failed');
    assert.deepEqual([trial.reason, /talaria model set anthropic/.test(trial.problem)], ['auth', true]);
  });

  test('providers are described with whether their key is known', () => {
    const providers = describeProviders({ OPENAI_API_KEY: 'x' });
    const known = (name: string) => providers.find((provider) => provider.name === name)?.has_key;
    assert.deepEqual([known('openai'), known('anthropic')], [true, false]);
    assert.doesNotMatch(JSON.stringify(providers), /"x"/);
  });
});
