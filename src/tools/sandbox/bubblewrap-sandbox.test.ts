import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox, SandboxRequest } from '../sandbox.ts';
import { createBubblewrapSandbox } from './bubblewrap-sandbox.ts';
import { cleanGuards, guardHolder } from './hold-guards.ts';
import { createNamespacesSandbox } from './namespaces-sandbox.ts';
import { isProved, proveSandbox } from './prove-sandbox.ts';
import { runBriefly, type BriefRun } from './run-briefly.ts';
import { isBubblewrapMissing, testFolder } from './test-sandboxes.ts';

const skip = isBubblewrapMissing();
const runMs = 30_000;

const base = (work: string): Omit<SandboxRequest, 'argv'> => ({
  cwd: work,
  env: { PATH: '/usr/bin:/bin', HOME: '/home/nobody' },
  writable: [work],
  readable: [],
  hidden: [],
  network: 'off',
});

async function sh(
  sandbox: Sandbox,
  work: string,
  script: string,
  more: Partial<SandboxRequest> = {},
): Promise<BriefRun> {
  return runBriefly(await sandbox.wrap({ ...base(work), ...more, argv: ['/bin/sh', '-c', script] }), runMs);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, 'it never came to be');
    await sleep(5);
  }
}

for (const [name, create] of [
  ['bubblewrap', createBubblewrapSandbox],
  ['namespaces', createNamespacesSandbox],
] as const) {
  test(`${name}: proves itself, and a sandbox with holes does not`, { skip }, async () => {
    await using folder = await testFolder();
    const sandbox = create(folder.deps);
    const proof = await proveSandbox(sandbox, folder.deps);
    assert.deepEqual(
      proof.checks.filter((check) => !check.passed),
      [],
    );
    assert.ok(isProved(proof));

    // Deeper than a socket can be.
    const deep = { ...folder.deps, stateFolder: join(folder.deps.stateFolder, 'd'.repeat(100)) };
    await mkdir(deep.stateFolder, { recursive: true });
    assert.ok(isProved(await proveSandbox(create(deep), deep)));

    const leaky: Sandbox = {
      ...sandbox,
      wrap: (request) =>
        sandbox.wrap({ ...request, writable: [...request.writable, join(request.cwd, '..')], network: 'open' }),
    };
    const failed = (await proveSandbox(leaky, folder.deps)).checks.filter((check) => !check.passed);
    assert.deepEqual(
      failed.map((check) => check.name),
      [
        'writes nothing outside',
        'reads no secret',
        'reaches nothing by TCP',
        'reaches nothing by UDP',
        'reaches nothing by a Unix socket',
        'reaches nothing by an abstract Unix socket',
      ],
    );
  });

  test(`${name}: a workspace below /var/tmp is one like any other`, { skip }, async (t) => {
    await using folder = await testFolder();
    const work = await mkdtemp('/var/tmp/sandbox-');
    t.after(() => rm(work, { recursive: true, force: true }));
    const run = await sh(create(folder.deps), work, 'echo made >file; echo x >/var/tmp/other; cat file');
    assert.deepEqual(run, { code: 0, stdout: 'made\n', stderr: '' });
    assert.equal(await readFile(join(work, 'file'), 'utf8'), 'made\n');
    assert.ok(!(await readdir('/var/tmp')).includes('other'));
  });

  test(`${name}: what whoever started it holds open does not reach a command`, { skip }, async () => {
    await using folder = await testFolder();
    const work = join(folder.path, 'work');
    await mkdir(work);
    await writeFile(join(folder.path, 'secret'), 'told');
    const script =
      'cat /proc/[0-9]*/fd/*/secret; for fd in 3 4 5 6 7 8 9 40 41; do [ ! -e /proc/$$/fd/$fd ] || echo $fd; done';
    const { argv, env } = await create(folder.deps).wrap({ ...base(work), argv: ['/bin/sh', '-c', script] });
    const [program = '', ...given] = argv;
    const outside = await open(folder.path, 'r');
    const handed = [...Array<'ignore'>(37).fill('ignore'), outside.fd];
    const child = spawn(program, given, { env, stdio: ['ignore', 'pipe', 'ignore', outside.fd, ...handed] });
    let printed = '';
    child.stdout?.on('data', (bytes: Buffer) => (printed += bytes.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    await outside.close();
    assert.equal(printed, '');
  });

  test(`${name}: output, exit code and a death by signal come through`, { skip }, async () => {
    await using folder = await testFolder();
    const work = join(folder.path, 'a work\'s "folder"');
    await mkdir(work);
    const sandbox = create(folder.deps);
    assert.deepEqual(await sh(sandbox, work, 'pwd; echo error >&2; exit 9'), {
      code: 9,
      stdout: `${work}\n`,
      stderr: 'error\n',
    });
    assert.equal((await sh(sandbox, work, 'kill -TERM $$')).code, 143);
  });

  test(`${name}: the environment is the request's and is not among the arguments`, { skip }, async () => {
    await using folder = await testFolder();
    const work = join(folder.path, 'work');
    await mkdir(work);
    const env = { PATH: '/usr/bin:/bin', HOME: '/home/x', KEY: 'value of a key', LD_LIBRARY_PATH: '/nowhere' };
    const wrapped = await create(folder.deps).wrap({ ...base(work), env, argv: ['/usr/bin/env'] });
    assert.ok(!wrapped.argv.join(' ').includes('value of a key'));
    const { stdout } = await runBriefly(wrapped, runMs);
    const lines = stdout
      .trim()
      .split('\n')
      .filter((line) => !/^(?:PWD|_|SHLVL|OLDPWD)=/.test(line));
    assert.deepEqual(
      lines.toSorted(),
      Object.entries(env)
        .map(([key, value]) => `${key}=${value}`)
        .toSorted(),
    );
  });

  test(`${name}: guards are there while a sandbox runs, and nothing of them after the last`, { skip }, async () => {
    await using folder = await testFolder();
    const work = join(folder.path, 'work');
    await mkdir(work);
    const sandbox = create(folder.deps);
    const start = async () => {
      const {
        argv: [program = '', ...rest],
        env,
      } = await sandbox.wrap({
        ...base(work),
        argv: [
          '/bin/sh',
          '-c',
          'echo up; read -r word; mkdir .git/hooks && echo MADE; rmdir .git && echo REMOVED; echo "end $word"',
        ],
      });
      const child = spawn(program, rest, { env, stdio: ['pipe', 'pipe', 'ignore'] });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
      await until(async () => said.includes('up'));
      const end = async (): Promise<string> => {
        child.stdin.end('now\n');
        await new Promise((resolve) => child.once('close', resolve));
        return said;
      };
      return { child, end };
    };
    const first = await start();
    const second = await start();
    assert.equal(await first.end(), 'up\nend now\n');
    await cleanGuards(folder.deps.stateFolder);
    assert.ok((await readdir(work)).includes('.git'), 'the second one still runs');
    assert.equal(await second.end(), 'up\nend now\n');
    await until(async () => (await readdir(work)).length === 0);

    const third = await start();
    third.child.kill('SIGKILL');
    await until(async () => (await readdir(work)).length === 0);
  });

  test(`${name}: git works in a guarded repository, inside and outside`, { skip }, async () => {
    await using folder = await testFolder();
    const work = join(folder.path, 'work');
    await mkdir(work);
    const git = async (...words: string[]): Promise<BriefRun> =>
      runBriefly(
        { argv: ['/usr/bin/git', '-C', work, ...words], env: { PATH: '/usr/bin:/bin', HOME: folder.path } },
        runMs,
      );
    if ((await git('init', '-q')).code !== 0) return;
    const script = `git config user.name x; echo 1 >file && git add file &&
      git -c user.name=n -c user.email=e commit -qm one && git log --oneline | wc -l; echo x >.git/hooks/pre-commit; cat .git/commondir; sleep 0.2`;
    const config = await readFile(join(work, '.git', 'config'), 'utf8');
    const running = sh(create(folder.deps), work, script);
    await until(async () => (await readdir(join(work, '.git'))).includes('commondir'));
    assert.equal((await git('status', '--short')).code, 0);
    assert.equal((await running).stdout.replaceAll(' ', ''), '1\n.\n');
    await until(async () => !(await readdir(join(work, '.git'))).includes('commondir'));
    assert.equal((await git('log', '--format=%s')).stdout, 'one\n');
    assert.equal(await readFile(join(work, '.git', 'config'), 'utf8'), config);
    assert.ok(!(await readdir(join(work, '.git', 'hooks'))).includes('pre-commit'));
  });

  test(`${name}: what is hidden in a folder is not seen, and a folder in what is hidden is`, { skip }, async () => {
    await using folder = await testFolder();
    const [home, work] = [join(folder.path, 'home'), join(folder.path, 'home', 'work')];
    await mkdir(join(work, 'keys'), { recursive: true });
    for (const path of [join(home, 'secret'), join(work, 'keys', 'key'), join(work, '.env'), join(home, 'notes')])
      await writeFile(path, 'text');
    const { stdout } = await sh(
      create(folder.deps),
      work,
      `cat ../secret keys/key .env; cat ../notes; echo; echo new >made; cat made`,
      {
        // Where nothing is, there is nothing to read.
        readable: [folder.path, join(home, 'notes'), join(home, 'gone')],
        hidden: [home, join(work, 'keys'), join(work, '.env')],
      },
    );
    assert.equal(stdout, 'text\nnew\n');
  });

  test(
    `${name}: the sandbox's own files are never seen, even in a folder that commands may change`,
    { skip },
    async () => {
      await using folder = await testFolder();
      const { stdout } = await sh(create(folder.deps), folder.path, 'ls -A state; touch state/x; ls -d state');
      assert.equal(stdout, 'state\n');
    },
  );

  test(`${name}: with a proxy, its socket is the only way out`, { skip }, async () => {
    await using folder = await testFolder();
    const work = join(folder.path, 'work');
    await mkdir(work);
    const proxySocket = join(folder.path, 'proxy.sock');
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.once('data', (data) => {
        asked.push(data.toString('latin1').split('\r\n')[0] ?? '');
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy');
      });
    });
    await new Promise<void>((resolve) => proxy.listen(proxySocket, resolve));
    try {
      const script = `const http = require('node:http'); const [host, port] = process.env.http_proxy.replace('http://', '').split(':');
        http.get({ host, port, path: 'http://example.com/x' }, (answer) => answer.pipe(process.stdout))`;
      const sandbox = create(folder.deps);
      const request = { ...base(work), network: { proxySocket }, argv: [process.execPath, '-e', script] };
      const run = await runBriefly(await sandbox.wrap(request), runMs);
      assert.deepEqual(
        { stdout: run.stdout, code: run.code, asked },
        { stdout: 'proxy', code: 0, asked: ['GET http://example.com/x HTTP/1.1'] },
      );
    } finally {
      await new Promise((resolve) => proxy.close(resolve));
    }
  });
}

test('what can not be wrapped is said in a sentence', { skip }, async () => {
  await using folder = await testFolder();
  const sandbox = createBubblewrapSandbox(folder.deps);
  await assert.rejects(sandbox.wrap({ ...base(join(folder.path, 'missing')), argv: ['true'] }), {
    name: 'SandboxError',
    message: `${join(folder.path, 'missing')}: the sandbox can't open this folder. Create it, or take it out of the settings.`,
  });
  await assert.rejects(sandbox.wrap({ ...base('/'), argv: ['true'] }), { name: 'SandboxError' });
  const nothing = createBubblewrapSandbox({ ...folder.deps, programFolders: [] });
  await assert.rejects(nothing.wrap({ ...base(folder.path), argv: ['true'] }), {
    message: 'bubblewrap is not installed; on Debian and Ubuntu: apt install bubblewrap.',
  });
});

test('a repository stays guarded in the next sandbox, whatever a command has put before it', { skip }, async () => {
  await using folder = await testFolder();
  const work = join(folder.path, 'work');
  // Deeper than anybody looks: only who remembers it finds it.
  const git = join(work, 'a', 'b', 'c', 'd', 'e', '.git');
  await mkdir(join(git, 'hooks'), { recursive: true });
  await writeFile(join(git, 'config'), 'mine');
  const holder = guardHolder(folder.deps.stateFolder, { flock: '/usr/bin/flock', setsid: '/usr/bin/setsid' });
  await holder.script({ mounts: [], cwd: work, absent: [{ folder: work, guards: [], repositories: [git] }] });
  const sandbox = createBubblewrapSandbox(folder.deps);
  for (let round = 0; round < 2; round++) {
    const run = await sh(sandbox, work, `cd a/b/c/d/e; echo x >.git/hooks/pre-commit; rm .git/config; mv .git old`);
    assert.notEqual(run.code, 0);
  }
  assert.deepEqual(await readdir(join(git, 'hooks')), []);
  assert.equal(await readFile(join(git, 'config'), 'utf8'), 'mine');
});

test('a folder that is named twice, and by a link, is one folder', { skip }, async () => {
  await using folder = await testFolder();
  const work = join(folder.path, 'work');
  await mkdir(work);
  await symlink(work, join(folder.path, 'link'));
  const sandbox = createBubblewrapSandbox(folder.deps);
  const writable = [work, work, join(folder.path, 'link')];
  const run = await sh(sandbox, work, 'echo here > note; cat note', { writable });
  assert.equal(run.code, 0, JSON.stringify(run));
  assert.equal(await readFile(join(work, 'note'), 'utf8'), 'here\n');
});

test('a program that is a link in a folder of the system is found by it', { skip }, async () => {
  await using folder = await testFolder();
  const links = await readdir('/usr/bin', { withFileTypes: true });
  const link = links.find((entry) => entry.isSymbolicLink() && ['awk', 'sh', 'npx', 'which'].includes(entry.name));
  assert.ok(link);
  const readable = [`/usr/bin/${link.name}`, `/bin/${link.name}`];
  const run = await sh(createBubblewrapSandbox(folder.deps), folder.path, `test -e /usr/bin/${link.name}`, {
    readable,
  });
  assert.equal(run.code, 0, JSON.stringify(run));
});
