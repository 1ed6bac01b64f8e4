import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { defaultConfig } from './default-config.ts';
import { loadConfig, storeFilePath, workspacePath } from './load.ts';
import { formatProblem } from './problem.ts';

const isRoot = process.getuid?.() === 0;

describe('loadConfig', () => {
  let home = '';
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'talaria-load-'));
  });
  afterEach(async () => {
    await rm(home, { recursive: true, force: true });
  });

  const write = (name: string, text: string | Uint8Array, mode = 0o600) => writeFile(join(home, name), text, { mode });
  const load = (env = {}) => loadConfig({ home, env });

  test('works without any file', async () => {
    const { hash, ...loaded } = await load({ A: '1' });
    assert.deepEqual(loaded, {
      config: defaultConfig,
      problems: [],
      warnings: [],
      secrets: [],
      path: join(home, 'config.yaml'),
      environment: { A: '1' },
    });
    assert.equal((await load()).hash, hash);
  });

  test('works without a home', async () => {
    await rm(home, { recursive: true });
    assert.deepEqual((await load()).config, defaultConfig);
  });

  test('reads .env, over which the environment wins', async () => {
    await write('config.yaml', 'model: { name: ${A}, api_key: ${B} }\n');
    await write('.env', 'A=from-file\nB=file-secret\nUNUSED=unused-secret\n');
    const { config, secrets, environment } = await load({ A: 'from-environment', GONE: undefined });
    assert.deepEqual([config?.model.name, config?.model.api_key], ['from-environment', ['file-secret']]);
    assert.deepEqual(secrets, ['file-secret', 'from-file', 'unused-secret']);
    assert.deepEqual(environment, { A: 'from-environment', B: 'file-secret', UNUSED: 'unused-secret' });
  });

  test('keeps the keys of providers secret that are only in the environment', async () => {
    const env = { ANTHROPIC_API_KEY: 'sk-ant-1', GROQ_API_KEY: ' gsk-2\n', OPENAI_API_KEY: '', HOME: '/h' };
    assert.deepEqual((await load(env)).secrets, ['sk-ant-1', 'gsk-2']);
  });

  test('counts an empty variable as set', async () => {
    await write('config.yaml', 'model: { name: "x${A}" }\n');
    assert.equal((await load({ A: '' })).config?.model.name, 'x');
  });

  test('reports the mistakes of both files together', async () => {
    await write('config.yaml', 'gateway: { prot: 1 }\nmodel: { name: ${A} }\n');
    await write('.env', 'oops\nA="open\n');
    const { config, problems } = await load();
    assert.equal(config, null);
    assert.deepEqual(problems.map(formatProblem), [
      'config.yaml:1:12: unknown key `gateway.prot`; did you mean `port`?',
      'config.yaml:2:16: `${A}` is not set in the environment; set it there or in .env',
      '.env:1:1: this line is neither NAME=value nor a comment that begins with #',
      '.env:2:3: the value of A has a quotation mark that is not closed at its end',
    ]);
  });

  test('refuses a configuration whose .env has a mistake', async () => {
    await write('config.yaml', 'gateway: { port: 1 }\n');
    await write('.env', 'oops\n');
    assert.equal((await load()).config, null);
  });

  test('warns of a .env that others can read', async () => {
    await write('.env', 'A=1\n');
    await chmod(join(home, '.env'), 0o644);
    assert.deepEqual((await load()).warnings.map(formatProblem), [
      `.env: other users of this machine can read the secrets in it; run: chmod 600 ${join(home, '.env')}`,
    ]);
  });

  test('changes its hash with either file, and only then', async () => {
    const hashes = [(await load()).hash];
    await write('config.yaml', 'log: {}\n');
    hashes.push((await load()).hash);
    await write('.env', 'A=1\n');
    hashes.push((await load()).hash, (await load({ B: '2' })).hash);
    await write('.env', 'A=2\n');
    hashes.push((await load()).hash);
    assert.equal(new Set(hashes).size, 4);
    assert.equal(hashes[2], hashes[3]);
  });

  for (const name of ['config.yaml', '.env']) {
    const only = async () => {
      const { config, problems } = await load();
      assert.equal(config, null);
      assert.equal(problems.length, 1);
      return problems.map(formatProblem)[0];
    };

    test(`says what is wrong with ${name}: a folder`, async () => {
      await mkdir(join(home, name));
      assert.equal(await only(), `${name}: this is a folder; it must be a file`);
    });

    test(`says what is wrong with ${name}: too large`, async () => {
      await write(name, new Uint8Array(5_000_000));
      assert.equal(await only(), `${name}: this file is larger than 256 KB; a configuration is never that long`);
    });

    test(`says what is wrong with ${name}: UTF-16`, async () => {
      await write(name, Buffer.from('\uFEFFA=1\n', 'utf16le'));
      assert.match((await only()) ?? '', new RegExp(`^${name}: this file is saved as UTF-16; save it as UTF-8`));
    });

    test(`says what is wrong with ${name}: a pipe, without waiting for it`, async () => {
      execFileSync('mkfifo', [join(home, name)]);
      assert.equal(await only(), `${name}: this is not a regular file`);
    });

    test(`says what is wrong with ${name}: no permission`, { skip: isRoot && 'root may read everything' }, async () => {
      await write(name, 'A=1\n', 0o000);
      assert.equal(await only(), `${name}: this file can't be read; give this user access to it`);
    });
  }

  test('resolves relative paths against the home', () => {
    const { terminal } = defaultConfig;
    const at = (cwd: string) => workspacePath('/h', { ...defaultConfig, terminal: { ...terminal, cwd } });
    const store = (url: string) => storeFilePath('/h', { ...defaultConfig, store: { url } });
    assert.deepEqual([at('workspace'), at('../x'), at('/w')], ['/h/workspace', '/x', '/w']);
    assert.deepEqual(
      [store('sqlite:state.db'), store('sqlite:/x/y.db'), store('postgres://h/d')],
      ['/h/state.db', '/x/y.db', null],
    );
  });
});

test('a start without a configuration loads neither the schema nor the YAML parser', async () => {
  const home = await mkdtemp(join(tmpdir(), 'talaria-load-'));
  try {
    await writeFile(join(home, 'config.yaml'), '# gateway:\n#   port: 1\n');
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      const { loadConfig } = await import(${JSON.stringify(join(import.meta.dirname, 'load.ts'))});
      const { problems } = await loadConfig({ home: ${JSON.stringify(home)}, env: {} });
      console.log(JSON.stringify({ problems, heavy: loaded.filter((url) => /node_modules|node:crypto|schema/.test(url)) }));
    `;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(output), { problems: [], heavy: [] });
  } finally {
    await rm(home, { recursive: true });
  }
});
