import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { checkConfigText } from '../config/check.ts';
import { createStyle } from '../tui/style.ts';
import { parseArguments } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { commands } from './command-table.ts';
import { changesFor } from './model-set-command.ts';
import type { Streams } from './streams.ts';

async function configOf(text: string) {
  const { config } = await checkConfigText(text, {});
  assert.ok(config);
  return config;
}

describe('what choosing a model writes', () => {
  test('another provider: nothing that was said about the old one stays', async () => {
    const config = await configOf(
      'model: { provider: custom, name: old, base_url: "http://x/v1", api_key: k, context_length: 9000, api_mode: responses }',
    );
    assert.deepEqual(changesFor(config, { provider: 'openai', name: null }), [
      ['model.provider', 'openai'],
      ['model.name', 'null'],
      ['model.api_key', 'null'],
      ['model.base_url', 'null'],
      ['model.api_mode', 'null'],
      ['model.context_length', 'null'],
    ]);
    assert.deepEqual(changesFor(config, { provider: 'custom', name: 'new', key: 'n', baseUrl: 'http://y/v1' }), [
      ['model.base_url', 'http://y/v1'],
      ['model.provider', 'custom'],
      ['model.name', 'new'],
      ['model.api_key', 'n'],
      ['model.context_length', 'null'],
    ]);
  });

  test('the same provider: only what was asked for', async () => {
    const config = await configOf('model: { provider: openai, name: gpt, context_length: 9000 }');
    assert.deepEqual(changesFor(config, { provider: 'openai', name: null, key: 'new' }), [
      ['model.provider', 'openai'],
      ['model.api_key', 'new'],
    ]);
    assert.deepEqual(changesFor(config, { provider: 'openai', name: 'gpt' }), [
      ['model.provider', 'openai'],
      ['model.name', 'gpt'],
    ]);
  });
});

/** An API that knows one key and one model. */
async function serveModel(t: TestContext) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    request.resume();
    if (request.headers.authorization !== 'Bearer good-key') {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}');
    } else if (request.url?.endsWith('/models')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"data":[{"id":"small"},{"id":"large"}]}');
    } else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
      const events = [
        { choices: [{ index: 0, delta: { role: 'assistant', content: 'ready' }, finish_reason: null }] },
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
      ];
      response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

async function setUp(t: TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'talaria-model-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const configPath = join(home, 'config.yaml');
  return {
    home,
    config: () => readFile(configPath, 'utf8'),
    dotEnv: () => readFile(join(home, '.env'), 'utf8'),
    write: (text: string) => writeFile(configPath, text),
    async run(words: string[], stdin = '') {
      const parsed = parseArguments(commands, words);
      assert.ok(parsed.kind === 'command', JSON.stringify(parsed));
      const notes: string[] = [];
      let out = '';
      const streams = {
        stdin: new PassThrough().end(stdin) as unknown as Streams['stdin'],
        stdinIsTty: false,
        stderrIsTty: false,
        outStyle: createStyle(false),
        write: (data: string | Uint8Array) => Promise.resolve(void (out += String(data))),
        note: (line: string) => void notes.push(line),
        status: () => {},
      } as unknown as Streams;
      const env = { TALARIA_HOME: home };
      const interrupt = new AbortController().signal;
      const context: CommandContext = { streams, env, verbose: false, interrupt, setAbruptExitCode: () => {} };
      const command = await parsed.command.load();
      const code = await command(context, parsed.input);
      return { code, out, notes: notes.join('\n') };
    },
  };
}

describe('talaria model set', () => {
  test('checks the key with a real call, keeps it in .env and the comments where they are', async (t) => {
    const { url, asked } = await serveModel(t);
    const { run, config, dotEnv, write } = await setUp(t);
    await write('# mine\nmodel:\n  # offline until I have a key\n  provider: offline\nlog: { level: warn } # quiet\n');
    const { code, notes } = await run(['model', 'set', 'custom/small', '--base-url', url, '--key-stdin'], 'good-key\n');
    assert.equal(code, 0);
    assert.match(notes, /custom\/small \(key \w+\) answered "ready"; first word after .*; 12 in, 3 out/);
    assert.match(notes, /the key is in \.env as CUSTOM_API_KEY/);
    const text = await config();
    assert.match(text, /^# mine\nmodel:\n {2}# offline until I have a key\n {2}provider: custom\n/);
    assert.match(text, /level: warn \} # quiet/);
    assert.doesNotMatch(text + notes, /good-key/);
    assert.equal(await dotEnv(), 'CUSTOM_API_KEY=good-key\n');
    assert.deepEqual(asked, ['POST /v1/chat/completions Bearer good-key']);

    assert.deepEqual((await run(['model', 'list'])).out, 'large\nsmall\n');
    const test = await run(['model', 'test']);
    assert.match(test.out, /^custom\/small \(key \w+\) answered "ready"/);
  });

  test('a key that does not work changes nothing, unless it is written unchecked', async (t) => {
    const { url } = await serveModel(t);
    const { run, config, dotEnv, write } = await setUp(t);
    const before = 'model: { provider: offline }\n';
    await write(before);
    const words = ['model', 'set', 'custom/small', '--base-url', url, '--key-stdin'];
    await assert.rejects(run(words, 'bad-key\n'), (error: Error) => {
      assert.match(error.message, /^nothing was changed: .*refused the key.*--no-check writes anyway/);
      assert.doesNotMatch(error.message, /bad-key/);
      return true;
    });
    assert.equal(await config(), before);
    await assert.rejects(dotEnv(), { code: 'ENOENT' });
    assert.equal((await run([...words, '--no-check'], 'bad-key\n')).code, 0);
    assert.equal(await dotEnv(), 'CUSTOM_API_KEY=bad-key\n');
    const tried = await run(['model', 'test', '--json']);
    assert.equal(tried.code, 1);
    assert.equal((JSON.parse(tried.out) as { trials: { reason: string }[] }).trials[0]?.reason, 'auth');
  });

  test('says how to give a key where nobody can be asked for it, and what else is missing', async (t) => {
    const { run, write } = await setUp(t);
    await write('model: { provider: offline }\n');
    await assert.rejects(run(['model', 'set', 'anthropic']), {
      exitCode: 1,
      message: 'no key for anthropic is known; give it with --key-stdin, or set ANTHROPIC_API_KEY',
    });
    await assert.rejects(run(['model', 'set', 'anthropic', '--key-stdin'], '\n'), { message: /no key was given/ });
    await assert.rejects(run(['model', 'set', 'anthropic', '--key-stdin'], 'a b\n'), { message: /that is no key/ });
    await assert.rejects(run(['model', 'set', 'antropic']), { exitCode: 2, message: /did you mean anthropic\?/ });
    await assert.rejects(run(['model', 'set', 'custom/x']), { exitCode: 1, message: /no address is known/ });
    await assert.rejects(run(['model', 'list', 'openai/x']), { exitCode: 2 });
  });
});
