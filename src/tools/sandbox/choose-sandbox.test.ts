import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { chooseSandbox, createSandboxChooser, type SandboxSettings } from './choose-sandbox.ts';
import { explainFailure } from './explain-failure.ts';
import { sandboxFindings } from './sandbox-findings.ts';
import { systemProgramFolders } from './sandbox-deps.ts';
import { isBubblewrapMissing, testFolder } from './test-sandboxes.ts';

const skip = isBubblewrapMissing();
const settings = (backend: SandboxSettings['backend']): SandboxSettings => ({
  backend,
  dockerImage: 'debian:stable-slim',
  sshTarget: null,
});

test('auto takes bubblewrap, says so, and the second time costs no proof', { skip }, async () => {
  await using folder = await testFolder();
  const chooser = createSandboxChooser(folder.deps, settings('auto'));
  assert.deepEqual(chooser.peek(), { kind: 'not-yet-proved' });
  const choice = await chooser.choose();
  assert.deepEqual(sandboxFindings(choice, false), {
    level: 'bubblewrap',
    severity: 'fine',
    lines: ['bubblewrap: own files, processes and network, system calls filtered; 12 checks passed.'],
    fix: null,
  });
  assert.equal(chooser.peek(), choice);
  const proofs = join(folder.deps.stateFolder, 'proofs.json');
  const kept = await readFile(proofs, 'utf8');
  await writeFile(proofs, kept.replace('runs commands', 'from the cache'));
  const again = await chooseSandbox(folder.deps, settings('auto'));
  assert.equal(again.proofs[0]?.checks[0]?.name, 'from the cache');
  const otherNode = { ...folder.deps, nodePath: join(folder.path, 'node') };
  await symlink(process.execPath, otherNode.nodePath);
  const anew = await chooseSandbox(otherNode, settings('auto'));
  assert.equal(anew.proofs[0]?.checks[0]?.name, 'runs commands', 'another Node proves anew');
  assert.deepEqual(
    (await readdir(folder.deps.stateFolder)).filter((name) => name.startsWith('probe-')),
    [],
  );
});

test('without bubblewrap auto takes namespaces and says how to do better', { skip }, async () => {
  await using folder = await testFolder();
  const programs = join(folder.path, 'programs');
  await mkdir(programs);
  for (const name of ['perl', 'flock', 'setsid']) await symlink(`/usr/bin/${name}`, join(programs, name));
  const choice = await chooseSandbox({ ...folder.deps, programFolders: [programs] }, settings('auto'));
  assert.deepEqual(sandboxFindings(choice, false), {
    level: 'namespaces',
    severity: 'fine',
    lines: [
      'namespaces: own files, processes and network, system calls filtered; 12 checks passed.',
      'bubblewrap is not used: bubblewrap is not installed; on Debian and Ubuntu: apt install bubblewrap.',
    ],
    fix: 'Install bubblewrap, for example with `apt install bubblewrap`.',
  });
});

test('a sandbox that does not hold what it promises is not taken, by name or not', { skip }, async () => {
  await using folder = await testFolder();
  const programs = join(folder.path, 'programs');
  await mkdir(programs);
  // Starts what it is given, with nothing around it.
  const fake = join(programs, 'bwrap');
  await writeFile(fake, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n');
  await chmod(fake, 0o755);
  for (const name of ['flock', 'setsid']) await symlink(`/usr/bin/${name}`, join(programs, name));
  const deps = { ...folder.deps, programFolders: [programs] };
  for (const backend of ['bubblewrap', 'auto'] as const) {
    const choice = await chooseSandbox(deps, settings(backend));
    assert.equal(choice.kind, 'refused');
    assert.equal(sandboxFindings(choice).severity, 'broken');
    const failed = choice.proofs[0]?.checks.filter((check) => !check.passed) ?? [];
    assert.ok(failed.length > 0);
  }
});

test('with nothing that works, commands are refused with what to install', async () => {
  await using folder = await testFolder();
  const deps = { ...folder.deps, programFolders: [], platform: 'linux' };
  const choice = await chooseSandbox(deps, settings('auto'));
  assert.equal(choice.kind, 'refused');
  assert.match(
    choice.kind === 'refused' ? choice.message : '',
    /^No sandbox works on this machine .*apt install bubblewrap/,
  );
  for (const backend of ['bubblewrap', 'namespaces', 'landlock', 'docker', 'ssh'] as const) {
    const named = await chooseSandbox(deps, settings(backend));
    assert.deepEqual([named.kind, named.proofs.map(({ level }) => level)], ['refused', [backend]]);
  }
});

test('on a Mac there is none, and it is said which are left', async () => {
  await using folder = await testFolder();
  assert.deepEqual(await chooseSandbox({ ...folder.deps, platform: 'darwin' }, settings('auto')), {
    kind: 'refused',
    message: 'There is no sandbox on this system; set terminal.backend to docker, ssh or none.',
    proofs: [],
  });
});

test('none is none, and is called weak', async () => {
  await using folder = await testFolder();
  const choice = await chooseSandbox(folder.deps, settings('none'));
  assert.deepEqual(sandboxFindings(choice, false), {
    level: 'none',
    severity: 'weak',
    lines: [
      'no sandbox: commands can do all that this user can.',
      'Gap: commands can read, change and send everything that this user can.',
    ],
    fix: 'Set terminal.backend to auto.',
  });
});

test('where the kernel forbids user namespaces, the setting is named', async () => {
  const proofs = [
    { level: 'bubblewrap', missing: null, checks: [{ name: 'runs commands', passed: false, detail: 'no' }] },
  ] as const;
  const explain = (values: Record<string, string>): Promise<string> =>
    explainFailure('auto', proofs, async (path) => values[path] ?? assert.fail(path));
  const start = 'No sandbox works on this machine (bubblewrap: "runs commands" failed, no).';
  assert.equal(
    await explain({ '/proc/sys/kernel/unprivileged_userns_clone': '0\n' }),
    `${start} The kernel allows no user namespaces: \`sysctl kernel.unprivileged_userns_clone=1\`.`,
  );
  assert.equal(
    await explain({ '/proc/sys/user/max_user_namespaces': '0\n' }),
    `${start} The kernel allows no user namespaces: \`sysctl user.max_user_namespaces=10000\`.`,
  );
  assert.match(
    await explain({ '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' }),
    /AppArmor allows no/,
  );
});

test('the programs of a sandbox come from the system, whatever PATH says', () => {
  assert.ok(
    systemProgramFolders.every(
      (path) => path.startsWith('/usr/') || path.startsWith('/bin') || path.startsWith('/sbin'),
    ),
  );
});
