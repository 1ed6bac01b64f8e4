/** Skills with the real parts around them: their scripts in the real sandbox, and the program as a person starts it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { builtInSkills, openSkillShelf } from '../src/app/skills-admin.ts';
import { judgeCommand } from '../src/tools/approvals/judge-command.ts';
import { createBubblewrapSandbox } from '../src/tools/sandbox/bubblewrap-sandbox.ts';
import { runBriefly } from '../src/tools/sandbox/run-briefly.ts';
import { isBubblewrapMissing } from '../src/tools/sandbox/test-sandboxes.ts';
import { skillsSection } from '../src/tools/skills/skills-section.ts';

const talaria = join(import.meta.dirname, '../bin/talaria');

async function testHome(t: test.TestContext): Promise<string> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'talaria-skills-')));
  t.after(() => rm(home, { recursive: true, force: true }));
  for (const folder of ['workspace', 'skills/tea/scripts']) await mkdir(join(home, folder), { recursive: true });
  await writeFile(join(home, '.env'), 'KEY=canary\n');
  await writeFile(join(home, 'skills/tea/SKILL.md'), '---\nname: tea\ndescription: Make tea\n---\nBoil.\n');
  return home;
}

test(
  'a script of a skill runs in the sandbox: it sees its own folder, changes nothing in it, and finds no secret',
  { skip: isBubblewrapMissing() },
  async (t) => {
    const home = await testHome(t);
    const script = join(home, 'skills/tea/scripts/run.sh');
    const lines = [
      '#!/bin/sh',
      'cat "$(dirname "$0")/../SKILL.md"',
      `cat ${home}/.env; ls ${home}; env`,
      'echo x > "$(dirname "$0")/new" || echo "can not write"',
      'echo made > made',
    ];
    await writeFile(script, lines.join('\n'));
    await chmod(script, 0o700);
    const sandbox = createBubblewrapSandbox({ stateFolder: join(home, 'run'), nodePath: process.execPath });
    const wrapped = await sandbox.wrap({
      argv: ['/bin/sh', '-c', `${script}; cat ${builtInSkills()}/plan/SKILL.md`],
      cwd: join(home, 'workspace'),
      env: { PATH: '/usr/bin:/bin', HOME: '/home/nobody' },
      writable: [join(home, 'workspace')],
      readable: [join(home, 'skills'), builtInSkills()],
      hidden: [home],
      network: 'off',
    });
    const { stdout, stderr } = await runBriefly(wrapped, 30_000);
    const output = stdout + stderr;
    assert.match(output, /Boil\./);
    assert.match(output, /can not write/);
    assert.match(output, /name: plan/);
    assert.doesNotMatch(output, /canary/);
  },
);

test('running a script of a skill by its path is nothing to ask about', async (t) => {
  const home = await testHome(t);
  const place = {
    level: 'bubblewrap',
    gaps: [],
    cwd: join(home, 'workspace'),
    workspace: join(home, 'workspace'),
    writable: [],
    home: '/home/ada',
    talariaHome: home,
    isCaseBlind: false,
  } as const;
  for (const command of ['run.sh', `run.sh a > out.txt`]) {
    assert.equal(judgeCommand(`${home}/skills/tea/scripts/${command}`, place).kind, 'plain', command);
  }
  assert.equal(judgeCommand(`python3 ${home}/skills/tea/scripts/a.py x.csv`, place).kind, 'plain');
  assert.notEqual(judgeCommand(`echo x >> ${home}/skills/tea/SKILL.md`, place).kind, 'plain');
});

test('the program finds the skills that come with it, and their index is small', async (t) => {
  const home = await testHome(t);
  const { stdout } = await promisify(execFile)(talaria, ['skills', 'list', '--json'], {
    env: { PATH: process.env['PATH'], TALARIA_HOME: home },
  });
  const { skills } = JSON.parse(stdout) as { skills: { name: string; origin: string; state: string }[] };
  assert.deepEqual(
    skills.filter(({ origin }) => origin === 'built-in').map(({ name, state }) => `${name} ${state}`),
    ['commit', 'debug', 'plan', 'research', 'summarise', 'write-skill'].map((name) => `${name} offered`),
  );
  assert.deepEqual(skills.find(({ name }) => name === 'tea')?.origin, 'own');
  const builtIn = (await openSkillShelf(home).list()).skills.filter(({ origin }) => origin === 'built-in');
  const section = skillsSection(builtIn);
  assert.ok(section.length <= 700, String(section.length));
});
