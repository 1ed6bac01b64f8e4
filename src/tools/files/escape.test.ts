import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../lib/clock.ts';
import {
  bait,
  canary,
  plantCanaries,
  plantEscapes,
  isSystemPath,
  searchEscapes,
  type EscapeScene,
} from './escape-attempts.ts';
import { openFileDesk, type FileDesk } from './test-file-desk.ts';

async function openScene(t: test.TestContext): Promise<{ desk: FileDesk; scene: EscapeScene }> {
  const desk = await openFileDesk(t, { gate: 'asks', clock: systemClock });
  const scene = { top: desk.top, home: desk.home, workspace: desk.workspace, outside: join(desk.top, 'outside') };
  await plantCanaries(scene);
  return { desk, scene };
}

/** Everything but what the tools may change: names, kinds, contents. */
async function picture({ top, home, workspace }: EscapeScene): Promise<string[]> {
  const own = new Set([workspace, join(home, 'checkpoints'), join(home, 'spool/ses_00000000000000000000000001')]);
  const rows: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const name of (await readdir(folder)).sort()) {
      const path = join(folder, name);
      if (own.has(path)) continue;
      const stats = await lstat(path);
      rows.push(`${path} ${stats.mode} ${stats.isFile() ? await readFile(path, 'utf8') : ''}`);
      if (stats.isDirectory()) await visit(path);
    }
  };
  await visit(top);
  return rows;
}

const looksAt = (path: string): [string, Record<string, unknown>][] => [
  ['read_file', { path }],
  ['search_files', { path, pattern: bait }],
];

const changes = (path: string): [string, Record<string, unknown>][] => [
  ['write_file', { path, content: 'PWNED', overwrite: true }],
  ['write_file', { path: `${path}/made/by/it.txt`, content: 'PWNED' }],
  ['patch', { path, edits: [{ old: bait, new: 'PWNED' }] }],
];

test('no way out of the workspace shows the model a canary or changes anything outside', async (t) => {
  const { desk, scene } = await openScene(t);
  const before = await picture(scene);
  const { paths, end } = await plantEscapes(scene);
  t.after(end);
  // What a user's own settings for ripgrep would make of it.
  const rgConfig = join(desk.workspace, 'ripgreprc');
  await writeFile(rgConfig, '--follow\n--no-ignore\n--pre=cat\n');
  process.env['RIPGREP_CONFIG_PATH'] = rgConfig;
  t.after(() => void delete process.env['RIPGREP_CONFIG_PATH']);

  const attempts = [
    ...paths.flatMap((path) => [...looksAt(path), ...(isSystemPath(path) ? [] : changes(path))]),
    ...searchEscapes.map((input): [string, typeof input] => ['search_files', input]),
  ];
  assert.ok(paths.length >= 90, `only ${paths.length} paths`);
  for (const [tool, input] of attempts) {
    const what = `${tool} ${JSON.stringify(input).slice(0, 200)}`;
    const outcome = await desk.use(tool, input);
    // A question is for the person; what the model is told stands in the others.
    if (outcome.kind !== 'ask') assert.ok(!outcome.text.includes(canary), `${what}: ${outcome.text}`);
    assert.ok(!JSON.stringify(outcome).includes('root:x:'), what);
  }
  assert.deepEqual(await picture(scene), before);
  for (const path of paths) {
    const handed = await desk.files.openForReading(path, desk.context(), 10_000);
    assert.ok(handed.kind === 'refused' || !Buffer.from(handed.bytes).includes(canary), path);
  }
});

test('what was found at a path stays it: a folder swapped for a link meanwhile leads nowhere', async (t) => {
  const { desk, scene } = await openScene(t);
  await mkdir(join(desk.workspace, 'door'));
  await writeFile(join(desk.workspace, 'door/secret.txt'), 'harmless needle\n');
  const before = await picture(scene);
  const swapper = spawn(process.execPath, ['-e', swapping, join(desk.workspace, 'door'), scene.outside], {
    stdio: 'pipe',
  });
  const gone = new Promise((resolve) => swapper.once('close', resolve));
  const kinds = new Set<string>();
  try {
    await new Promise((resolve) => swapper.stdout.once('data', resolve));
    // On a busy machine it may take longer until both doors were met.
    const metBoth = () => kinds.has('finished') && kinds.has('ask');
    for (let round = 0; round < 50 || (!metBoth() && round < 2_000); round += 1) {
      const calls: [string, Record<string, unknown>][] = [
        ['read_file', { path: 'door/secret.txt' }],
        ['write_file', { path: 'door/secret.txt', content: 'harmless PWNED needle\n', overwrite: true }],
        ['write_file', { path: `door/n${round}/made.txt`, content: 'PWNED' }],
        ['patch', { path: 'door/secret.txt', edits: [{ old: bait, new: 'PWNED' }] }],
        ...(round % 10 === 0
          ? ([['search_files', { pattern: 'BAIT|needle' }]] as [string, Record<string, unknown>][])
          : []),
      ];
      for (const [tool, input] of calls) {
        const outcome = await desk.use(tool, input);
        kinds.add(outcome.kind);
        if (outcome.kind !== 'ask') assert.ok(!outcome.text.includes(canary), `${tool}: ${outcome.text}`);
      }
    }
  } finally {
    // Before anything is looked at or removed.
    swapper.kill('SIGKILL');
    await gone;
  }
  assert.deepEqual([kinds.has('finished'), kinds.has('ask')], [true, true]);
  assert.deepEqual(await picture(scene), before);
});

/** Makes `door` a folder and a link in turn, as fast as it can. */
const swapping = `
  const fs = require('node:fs');
  const [door, outside] = process.argv.slice(1);
  process.stdout.write('ready');
  for (;;) {
    try {
      fs.renameSync(door, door + '-away');
      fs.symlinkSync(outside, door);
      fs.unlinkSync(door);
      fs.renameSync(door + '-away', door);
    } catch (error) {
      if (fs.existsSync(door + '-away')) try { fs.rmSync(door, { recursive: true, force: true }); fs.renameSync(door + '-away', door); } catch {}
    }
  }`;

test('what is mounted in the workspace from elsewhere is outside', async (t) => {
  const { desk, scene } = await openScene(t);
  await mkdir(join(desk.workspace, 'mounted'));
  await writeFile(join(desk.workspace, 'mounted-file'), '');
  const script = join(desk.top, 'try.mjs');
  await writeFile(script, mountedScript);
  const mounts = `mount --bind "$1" "$2/mounted" && mount --bind "$1/secret.txt" "$2/mounted-file" && exec "$3" "$4" "$2" "$5"`;
  const args = ['-m', '--', 'sh', '-c', mounts, 'sh', scene.outside, desk.workspace, process.execPath, script];
  const run = promisify(execFile);
  const canMount = await run('unshare', ['-m', '--', 'mount', '--bind', desk.top, desk.workspace]).then(
    () => true,
    () => false,
  );
  if (!canMount) return t.skip('only root can mount here');
  const { stdout } = await run('unshare', [...args, join(import.meta.dirname, 'file-tools.ts')], { timeout: 30_000 });
  assert.ok(!stdout.includes(canary), stdout);
  assert.equal(stdout.match(/outside the workspace/g)?.length, 4, stdout);
  assert.equal(await readFile(join(scene.outside, 'secret.txt'), 'utf8'), `${bait} ${canary} in outside/secret.txt\n`);
});

const mountedScript = `
  const [workspace, family] = process.argv.slice(2);
  const { createFileTools } = await import(family);
  const clock = { now: () => Date.now(), setTimer: () => () => {} };
  const { tools } = createFileTools({ home: workspace + '/..', roots: () => [], gate: null, clock, checkpointDays: () => null });
  const context = { sessionId: 'ses_1', callId: 'cal_1', workspace, spoolFolder: workspace + '/../spool/ses_1',
    signal: new AbortController().signal, onOutput() {}, untrusted: null, isUnattended: false };
  for (const path of ['mounted/secret.txt', 'mounted-file']) {
    for (const [name, input] of [['read_file', { path }], ['write_file', { path, content: 'PWNED', overwrite: true }]]) {
      console.log((await tools.find(({ definition }) => definition.name === name).run(input, context)).text);
    }
  }`;
