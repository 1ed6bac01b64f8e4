import assert from 'node:assert/strict';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SandboxRequest } from '../sandbox.ts';
import { createDockerSandbox } from './docker-sandbox.ts';
import { words } from './quote.ts';
import { runBriefly } from './run-briefly.ts';
import type { SandboxDeps } from './sandbox-deps.ts';
import { createSshSandbox } from './ssh-sandbox.ts';
import { testFolder, type TestFolder } from './test-sandboxes.ts';

const skip = process.platform !== 'linux' && 'flock and setsid are of Linux';

/** Programs that print what they were given, an argument to a line. */
async function withRecorders(folder: TestFolder): Promise<SandboxDeps> {
  const programs = join(folder.path, 'programs');
  await mkdir(programs);
  for (const name of ['docker', 'ssh']) {
    const path = join(programs, name);
    await writeFile(path, `#!/bin/sh\n[ "$1" = rm ] && exit\nprintf '%s\\n' "$@"; printf 'KEY is %s\\n' "$KEY"\n`);
    await chmod(path, 0o755);
  }
  for (const name of ['flock', 'setsid']) await symlink(`/usr/bin/${name}`, join(programs, name));
  return { ...folder.deps, programFolders: [programs] };
}

const request = (work: string): SandboxRequest => ({
  argv: ['bash', '-c', 'echo "$KEY"'],
  cwd: work,
  env: { PATH: '/usr/bin', HOME: '/root', KEY: 'value' },
  writable: [work],
  readable: [],
  hidden: [],
  network: 'off',
});

test(
  'docker: no network, no rights, nothing of the machine but the folders; values are not arguments',
  { skip },
  async () => {
    await using folder = await testFolder();
    const deps = await withRecorders(folder);
    const work = join(folder.path, 'a,b');
    await mkdir(join(work, '.git', 'hooks'), { recursive: true });
    const sandbox = createDockerSandbox(deps, 'debian:stable-slim');
    const { stdout, code } = await runBriefly(await sandbox.wrap(request(work)), 30_000);
    assert.equal(code, 0);
    const given = stdout.trim().split('\n');
    assert.equal(given.pop(), 'KEY is value');
    const mounts = given.filter((_, index) => given[index - 1] === '--mount');
    const others = given.filter((word, index) => word !== '--mount' && given[index - 1] !== '--mount');
    assert.match(others[2] ?? '', /^talaria-\d+$/);
    assert.deepEqual(others.toSpliced(2, 1), [
      ...words('run --name --rm --interactive --init --pull missing --read-only --ipc private --hostname sandbox'),
      ...words('--cap-drop ALL --security-opt no-new-privileges --pids-limit 4096'),
      ...words('--tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777 --env HOME=/tmp --network none'),
      ...words(
        `--user ${process.getuid?.()}:${process.getgid?.()} --workdir ${work} --env KEY debian:stable-slim bash -c`,
      ),
      'echo "$KEY"',
    ]);
    assert.equal(mounts[0], `type=bind,"source=${work}","target=${work}"`);
    assert.ok(mounts.includes(`type=bind,"source=${work}/.git/hooks","target=${work}/.git/hooks",readonly`));
    assert.ok(mounts.some((mount) => mount.includes(`"target=${work}/.bashrc",readonly`)));
  },
);

test('docker: single hosts and odd images are refused', { skip }, async () => {
  await using folder = await testFolder();
  const deps = await withRecorders(folder);
  const sandbox = createDockerSandbox(deps, 'debian');
  await assert.rejects(sandbox.wrap({ ...request(folder.path), network: { proxySocket: '/x' } }), {
    name: 'SandboxError',
  });
  await assert.rejects(createDockerSandbox(deps, '--privileged').wrap(request(folder.path)), { name: 'SandboxError' });
});

test('ssh: nothing is forwarded or asked, and quoting holds through both shells', { skip }, async () => {
  await using folder = await testFolder();
  const deps = await withRecorders(folder);
  const sandbox = createSshSandbox(deps, { target: 'me@host.example:2222' });
  const argv = ['printf', '%s|', `it's`, '$(id)', '`id`', 'a b', '"', '\\', '', 'new\nline'];
  const env = { PATH: '/odd', WORD: `x'y $HOME` };
  const wrapped = await sandbox.wrap({ ...request('/tmp'), argv, env });
  const [ssh, ...given] = wrapped.argv;
  assert.equal(ssh, join(folder.path, 'programs', 'ssh'));
  const remote = given.pop() ?? '';
  const options =
    'BatchMode=yes ForwardAgent=no ForwardX11=no ClearAllForwardings=yes PermitLocalCommand=no ControlMaster=no ControlPath=none StrictHostKeyChecking=yes ConnectTimeout=10 ServerAliveInterval=15 LogLevel=ERROR';
  assert.deepEqual(given, [
    '-T',
    ...options.split(' ').flatMap((option) => ['-o', option]),
    ...words('-p 2222 -- me@host.example'),
  ]);
  const there = await runBriefly(
    { argv: ['/bin/sh', '-c', remote], env: { PATH: '/usr/bin:/bin', HOME: '/' } },
    10_000,
  );
  assert.equal(
    there.stdout,
    argv
      .slice(2)
      .map((word) => `${word}|`)
      .join(''),
  );
  assert.ok(remote.includes('WORD=') && !remote.includes('/odd'));
  assert.ok(!('KEY' in wrapped.env));
});

test('ssh: a target that is an option or nonsense is refused', { skip }, async () => {
  await using folder = await testFolder();
  const deps = await withRecorders(folder);
  for (const target of ['-oProxyCommand=x@y', '', 'host', 'a@b c', 'a@-b', 'a@b:x']) {
    await assert.rejects(createSshSandbox(deps, { target }).wrap(request('/tmp')), { name: 'SandboxError' }, target);
  }
});
