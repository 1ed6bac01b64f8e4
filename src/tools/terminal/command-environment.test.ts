import assert from 'node:assert/strict';
import test from 'node:test';
import { commandEnvironment } from './command-environment.ts';

test('only harmless variables are passed on', () => {
  assert.deepEqual(
    commandEnvironment({
      PATH: '/bin',
      HOME: '/home/ada',
      LANG: 'C.UTF-8',
      LC_TIME: 'C',
      TZ: 'UTC',
      ANTHROPIC_API_KEY: 'a',
      OPENAI_API_KEY: 'b',
      TELEGRAM_BOT_TOKEN: 'c',
      AWS_SECRET_ACCESS_KEY: 'd',
      DATABASE_URL: 'postgres://u:p@host',
      LC_SECRET: 'e',
      SSH_AUTH_SOCK: '/tmp/agent',
      BASH_ENV: '/tmp/evil',
      LD_PRELOAD: '/tmp/evil.so',
      NODE_OPTIONS: '--require=/tmp/evil.js',
      TALARIA_HOME: '/home/ada/.talaria',
      USER: undefined,
    }),
    { PATH: '/bin', HOME: '/home/ada', LANG: 'C.UTF-8', LC_TIME: 'C', TZ: 'UTC' },
  );
});

test('a proxy is passed on unless its address holds a password', () => {
  assert.deepEqual(
    commandEnvironment({ PATH: '/bin', http_proxy: 'http://proxy:3128', HTTPS_PROXY: 'http://u:p@proxy:3128' }),
    { PATH: '/bin', http_proxy: 'http://proxy:3128' },
  );
});

test('without a PATH there is still one', () => {
  assert.deepEqual(commandEnvironment({}), { PATH: '/usr/local/bin:/usr/bin:/bin' });
});
