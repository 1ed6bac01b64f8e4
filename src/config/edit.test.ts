import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { parse } from 'yaml';
import { defaultConfig } from './default-config.ts';
import { getConfigValue, removeConfigValue, setConfigValue, showConfig, type SetOutcome } from './edit.ts';
import { jsonSchema } from './json-schema.ts';
import { loadConfig } from './load.ts';
import { ConfigError } from './problem.ts';
import type { Config } from './schema.ts';
import { plainServer } from './test-mcp-server.ts';

const withSecrets: Config = {
  ...defaultConfig,
  model: { ...defaultConfig.model, provider: 'anthropic', api_key: ['sk-one', 'sk-two'] },
  channels: { ...defaultConfig.channels, api: { ...defaultConfig.channels.api, key: 'api-secret' } },
  mcp_servers: {
    a: { ...plainServer, command: 'x', args: ['y'], env: { TOKEN: 'mcp-secret' } },
  },
  store: { url: 'postgres://me:db-secret@db.test/talaria' },
};

describe('getConfigValue', () => {
  test('gives the value in force, defaults included', () => {
    assert.deepEqual(getConfigValue(defaultConfig, 'gateway.port'), { kind: 'found', value: 8477, text: '8477' });
    assert.deepEqual(getConfigValue(defaultConfig, 'log.level'), { kind: 'found', value: 'info', text: 'info' });
    assert.deepEqual(getConfigValue(defaultConfig, 'toolsets'), { kind: 'found', value: ['core'], text: '["core"]' });
    assert.deepEqual(getConfigValue(defaultConfig, 'toolsets.0'), { kind: 'found', value: 'core', text: 'core' });
    assert.deepEqual(getConfigValue(defaultConfig, 'model.provider'), { kind: 'found', value: null, text: 'null' });
    assert.deepEqual(getConfigValue(defaultConfig, 'gateway.agent_cache'), {
      kind: 'found',
      value: { max_size: 128, idle_ttl_s: 3600 },
      text: '{"max_size":128,"idle_ttl_s":3600}',
    });
  });

  test('never gives a secret', () => {
    const text = (key: string) => {
      const found = getConfigValue(withSecrets, key);
      return found.kind === 'found' ? found.text : found.message;
    };
    assert.equal(text('channels.api.key'), '[set]');
    assert.equal(text('model.api_key'), '["[set]","[set]"]');
    assert.equal(text('mcp_servers.a.env'), '{"TOKEN":"[set]"}');
    assert.equal(text('store.url'), 'postgres://me:[set]@db.test/talaria');
    assert.equal(text('channels.slack.app_token'), 'null');
  });

  test('names what was meant', () => {
    const message = (key: string) => {
      const found = getConfigValue(defaultConfig, key);
      return found.kind === 'unknown' ? found.message : found.text;
    };
    assert.equal(message('gateway.prot'), 'unknown key `gateway.prot`; did you mean `port`?');
    assert.equal(message('gatway.port.x'), 'unknown key `gatway`; did you mean `gateway`?');
    assert.equal(message('port'), 'unknown key `port`; it belongs under `gateway`');
    assert.equal(message('gateway.port.x'), 'unknown key `gateway.port.x`');
    assert.equal(message('mcp_servers.b.url'), '`mcp_servers.b.url` is not set');
    assert.match(message(''), /^unknown key ``; known here: model, /);
  });
});

test('showConfig is YAML of everything, with secrets hidden', async () => {
  const text = showConfig(withSecrets);
  assert.doesNotMatch(text, /secret|sk-/);
  assert.deepEqual(parse(text), {
    ...defaultConfig,
    model: { ...withSecrets.model, api_key: ['[set]', '[set]'] },
    channels: { ...defaultConfig.channels, api: { ...defaultConfig.channels.api, key: '[set]' } },
    mcp_servers: { a: { ...withSecrets.mcp_servers['a'], env: { TOKEN: '[set]' } } },
    store: { url: 'postgres://me:[set]@db.test/talaria' },
  });
});

describe('setConfigValue', () => {
  let home = '';
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'talaria-edit-'));
  });
  afterEach(async () => {
    await rm(home, { recursive: true, force: true });
  });

  const write = (name: string, text: string | Uint8Array, mode = 0o600) => writeFile(join(home, name), text, { mode });
  const read = (name: string) => readFile(join(home, name), 'utf8');
  const modeOf = async (name: string) => (await stat(join(home, name))).mode & 0o777;
  const set = (key: string, value: string, env = {}) => setConfigValue({ home, env }, key, value);
  const written = async (key: string, value: string, env = {}) => {
    const outcome = await set(key, value, env);
    assert.equal(outcome.kind, 'written', JSON.stringify(outcome));
    const { config, problems } = await loadConfig({ home, env });
    assert.deepEqual(problems, []);
    assert.ok(config !== null);
    return config;
  };
  const refusal = (outcome: SetOutcome) =>
    outcome.kind === 'refused' ? [outcome.reason, outcome.message] : ['written', ''];

  test('creates a file that helps the editor, with its schema beside it', async () => {
    const outcome = await set('gateway.port', '9000');
    assert.deepEqual(outcome, { kind: 'written', path: join(home, 'config.yaml'), secretNames: [], warnings: [] });
    assert.equal(
      await read('config.yaml'),
      `# yaml-language-server: $schema=./config.schema.json
# Talaria's configuration. Every key is optional; \`talaria config check\` names mistakes.
gateway:
  port: 9000
`,
    );
    assert.equal(await modeOf('config.yaml'), 0o600);
    assert.deepEqual(JSON.parse(await read('config.schema.json')), JSON.parse(JSON.stringify(jsonSchema())));
  });

  test('creates the home too', async () => {
    await rm(home, { recursive: true });
    assert.equal((await written('gateway.port', '9000')).gateway.port, 9000);
    assert.equal((await stat(home)).mode & 0o777, 0o700);
  });

  test('keeps comments, order and permissions of the file, and leaves no other file behind', async () => {
    const text = '# mine\ngateway:  # service\n  port: 1   # port\nlog: { level: info }\n';
    await write('config.yaml', text);
    await chmod(join(home, 'config.yaml'), 0o640);
    await written('gateway.port', '2');
    assert.equal(await read('config.yaml'), text.replace('1', '2'));
    assert.equal(await modeOf('config.yaml'), 0o640);
    assert.deepEqual((await readdir(home)).sort(), [
      'SOUL.md',
      'config.yaml',
      'logs',
      'memories',
      'skills',
      'workspace',
    ]);
  });

  test('writes through a link', async () => {
    await mkdir(join(home, 'dotfiles'));
    await write('dotfiles/talaria.yaml', 'log: {}\n');
    await symlink('dotfiles/talaria.yaml', join(home, 'config.yaml'));
    await written('log.level', 'debug');
    assert.equal(await read('dotfiles/talaria.yaml'), 'log: { level: debug }\n');
  });

  test('brings an older schema file up to date', async () => {
    await write('config.yaml', 'log: {}\n');
    await write('config.schema.json', '{}');
    await written('log.level', 'debug');
    assert.deepEqual(JSON.parse(await read('config.schema.json')), JSON.parse(JSON.stringify(jsonSchema())));
  });

  test('reads the value as what the key wants', async () => {
    assert.equal((await written('compression.enabled', 'false')).compression.enabled, false);
    assert.equal((await written('compression.threshold', '0.25')).compression.threshold, 0.25);
    assert.deepEqual((await written('toolsets', '[core, web]')).toolsets, ['core', 'web']);
    assert.equal((await written('model.name', '4')).model.name, '4');
    assert.equal((await written('model.name', 'a: b # c')).model.name, 'a: b # c');
    assert.equal((await written('model.name', '"x y"')).model.name, 'x y');
    assert.equal((await written('model.name', 'null')).model.name, null);
    const users = (await written('channels.discord.allowed_users', '[123456789012345678901, ann]')).channels.discord;
    assert.deepEqual(users.allowed_users, ['123456789012345678901', 'ann']);
    const servers = (await written('mcp_servers.a', '{ command: npx, args: [x] }')).mcp_servers;
    assert.deepEqual(servers['a']?.args, ['x']);
  });

  test('takes one plain value for a list of it', async () => {
    assert.deepEqual((await written('toolsets', 'core')).toolsets, ['core']);
    const { channels } = await written('channels.telegram.allowed_users', '*');
    assert.deepEqual(channels.telegram.allowed_users, ['*']);
    assert.deepEqual((await written('terminal.folders', '/srv/data')).terminal.folders, ['/srv/data']);
    assert.deepEqual((await written('toolsets', '[core, web]')).toolsets, ['core', 'web']);
  });

  test('takes a reference as it is', async () => {
    await written('gateway.port', '${P}', { P: '7' });
    await written('channels.api.key', '${K}', { P: '7', K: 'secret' });
    assert.match(await read('config.yaml'), /port: \$\{P\}\n(.|\n)*key: \$\{K\}\n/);
    assert.deepEqual((await readdir(home)).includes('.env'), false);
  });

  test('passes on what the new value warns of', async () => {
    const outcome = await set('channels.slack.bot_token', 'x');
    assert.deepEqual(outcome.kind === 'written' && outcome.warnings.map(({ path }) => path), ['channels.slack']);
  });

  describe('refuses, and changes nothing:', () => {
    const cases: [
      what: string,
      before: string | Uint8Array,
      key: string,
      value: string,
      reason: string,
      message: RegExp,
    ][] = [
      [
        'an unknown key',
        'log: {}\n',
        'gateway.prot',
        '1',
        'unknown-key',
        /^unknown key `gateway.prot`; did you mean `port`\?$/,
      ],
      [
        'a value out of range',
        'log: {}\n',
        'gateway.port',
        '99999',
        'bad-value',
        /^`gateway.port` must be a whole number from 0 to 65535, not 99999$/,
      ],
      [
        'a value of another type',
        'log: {}\n',
        'gateway.port',
        'many',
        'bad-value',
        /^`gateway.port` must be a whole number .*, not "many"$/,
      ],
      ['an unknown choice', 'log: {}\n', 'log.level', 'inof', 'bad-value', /did you mean `info`\?$/],
      [
        'a value that is no YAML',
        'log: {}\n',
        'toolsets',
        '[core',
        'bad-value',
        /^`toolsets`: not valid YAML; quotes may be missing: /,
      ],
      ['a reference that is not set', 'log: {}\n', 'model.name', '${NOPE}', 'bad-value', /^`\$\{NOPE\}` is not set/],
      [
        'a section with unknown keys',
        'log: {}\n',
        'gateway',
        '{ prot: 1 }',
        'bad-value',
        /^unknown key `gateway.prot`/,
      ],
      ['an empty secret', 'log: {}\n', 'channels.api.key', '', 'bad-value', /^`channels.api.key` must not be empty$/],
      [
        'a broken file',
        'log:\n\tlevel: x\n',
        'gateway.port',
        '1',
        'already-broken',
        /^fix this first: config.yaml:2:1: this line is indented with a tab/,
      ],
      [
        'a file with another mistake',
        'log: {}\nzzz: 1\n',
        'gateway.port',
        '1',
        'already-broken',
        /^fix this first: config.yaml:2:1: unknown key `zzz`/,
      ],
      [
        'a list',
        '- a\n',
        'gateway.port',
        '1',
        'already-broken',
        /^fix this first: config.yaml:1:1: the file must hold keys/,
      ],
      [
        'a text',
        'hello\n',
        'gateway.port',
        '1',
        'already-broken',
        /^fix this first: config.yaml:1:1: the file must hold keys/,
      ],
      [
        'UTF-16',
        Buffer.from('\uFEFFlog: {}', 'utf16le'),
        'gateway.port',
        '1',
        'already-broken',
        /^fix this first: config.yaml: this file is saved as UTF-16/,
      ],
      [
        'a shared section',
        'auxiliary:\n  title: &t { name: x }\n  vision: *t\n',
        'auxiliary.vision.name',
        'y',
        'edit-by-hand',
        /is shared through an alias/,
      ],
    ];
    for (const [what, before, key, value, reason, message] of cases) {
      test(what, async () => {
        await write('config.yaml', before);
        const [gotReason, gotMessage = ''] = refusal(await set(key, value));
        assert.equal(gotReason, reason, gotMessage);
        assert.match(gotMessage, message);
        assert.deepEqual(await readFile(join(home, 'config.yaml')), Buffer.from(before));
        assert.deepEqual(await readdir(home), ['config.yaml']);
      });
    }

    test('a folder in place of the file', async () => {
      await mkdir(join(home, 'config.yaml'));
      assert.deepEqual(refusal(await set('log.level', 'info')), [
        'already-broken',
        'fix this first: config.yaml: this is a folder; it must be a file',
      ]);
    });

    test('a broken .env', async () => {
      await write('.env', 'oops\n');
      assert.match(
        refusal(await set('log.level', 'info'))[1] ?? '',
        /^fix this first: \.env:1:1: this line is neither/,
      );
    });
  });

  test('may be what mends a file', async () => {
    await write('config.yaml', 'gateway: { port: x }\n');
    assert.equal((await written('gateway.port', '1')).gateway.port, 1);
  });

  test(
    'says what to do when the file cannot be written',
    { skip: process.getuid?.() === 0 && 'root may write' },
    async () => {
      await write('config.yaml', 'log: {}\n');
      for (const name of ['workspace', 'logs', 'memories', 'skills']) await mkdir(join(home, name));
      await chmod(home, 0o500);
      await assert.rejects(set('log.level', 'debug'));
      await chmod(home, 0o700);
    },
  );

  describe('secrets', () => {
    test('go into .env, for this user alone, and config.yaml reads them from there', async () => {
      const outcome = await set('channels.telegram.token', '123:abc');
      assert.deepEqual(outcome.kind === 'written' && outcome.secretNames, ['TELEGRAM_BOT_TOKEN']);
      assert.match(await read('config.yaml'), /\n {2}telegram:\n {4}token: \$\{TELEGRAM_BOT_TOKEN\}\n$/);
      assert.equal(await read('.env'), 'TELEGRAM_BOT_TOKEN=123:abc\n');
      assert.equal(await modeOf('.env'), 0o600);
      const { config, secrets } = await loadConfig({ home, env: {} });
      assert.equal(config?.channels.telegram.token, '123:abc');
      assert.deepEqual(secrets, ['123:abc']);
    });

    test('keep the other lines of .env, and close it to others', async () => {
      await write('.env', '# mine\nA=1\nexport TALARIA_API_KEY=old # key\n');
      await chmod(join(home, '.env'), 0o644);
      assert.equal((await written('channels.api.key', 'new key!')).channels.api.key, 'new key!');
      assert.equal(await read('.env'), "# mine\nA=1\nexport TALARIA_API_KEY='new key!'\n");
      assert.equal(await modeOf('.env'), 0o600);
    });

    test('of any form come back as they were', async () => {
      for (const secret of [
        '0123',
        'true',
        'a: b #c',
        'it\'s "quoted"',
        '${',
        '$${x}',
        '[not a list',
        '*star',
        '@at',
        '%p',
        'ünï',
      ]) {
        const { config } = { config: await written('channels.api.key', secret) };
        assert.equal(config.channels.api.key, secret);
        assert.match(await read('config.yaml'), /key: \$\{TALARIA_API_KEY\}/);
      }
    });

    test('of a model are named after its provider', async () => {
      await written('model.provider', 'anthropic');
      assert.deepEqual((await written('model.api_key', 'sk-1')).model.api_key, ['sk-1']);
      await written('model.provider', 'openai');
      await written('fallback', '[{ provider: groq, api_key: gk }, { provider: openai-codex, api_key: ck }]');
      await written('auxiliary.title.api_key', 'tk');
      assert.deepEqual((await written('model.api_key', '[a-1, a-2]')).model.api_key, ['a-1', 'a-2']);
      assert.equal(
        await read('.env'),
        'ANTHROPIC_API_KEY=sk-1\nGROQ_API_KEY=gk\nOPENAI_CODEX_API_KEY=ck\nMODEL_API_KEY=tk\nOPENAI_API_KEY=a-1\nOPENAI_API_KEY_2=a-2\n',
      );
    });

    test('have the name of what they are for', async () => {
      await written('model.provider', 'anthropic');
      await written('model.api_key', 'sk-1');
      await written('web.api_key', 'wk');
      await written('channels.telegram.webhook_token', 'only-telegram-knows-this');
      assert.equal(
        await read('.env'),
        'ANTHROPIC_API_KEY=sk-1\nWEB_API_KEY=wk\nTELEGRAM_WEBHOOK_TOKEN=only-telegram-knows-this\n',
      );
    });

    test('of MCP servers and addresses are found inside a larger value', async () => {
      const config = await written(
        'mcp_servers',
        '{ gh: { command: x, env: { TOKEN: t1, URL: "${U}" } }, web: { url: "https://x.test", headers: { X-Key: h1 } } }',
        { U: 'u' },
      );
      assert.deepEqual(
        [config.mcp_servers['gh']?.env, config.mcp_servers['web']?.headers],
        [{ TOKEN: 't1', URL: 'u' }, { 'X-Key': 'h1' }],
      );
      await written('store.url', 'postgres://me:pw@db.test/x', { U: 'u' });
      assert.equal(
        await read('.env'),
        'MCP_GH_TOKEN=t1\nMCP_WEB_X_KEY=h1\nTALARIA_STORE_URL=postgres://me:pw@db.test/x\n',
      );
      assert.doesNotMatch(await read('config.yaml'), /t1|h1|pw/);
    });

    test('replace the value of the name that the key already reads', async () => {
      await write('config.yaml', 'channels: { api: { key: "${MY_KEY}" } } # mine\n');
      await write('.env', 'MY_KEY=old\n');
      await written('channels.api.key', 'new');
      assert.equal(await read('config.yaml'), 'channels: { api: { key: "${MY_KEY}" } } # mine\n');
      assert.equal(await read('.env'), 'MY_KEY=new\n');
    });

    test('take another name where the first is read elsewhere or means something else in the environment', async () => {
      await write('config.yaml', 'model: { provider: openai, api_key: "${OPENAI_API_KEY}" }\n');
      await write('.env', 'OPENAI_API_KEY=one\n');
      const config = await written('fallback', '{ provider: openai, api_key: two }');
      assert.deepEqual([config.model.api_key, config.fallback[0]?.api_key], [['one'], ['two']]);
      const env = { TALARIA_API_KEY: 'from environment' };
      assert.equal((await written('channels.api.key', 'mine', env)).channels.api.key, 'mine');
      assert.equal(await read('.env'), 'OPENAI_API_KEY=one\nOPENAI_API_KEY_2=two\nTALARIA_API_KEY_2=mine\n');
    });

    test('are not written if the change is refused', async () => {
      await write('config.yaml', 'zzz: 1\n');
      assert.equal((await set('channels.api.key', 'secret')).kind, 'refused');
      assert.deepEqual(await readdir(home), ['config.yaml']);
    });

    test('a .env that cannot be replaced stops the change before config.yaml reads from it', async () => {
      await mkdir(join(home, '.env'));
      assert.equal(refusal(await set('channels.api.key', 'secret'))[0], 'already-broken');
      assert.equal((await readdir(home)).includes('config.yaml'), false);
    });
  });

  test('what was set is taken out again, with the secrets that are its own and read nowhere else', async () => {
    await writeFile(join(home, '.env'), '# mine\nSHARED=1\nOTHER=2\n');
    await set('mcp_servers.b', '{ "command": "y", "env": { "KEY": "${SHARED}" } }');
    const before = await readFile(join(home, 'config.yaml'), 'utf8');
    const server = { command: 'x', env: { TOKEN: 'topsecret', KEY: '${SHARED}', MORE: '${OTHER}' } };
    await set('mcp_servers.a', JSON.stringify(server));
    const remove = () => removeConfigValue({ home, env: {} }, 'mcp_servers.a', (name) => name.startsWith('MCP_A_'));
    assert.deepEqual(await remove(), { kind: 'removed', secretNames: ['MCP_A_TOKEN'], keptNames: ['OTHER'] });
    assert.equal(await readFile(join(home, 'config.yaml'), 'utf8'), before);
    assert.equal(await readFile(join(home, '.env'), 'utf8'), '# mine\nSHARED=1\nOTHER=2\n');
    assert.equal((await remove()).kind, 'refused');
  });

  test('a failure of the disk is one sentence', async () => {
    await write('config.yaml', 'log: {}\n');
    await mkdir(join(home, 'config.schema.json'));
    await rm(join(home, 'config.yaml'));
    await assert.rejects(set('log.level', 'debug'), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.reason, 'not-writable');
      assert.match(error.message, /^The configuration can't be written: /);
      return true;
    });
  });
});
