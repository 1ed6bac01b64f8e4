import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkConfigText, configBytesMax } from './check.ts';
import { defaultConfig } from './default-config.ts';
import type { Environment } from './environment.ts';
import { formatProblem } from './problem.ts';
import { providers, type Config } from './schema.ts';
import { plainServer } from './test-mcp-server.ts';

async function problemsOf(input: string | Uint8Array, environment: Environment = {}): Promise<string[]> {
  const checked = await checkConfigText(input, environment);
  assert.equal(checked.config === null, checked.problems.length > 0);
  return checked.problems.map(formatProblem);
}

async function configOf(input: string | Uint8Array, environment: Environment = {}): Promise<Config> {
  const { config, problems } = await checkConfigText(input, environment);
  assert.deepEqual(problems, []);
  assert.ok(config !== null);
  return config;
}

describe('a configuration that says nothing', () => {
  const blanks = {
    empty: '',
    'white space': ' \n\t\n',
    comments: '# a\n  # gateway:\r\n#',
    mark: '\uFEFF',
    null: 'null\n',
    start: '---\n',
  };
  for (const [name, text] of Object.entries(blanks)) {
    test(`is the defaults (${name})`, async () => {
      assert.deepEqual(await checkConfigText(text, {}), {
        config: defaultConfig,
        problems: [],
        warnings: [],
        secrets: [],
      });
    });
  }

  test('may have sections and keys with nothing behind them', async () => {
    const text = 'gateway:\n  # port: 1\nmodel:\n  provider:\n  name: ~\nfallback:\nmcp_servers:\nlog: { level: }\n';
    assert.deepEqual(await configOf(text), defaultConfig);
  });
});

describe('a good configuration', () => {
  test('is read with every section of the documented example', async () => {
    const text = `
model:
  provider: anthropic          # offline · openai · anthropic
  name: claude-sonnet-4-5
  base_url: https://example.test/v1
  api_mode: chat_completions
  api_key: \${ANTHROPIC_API_KEY}
  context_length: 200000
fallback: []
auxiliary: {}
agent: { max_iterations: 90, api_max_retries: 3, inactivity_timeout_s: 1800, inactivity_warning_s: 900 }
compression: { enabled: true, threshold: 0.5, target_ratio: 0.2, protect_last_n: 20 }
gateway:
  host: 127.0.0.1
  port: 8477
  busy_mode: steer
  agent_cache: { max_size: 128, idle_ttl_s: 3600 }
channels:
  telegram: { token: \${TELEGRAM_BOT_TOKEN}, api_root: https://api.telegram.org, allowed_users: [12345, "*"] }
  discord: { token: discord-token }
  slack: { bot_token: bot, app_token: app }
  api: { key: \${TALARIA_API_KEY} }
terminal: { backend: auto, cwd: workspace, timeout_s: 180 }
approvals: { mode: ask, timeout_s: 300 }
toolsets: [core]
mcp_servers: { name: { command: npx, args: [a, b], env: { K: v } }, other: { url: "https://x.test", headers: { A: b } } }
budget: { session_usd: 0, day_usd: 0 }
store: { url: "sqlite:state.db" }
log: { level: info }
`;
    const environment = { ANTHROPIC_API_KEY: 'sk-1', TELEGRAM_BOT_TOKEN: '1:a', TALARIA_API_KEY: 'k' };
    const { config, problems, secrets } = await checkConfigText(text, environment);
    assert.deepEqual(problems, []);
    assert.deepEqual(config, {
      ...defaultConfig,
      model: {
        ...defaultConfig.model,
        provider: 'anthropic',
        name: 'claude-sonnet-4-5',
        base_url: 'https://example.test/v1',
        api_mode: 'chat_completions',
        api_key: ['sk-1'],
        context_length: 200_000,
      },
      channels: {
        telegram: { ...defaultConfig.channels.telegram, token: '1:a', allowed_users: ['12345', '*'] },
        discord: { ...defaultConfig.channels.discord, token: 'discord-token' },
        slack: { ...defaultConfig.channels.slack, bot_token: 'bot', app_token: 'app' },
        api: { ...defaultConfig.channels.api, key: 'k' },
      },
      mcp_servers: {
        name: { ...plainServer, command: 'npx', args: ['a', 'b'], env: { K: 'v' } },
        other: { ...plainServer, url: 'https://x.test', headers: { A: 'b' } },
      },
    });
    assert.deepEqual(secrets, ['sk-1', '1:a', 'discord-token', 'bot', 'app', 'k', 'v', 'b']);
  });

  test('may name every provider', async () => {
    for (const provider of providers) {
      const text = `model: { provider: ${provider}, base_url: "http://localhost:1" }`;
      assert.equal((await configOf(text)).model.provider, provider);
    }
  });

  test('takes one fallback or a list, and `model` for `name`', async () => {
    const { api_key, ...none } = defaultConfig.model;
    const entry = { ...none, api_key, provider: 'openai', name: 'x' };
    assert.deepEqual((await configOf('fallback: { provider: openai, model: x }')).fallback, [entry]);
    assert.deepEqual((await configOf('fallback:\n- { provider: openai, name: x }\n')).fallback, [entry]);
  });

  test('takes a pool of keys', async () => {
    assert.deepEqual((await configOf('model: { api_key: [a, b] }')).model.api_key, ['a', 'b']);
  });

  test('keeps every digit of a long user id', async () => {
    const { channels } = await configOf('channels: { discord: { allowed_users: [123456789012345678901, ann, 7] } }');
    assert.deepEqual(channels.discord.allowed_users, ['123456789012345678901', 'ann', '7']);
  });

  test('may say what a model costs and how long it may take, wherever a model stands', async () => {
    const text = `
model: { price: { input: 3, output: 15.5 }, stall_timeout_s: 60, max_output_tokens: 4096 }
fallback: [{ name: x, price: { cached_input: 0.1 } }]
auxiliary: { title: { name: y, stall_timeout_s: 5 } }
agent: { reasoning_effort: high, trouble_deadline_s: 60 }
`;
    const { model, fallback, auxiliary, agent } = await configOf(text);
    const noPrice = { input: null, cached_input: null, cache_write: null, cache_write_long: null, output: null };
    assert.deepEqual(
      { model, fallback, title: auxiliary.title, agent },
      {
        model: {
          ...defaultConfig.model,
          price: { ...noPrice, input: 3, output: 15.5 },
          stall_timeout_s: 60,
          max_output_tokens: 4096,
        },
        fallback: [{ ...defaultConfig.model, name: 'x', price: { ...noPrice, cached_input: 0.1 } }],
        title: { ...defaultConfig.model, name: 'y', stall_timeout_s: 5 },
        agent: { ...defaultConfig.agent, reasoning_effort: 'high', trouble_deadline_s: 60 },
      },
    );
  });

  test('follows anchors, aliases and merge keys, the nearer key winning', async () => {
    const text = `
auxiliary:
  title: &small { provider: openai, name: tiny }
  vision: *small
  approval:
    <<: *small
    name: other
  compression:
    name: third
    <<: [*small, { base_url: "http://x.test" }]
`;
    const { auxiliary } = await configOf(text);
    const model = (name: string, base_url: string | null = null) => ({
      ...defaultConfig.model,
      provider: 'openai',
      name,
      base_url,
    });
    assert.deepEqual(auxiliary, {
      title: model('tiny'),
      vision: model('tiny'),
      approval: model('other'),
      compression: model('third', 'http://x.test'),
    });
  });

  test('may be saved with a byte-order mark and Windows line ends', async () => {
    assert.equal((await configOf(Buffer.from('\uFEFFgateway:\r\n  port: 1\r\n'))).gateway.port, 1);
  });

  for (const host of ['localhost', '0.0.0.0', '::1', '::', 'fe80::1%eth0', 'my-host.example.org']) {
    test(`may listen on ${host}`, async () => {
      assert.equal((await configOf(`gateway: { host: "${host}" }`)).gateway.host, host);
    });
  }
});

describe('mistakes', () => {
  test('are reported all at once, in the order of the file, with line and column', async () => {
    const text = `# a comment
gateway:
  prot: 99
  port: 99999
  busy_mode: stear
  agent_cache: { idle_ttl: 3, max_size: many }
port: 3
model:
  api_key: [3, ""]
  name: 4
  base_url: example.org
toolsets: core
log: loud
channels:
  telegram: { token: \${NOPE}, allowed_users: [1, true] }
terminal: { timeout_s: "180" }
compression: { enabled: yes, threshold: 1.5 }
zzz: 1
`;
    assert.deepEqual(await problemsOf(text), [
      'config.yaml:3:3: unknown key `gateway.prot`; did you mean `port`?',
      'config.yaml:4:9: `gateway.port` must be a whole number from 0 to 65535, not 99999',
      'config.yaml:5:14: `gateway.busy_mode` can\'t be "stear"; did you mean `steer`?',
      'config.yaml:6:18: unknown key `gateway.agent_cache.idle_ttl`; did you mean `idle_ttl_s`?',
      'config.yaml:6:41: `gateway.agent_cache.max_size` must be a whole number from 1 to 100000, not "many"',
      'config.yaml:7:1: unknown key `port`; it belongs under `gateway`',
      'config.yaml:9:13: `model.api_key[0]` must be text; put quotes around it',
      'config.yaml:9:16: `model.api_key[1]` must not be empty',
      'config.yaml:10:9: `model.name` must be text, not 4; put quotes around it',
      'config.yaml:11:13: `model.base_url` must be a web address that begins with http:// or https://, not "example.org"',
      'config.yaml:12:11: `toolsets` must be a list of toolsets, like [core], not "core"',
      'config.yaml:13:6: `log` must be a section with keys of its own, such as `level:`, not "loud"',
      'config.yaml:15:22: `${NOPE}` is not set in the environment; set it there or in .env',
      'config.yaml:15:50: `channels.telegram.allowed_users[1]` must be a user id or name, not true',
      'config.yaml:16:24: `terminal.timeout_s` must be a whole number from 1 to 86400, not "180"; remove the quotes around it',
      'config.yaml:17:25: `compression.enabled` must be true or false, not "yes"',
      'config.yaml:17:41: `compression.threshold` must be a number from 0.05 to 0.95, not 1.5',
      'config.yaml:18:1: unknown key `zzz`; known here: model, fallback, auxiliary, agent, compression, gateway, channels, terminal, approvals, files, skills, web, browser, memory, tools, toolsets, mcp_servers, webhooks, budget, store, log',
    ]);
  });

  test('are found in what a model costs and how hard it should think', async () => {
    const text = `
model: { price: 3, stall_timeout_s: 0 }
fallback: { name: x, price: { inptu: 1, output: -1 } }
agent: { reasoning_effort: hihg, trouble_deadline_s: never }
`;
    assert.deepEqual(await problemsOf(text), [
      'config.yaml:2:17: `model.price` must be a section with keys such as `input:` and `output:`, not 3',
      'config.yaml:2:37: `model.stall_timeout_s` must be a whole number from 1 to 86400, not 0',
      'config.yaml:3:31: unknown key `fallback.price.inptu`; did you mean `input`?',
      'config.yaml:3:49: `fallback.price.output` must be a number from 0 to 100000, not -1',
      'config.yaml:4:28: `agent.reasoning_effort` can\'t be "hihg"; did you mean `high`?',
      'config.yaml:4:54: `agent.trouble_deadline_s` must be a whole number from 1 to 86400, not "never"',
    ]);
  });

  test('name the key they are about', async () => {
    const { problems } = await checkConfigText('gateway:\n  agent_cache:\n    max_size: 0\n', {});
    const message = '`gateway.agent_cache.max_size` must be a whole number from 1 to 100000, not 0';
    assert.deepEqual(problems, [
      { file: 'config.yaml', line: 3, column: 15, path: 'gateway.agent_cache.max_size', message },
    ]);
  });

  const one: Record<string, [text: string, problem: string]> = {
    'a port that is no whole number': [
      'gateway: { port: 8.5 }',
      '1:18: `gateway.port` must be a whole number from 0 to 65535, not 8.5',
    ],
    'a negative port': ['gateway: { port: -1 }', '1:18: `gateway.port` must be a whole number from 0 to 65535, not -1'],
    'not a number': ['budget: { day_usd: .nan }', '1:20: `budget.day_usd` must be a number from 0 to 1000000, not NaN'],
    'an endless number': [
      'budget: { day_usd: .inf }',
      '1:20: `budget.day_usd` must be a number from 0 to 1000000, not Infinity',
    ],
    'a host with a port': [
      'gateway: { host: "localhost:80" }',
      '1:18: `gateway.host` must be a host name or an IP address, without a port, not "localhost:80"',
    ],
    'an address that is no web address': [
      'model: { base_url: "ftp://x" }',
      '1:20: `model.base_url` must be a web address that begins with http:// or https://, not "ftp://x"',
    ],
    'an unknown choice': [
      'terminal: { backend: podman }',
      '1:22: `terminal.backend` must be one of auto, bubblewrap, namespaces, landlock, docker, ssh, none, not "podman"',
    ],
    'an unknown store': [
      'store: { url: "mysql://x" }',
      '1:15: `store.url` must be sqlite:FILE or postgres://…, not "mysql://x"',
    ],
    'a section that is a list': [
      'gateway: [1]',
      '1:10: `gateway` must be a section with keys of its own, such as `host:`, not a list',
    ],
    'a list with an empty item': [
      'toolsets: [core, ]\nfallback:\n  -\n',
      '3:4: `fallback[0]` must be a section with keys of its own, such as `provider:`, not nothing',
    ],
    'a custom provider without an address': [
      'model: { provider: custom }',
      '1:10: `model.provider` needs a `base_url` beside it when it is `custom`',
    ],
    'a fallback with name and model': [
      'fallback: { name: a, model: b }',
      '1:22: `fallback.model` says the same as `name`: keep one of the two',
    ],
    'an empty fallback': ['fallback:\n  - {}', '2:5: `fallback[0]` needs a `provider` or a `name`'],
    'a server without command or address': [
      'mcp_servers:\n  a: { args: [] }',
      '2:3: `mcp_servers.a` needs either a `command` to start or a `url` to connect to',
    ],
    'a server with command and address': [
      'mcp_servers:\n  a: { command: x, url: "http://x" }',
      '2:3: `mcp_servers.a` needs either a `command` to start or a `url` to connect to',
    ],
    'a bad name of a server': [
      'mcp_servers:\n  a b: { command: x }',
      "2:3: `a b` can't stand here: it must be a name of letters, digits, - and _ (at most 64)",
    ],
    'a key in another style': [
      'gateway: { busyMode: steer }',
      '1:12: unknown key `gateway.busyMode`; did you mean `busy_mode`?',
    ],
    'a key of an auxiliary model': [
      'auxiliary: { title: { nmae: x } }',
      '1:23: unknown key `auxiliary.title.nmae`; did you mean `name`?',
    ],
    'a key named like a method': ['toString: 1', '1:1: unknown key `toString`; known here: '],
    'a key that is a section': ['? [a]\n: b', '1:3: a key must be a simple name'],
    'a key that would change all objects': [
      'mcp_servers: { __proto__: { command: x } }',
      '1:16: a key must be a simple name',
    ],
  };
  for (const [name, [text, problem]] of Object.entries(one)) {
    test(`are said in words: ${name}`, async () => {
      const [first = '', ...rest] = await problemsOf(text);
      assert.ok(first.startsWith(`config.yaml:${problem}`), first);
      assert.deepEqual(rest, []);
    });
  }

  test('a way to run commands that lacks a target is one', async () => {
    assert.deepEqual(await problemsOf('terminal: { backend: ssh }'), [
      'config.yaml:1:13: `terminal.backend` needs an `ssh_target` beside it when it is `ssh`',
    ]);
    assert.deepEqual(await problemsOf('terminal: { backend: ssh, ssh_target: me@there }'), []);
  });

  test('are found in how Telegram is to call', async () => {
    const telegram = (rest: string) => problemsOf(`channels: { telegram: { ${rest} } }`);
    assert.deepEqual(await telegram('webhook_url: "https://x.test/hooks/telegram"'), [
      'config.yaml:1:25: `channels.telegram.webhook_url` needs a `webhook_token` beside it',
    ]);
    assert.deepEqual(await telegram('webhook_url: "https://x.test/", webhook_token: short'), [
      'config.yaml:1:38: `channels.telegram.webhook_url` must be a web address that ends in /hooks/telegram, not "https://x.test/"',
      'config.yaml:1:72: `channels.telegram.webhook_token` must be a text of 16 to 256 letters, digits, - and _',
    ]);
  });

  test('between keys are reported beside mistakes in them', async () => {
    assert.deepEqual(await problemsOf('model: { provider: custom, api_mode: x }\n'), [
      'config.yaml:1:10: `model.provider` needs a `base_url` beside it when it is `custom`',
      'config.yaml:1:38: `model.api_mode` must be one of chat_completions, anthropic_messages, responses, not "x"',
    ]);
  });

  test('are listed up to a limit', async () => {
    const text = Array.from({ length: 150 }, (_, index) => `key${index}x: 1\n`).join('');
    const problems = await problemsOf(text);
    assert.equal(problems.length, 101);
    assert.equal(problems.at(-1), 'config.yaml: and 50 more mistakes');
  });
});

describe('a file that is no YAML', () => {
  const broken: Record<string, [text: string, problems: string[]]> = {
    'a list': ['# x\n- a\n', ['config.yaml:2:1: the file must hold keys such as `gateway:`, not a list']],
    'a text': ['hello\n', ['config.yaml:1:1: the file must hold keys such as `gateway:`, not a single value']],
    'a number': ['42', ['config.yaml:1:1: the file must hold keys such as `gateway:`, not a single value']],
    'half a file': [
      'gateway: { host: 127.0.0.1, por',
      ['config.yaml:1:32: a `{` is opened and not closed before this point'],
    ],
    'half a list': [
      'toolsets: [core,\nlog: 1\n',
      ['config.yaml:2:1: a `[` is opened and not closed before this point'],
    ],
    'half a text': [
      'model:\n  name: "clau\nlog:\n  level: info\n',
      ['config.yaml:2:9: a quotation mark is opened here and never closed'],
    ],
    'half a key': ['model:\n  name: x\nlog', ['config.yaml:3:1: a `:` is missing behind this key']],
    'a tab': ['gateway:\n\tport: 1\n', ['config.yaml:2:1: this line is indented with a tab; use spaces']],
    'a crooked line': [
      'gateway:\n   port: 1\n  host: x\n',
      ['config.yaml:3:1: this line is indented differently from the lines it belongs to'],
    ],
    'a colon too many': [
      'model:\n  name: a: b\n',
      ['config.yaml:2:9: a `:` too many: put a value that contains one into quotes, and keys on lines of their own'],
    ],
    'a reserved character': [
      'model: { name: @x }\n',
      ['config.yaml:1:16: a value that begins with `@` must stand in quotes'],
    ],
    'an unknown escape': [
      'model:\n  name: "\\q"\n',
      ['config.yaml:2:10: this `\\` is no known escape; write `\\\\`, or use single quotes'],
    ],
    'two documents': [
      'log: {}\n---\nlog: {}\n',
      ['config.yaml:2:1: a second document begins here with `---`; there can be only one'],
    ],
    'an unknown alias': ['model: *x\n', ['config.yaml:1:8: `*x` refers to an anchor that is not set above it']],
    'a ring of aliases': ['gateway: &g\n  agent_cache: *g\n', ['config.yaml:2:3: this value contains itself']],
    'a merge of a number': ['gateway:\n  <<: 3\n', ['config.yaml:2:3: `<<` takes in other sections: `<<: *name`']],
    'a tag': [
      'log: { level: !x info }\n',
      ['config.yaml:1:15: tags that begin with `!` have no meaning here; remove it'],
    ],
    'a key twice': [
      'gateway:\n  port: 1\n  host: x\n  port: 2\n',
      ['config.yaml:4:3: `port` is given twice in this place; keep one'],
    ],
  };
  for (const [name, [text, problems]] of Object.entries(broken)) {
    test(`is explained: ${name}`, async () => {
      assert.deepEqual(await problemsOf(text), problems);
    });
  }

  test('is one mistake a line, however often the parser stumbles there', async () => {
    const problems = await problemsOf('- a\nb: 1\n');
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /^config\.yaml:2:1: this is not valid YAML: /);
  });

  test('has its mistakes where they are written, also with merged sections', async () => {
    const text =
      'mcp_servers:\n  a: &a\n    command: x\n    args: [1]\n  b:\n    <<: *a\n    args: []\n    url: "http://x"\n';
    assert.deepEqual(await problemsOf(text), [
      'config.yaml:4:12: `mcp_servers.a.args[0]` must be text, not 1; put quotes around it',
      'config.yaml:5:3: `mcp_servers.b` needs either a `command` to start or a `url` to connect to',
    ]);
  });

  test('reports a key given twice together with other mistakes', async () => {
    assert.deepEqual(await problemsOf('log: {}\nlog: {}\ngateway: { port: x }\n'), [
      'config.yaml:2:1: `log` is given twice in this place; keep one',
      'config.yaml:3:18: `gateway.port` must be a whole number from 0 to 65535, not "x"',
    ]);
  });

  test('does not grow without limit through aliases', async () => {
    const doubled = Array.from({ length: 30 }, (_, i) => `  a${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`).join('');
    const problems = await problemsOf(`x:\n  a0: &a0 [1]\n${doubled}`);
    assert.equal(problems.length, 2);
    assert.match(problems[1] ?? '', /the file has more than 20000 values; aliases count each time$/);
  });

  test('may not be nested without limit', async () => {
    const problems = await problemsOf(`x: ${'{a: '.repeat(200)}1${'}'.repeat(200)}`);
    assert.equal(problems.length, 2);
    assert.match(problems[1] ?? '', /more than 50 levels/);
  });
});

describe('a file that is no text', () => {
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  const cases: Record<string, [input: Uint8Array, problem: string]> = {
    'UTF-16 with a mark': [utf16('\uFEFFgateway:\n'), 'config.yaml: this file is saved as UTF-16; save it as UTF-8'],
    'UTF-16, big end first': [
      utf16('\uFEFFgateway:\n').swap16(),
      'config.yaml: this file is saved as UTF-16; save it as UTF-8',
    ],
    'UTF-16 without a mark': [utf16('gateway: {}\n'), 'config.yaml: this file is saved as UTF-16; save it as UTF-8'],
    'UTF-16, big end first, without a mark': [
      utf16('gateway: {}\n').swap16(),
      'config.yaml: this file is saved as UTF-16; save it as UTF-8',
    ],
    'a NUL byte': [
      Buffer.from('log:\n  level: \0\n'),
      'config.yaml:2:10: there is a NUL byte here, so this is no text file',
    ],
    'not UTF-8': [
      Buffer.from([...Buffer.from('log:\n  # '), 0xe4, 0x0a]),
      'config.yaml:2:5: this is not valid UTF-8 from here on; save the file as UTF-8',
    ],
    'five megabytes': [
      new Uint8Array(5_000_000).fill(32),
      'config.yaml: this file is larger than 256 KB; a configuration is never that long',
    ],
  };
  for (const [name, [input, problem]] of Object.entries(cases)) {
    test(`is refused in one sentence: ${name}`, async () => {
      const [first = '', ...rest] = await problemsOf(input);
      assert.ok(first.startsWith(problem), first);
      assert.deepEqual(rest, []);
    });
  }

  test('is refused from the limit on, not before', async () => {
    assert.deepEqual(await problemsOf(' '.repeat(configBytesMax)), []);
    assert.equal((await problemsOf(' '.repeat(configBytesMax + 1))).length, 1);
  });

  test('is refused as a string with a lone surrogate too', async () => {
    assert.deepEqual(await problemsOf('log: "\ud800"'), [
      'config.yaml:1:7: this is not valid UTF-8 from here on; save the file as UTF-8',
    ]);
  });
});

describe('${NAME}', () => {
  test('reads the environment in every kind of text, also inside braces and quotes', async () => {
    const text = 'mcp_servers: { a: { command: ${C}, args: [${A}, \'${A}\', "x-${A}-${C}"], env: { K: ${A} } } }';
    const { mcp_servers } = await configOf(text, { A: 'one', C: 'two: # {' });
    assert.deepEqual(mcp_servers['a'], {
      ...plainServer,
      command: 'two: # {',
      args: ['one', 'one', 'x-one-two: # {'],
      env: { K: 'one' },
    });
  });

  test('becomes a number or true where one is wanted', async () => {
    const { gateway, compression } = await configOf(
      'gateway: { port: ${P} }\ncompression: { enabled: ${E}, threshold: ${T} }',
      {
        P: '81',
        E: 'false',
        T: '0.25',
      },
    );
    assert.deepEqual([gateway.port, compression.enabled, compression.threshold], [81, false, 0.25]);
  });

  test('stays a text where one is wanted', async () => {
    assert.equal((await configOf('model: { name: ${N} }', { N: '007' })).model.name, '007');
  });

  test('is plain after a second $', async () => {
    assert.equal((await configOf('model: { name: "$${N}-$$-$5" }')).model.name, '${N}-$$-$5');
  });

  test('that is missing names itself and its line, each of them', async () => {
    assert.deepEqual(await problemsOf('model:\n  name: ${A}-${B}\n  api_key:\n    - ${toString}\n'), [
      'config.yaml:2:9: `${A}` is not set in the environment; set it there or in .env',
      'config.yaml:2:9: `${B}` is not set in the environment; set it there or in .env',
      'config.yaml:4:7: `${toString}` is not set in the environment; set it there or in .env',
    ]);
  });

  test('with anything but a name is a mistake that does not show what else is there', async () => {
    assert.deepEqual(await problemsOf('model: { api_key: "${KEY:-hidden}" }'), [
      'config.yaml:1:19: `${KEY…` is not of the form `${NAME}`; write `$${` for a plain `${`',
    ]);
  });

  test('is not read in comments and keys', async () => {
    assert.deepEqual(await configOf('# ${NOPE}\nlog: {} # ${NOPE}\n'), defaultConfig);
    assert.deepEqual(await problemsOf('${NOPE}: 1'), [
      'config.yaml:1:1: unknown key `${NOPE}`; known here: model, fallback, auxiliary, agent, compression, gateway, channels, terminal, approvals, files, skills, web, browser, memory, tools, toolsets, mcp_servers, webhooks, budget, store, log',
    ]);
  });
});

describe('secrets', () => {
  test('are never part of a message', async () => {
    const text =
      'model: { api_key: { a: hunter22 } }\nchannels: { api: { key: [hunter22] } }\ngateway: { port: ${P}, busy_mode: ${P} }';
    const { problems } = await checkConfigText(text, { P: 'hunter22' });
    assert.equal(problems.length, 4);
    assert.doesNotMatch(JSON.stringify(problems), /hunter22/);
  });

  test('are also passwords inside addresses', async () => {
    const text = 'store: { url: "postgres://me:pa@ss@db.test/x" }\nmodel: { base_url: "http://u:pw@proxy.test" }';
    const { secrets, warnings } = await checkConfigText(text, {});
    assert.deepEqual(secrets, ['pw', 'pa@ss']);
    assert.doesNotMatch(JSON.stringify(warnings), /pa@ss|pw/);
  });
});

describe('what this version does not do yet', () => {
  test('is a warning with its place and what happens instead', async () => {
    const text = 'channels:\n  slack: { bot_token: x }\nmodel:\n  api_key: k\nstore: { url: "postgres://x" }\n';
    const { config, warnings } = await checkConfigText(text, {});
    assert.ok(config !== null);
    assert.deepEqual(warnings.map(formatProblem), [
      'config.yaml:2:3: `channels.slack` is not in this version yet: the channel stays off',
      'config.yaml:5:10: `store.url` is not in this version yet: Talaria does not start with it',
    ]);
  });

  test('is no warning where the value is the default or works', async () => {
    const text = `
model: { provider: openai, name: x, api_key: k, base_url: "http://x.test", api_mode: responses, context_length: 9000 }
fallback: { name: x }
auxiliary: { title: { name: x }, compression: { name: x }, vision: { name: x } }
budget: { day_usd: 1 }
gateway: { busy_mode: queue }
terminal: { backend: docker }
approvals: { mode: smart }
compression: { enabled: false }
channels: { telegram: {}, api: { key: secret, toolsets: [core] } }
store: { url: "sqlite:other.db" }
`;
    assert.deepEqual((await checkConfigText(text, {})).warnings, []);
  });

  for (const text of ['channels: { discord: { token: x } }', 'channels: { slack: { bot_token: x } }']) {
    test(`warns once of ${text}`, async () => {
      assert.equal((await checkConfigText(text, {})).warnings.length, 1);
    });
  }
});

test('any text is answered, never thrown at', async () => {
  const line = fc.constantFrom(
    'gateway:',
    '  port: 1',
    ' - x',
    '{',
    '}',
    '"',
    "'",
    '&a',
    '*a',
    '<<: *a',
    'model: *a',
    '? ',
    ': x',
    '|',
    '${A}',
    '${',
    '\t',
    '#',
    '---',
    '!t',
    '\\',
    '@',
  );
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(line).map((lines) => lines.join('\n')),
    fc.array(line).map((parts) => parts.join(' ')),
  );
  await fc.assert(
    fc.asyncProperty(text, async (input) => {
      const { config, problems } = await checkConfigText(input, {});
      assert.equal(config === null, problems.length > 0);
    }),
    { numRuns: 300 },
  );
});

test('any bytes are answered, never thrown at', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), async (input) => {
      const { config, problems } = await checkConfigText(input, {});
      assert.equal(config === null, problems.length > 0);
    }),
  );
});
