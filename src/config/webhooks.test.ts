import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkConfigText } from './check.ts';

const on = 'channels: { telegram: { token: "123:abc" } }\n';
const hook = (text: string) => `${on}webhooks:\n  ci: { secret: "0123456789abcdef", prompt: "x", ${text} }\n`;

async function findings(text: string): Promise<string[]> {
  const { problems, warnings } = await checkConfigText(text, {});
  return [...problems, ...warnings].map(({ line, message }) => `${line}: ${message}`);
}

test('a webhook needs a secret and a prompt; all else has a default', async () => {
  const { config } = await checkConfigText(hook(''), {});
  assert.deepEqual(
    { ...config?.webhooks['ci'] },
    {
      secret: '0123456789abcdef',
      signature: 'talaria',
      prompt: 'x',
      deliver_to: null,
      session: 'each',
      toolsets: ['safe'],
    },
  );
  assert.deepEqual(await findings('webhooks: { ci: { prompt: x } }'), ['1: `webhooks.ci` needs a `secret`']);
  assert.deepEqual(await findings('webhooks: { ci: { secret: 0123456789abcdef } }'), [
    '1: `webhooks.ci` needs a `prompt`',
  ]);
});

test('a secret that is short is refused and not shown', async () => {
  assert.deepEqual(await findings('webhooks: { ci: { secret: hunter2, prompt: x } }'), [
    '1: `webhooks.ci.secret` must be a text of at least 16 characters',
  ]);
});

test('the name telegram is taken, with the reason, and the secret is known as one', async () => {
  const [problem = '', ...others] = await findings(hook('').replace('ci:', 'telegram:'));
  assert.match(problem, /^3: `telegram` can't stand here: .*other than telegram, whose path Telegram itself calls$/);
  assert.equal(others.length, 0);
  assert.deepEqual(await findings(hook('').replace('ci:', 'telegram2:')), []);
  assert.ok((await checkConfigText(hook(''), {})).secrets.includes('0123456789abcdef'));
});

test('an answer can only go to a channel that there is, and one that is off is warned about', async () => {
  assert.deepEqual(await findings(hook('deliver_to: "telegram:12345"')), []);
  const [problem = ''] = await findings(hook('deliver_to: "mail:me@example.com"'));
  assert.match(problem, /`webhooks.ci.deliver_to` must be CHANNEL:CHAT with one of telegram, discord, slack/);
  assert.deepEqual(await findings(hook('deliver_to: "telegram:12345"').replace(on, '')), [
    '2: `webhooks.ci.deliver_to` needs `channels.telegram.token`: until it is set, answers wait',
  ]);
});

test('toolsets work now, for all, for a channel and for a webhook', async () => {
  const text = `toolsets: [files]\n${hook('toolsets: [web, mcp-notes]')}`.replace('token:', 'toolsets: [safe], token:');
  assert.deepEqual(await findings(text), []);
  assert.deepEqual(await findings('channels: { api: { toolsets: [memory] } }'), []);
});
