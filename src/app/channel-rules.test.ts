import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkConfigText } from '../config/check.ts';
import { channelRules, ownWebhook } from './channel-rules.ts';

async function rulesFrom(text: string) {
  const { config } = await checkConfigText(text, {});
  assert.ok(config);
  return { config, rules: channelRules(() => config) };
}

test('the toolsets of a session are those of its channel, else the common ones', async () => {
  const { rules } = await rulesFrom(`
    toolsets: [files, memory]
    channels: { telegram: { toolsets: [web] }, api: { toolsets: [safe] } }`);
  const seen = ['telegram:direct:5', 'discord:group:9:7', 'api:direct:x', 'web:direct:x', 'cli:direct:x', ''].map(
    (key) => rules.toolsets(key).join(),
  );
  assert.deepEqual(seen, ['web', 'files,memory', 'safe', 'safe', 'files,memory', 'files,memory']);
});

test('a webhook’s sessions have its own toolsets, and safe ones once it is gone', async () => {
  const { rules } = await rulesFrom(`
    webhooks:
      ci: { secret: 0123456789abcdef, prompt: x }
      wide: { secret: 0123456789abcdef, prompt: x, toolsets: [core] }`);
  const seen = ['ci', 'ci:abc', 'wide:1', 'gone', '__proto__', 'constructor'].map((name) =>
    rules.toolsets(`webhook:direct:${name}`).join(),
  );
  assert.deepEqual(seen, ['safe', 'safe', 'core', 'safe', 'safe', 'safe']);
});

test('a webhook interrupts nobody, and is found by its own name only', async () => {
  const { config, rules } = await rulesFrom(`
    gateway: { busy_mode: interrupt }
    webhooks: { ci: { secret: 0123456789abcdef, prompt: x } }`);
  assert.deepEqual([rules.busyMode('webhook'), rules.busyMode('web')], ['queue', 'interrupt']);
  const found = ['ci', 'toString', '__proto__', ''].map((name) => ownWebhook(config, name) !== null);
  assert.deepEqual(found, [true, false, false, false]);
});

test('what a channel says of mentions and of messages mid-turn counts for it alone', async () => {
  const { rules } = await rulesFrom(`
    gateway: { busy_mode: interrupt }
    channels: { telegram: { busy_mode: queue, require_mention: false } }`);
  assert.deepEqual(
    ['telegram', 'discord', 'web', 'unknown'].map((name) => [rules.busyMode(name), rules.requiresMention(name)]),
    [
      ['queue', false],
      ['interrupt', true],
      ['interrupt', true],
      ['interrupt', true],
    ],
  );
});
