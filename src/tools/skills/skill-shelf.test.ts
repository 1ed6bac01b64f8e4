import assert from 'node:assert/strict';
import { chmod, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { writeInstalled, type InstalledSkill } from './installed-record.ts';
import { skillCommand } from './skill-command.ts';
import { sectionCharsMax, skillsSection } from './skills-section.ts';
import { hashTree, readTree } from './skill-tree.ts';
import { builtInSkills, skillText, testShelf, writeFiles } from './test-skills.ts';

async function hashOf(folder: string): Promise<string> {
  const tree = await readTree(folder);
  assert.equal(tree.kind, 'tree');
  return hashTree(folder, tree.kind === 'tree' ? tree.files : []);
}

async function installedNow(folder: string): Promise<InstalledSkill> {
  const source = { kind: 'folder', location: '/somewhere', path: '' } as const;
  return { source, revision: null, hash: await hashOf(folder), installedAt: 1, isEdited: false };
}

describe('the shelf of skills', () => {
  test('has those of the home and those that come with the program, by name', async (t) => {
    const { shelf, put, root } = await testShelf(t, builtInSkills);
    const folder = await put('aaa');
    const { skills, broken } = await shelf.list();
    assert.deepEqual(broken, []);
    assert.deepEqual(
      skills.map(({ name, origin, state }) => `${name} ${origin} ${state}`),
      [
        'aaa own offered',
        ...['commit', 'debug', 'plan', 'research', 'summarise', 'write-skill'].map(
          (name) => `${name} built-in offered`,
        ),
      ],
    );
    assert.equal(skills[0]?.folder, folder);
    assert.equal(folder.startsWith(root), true);
  });

  test('one in the home takes the place of one that comes with the program', async (t) => {
    const { shelf, put } = await testShelf(t, builtInSkills);
    await put('plan', { 'SKILL.md': skillText('plan', 'Mine') });
    const found = await shelf.find('plan');
    assert.deepEqual(found !== null && 'origin' in found && [found.origin, found.description], ['own', 'Mine']);
  });

  test('broken ones are reported and keep no other from being found', async (t) => {
    const { shelf, put, root } = await testShelf(t);
    await put('good');
    await put('bad-yaml', { 'SKILL.md': '---\nname: [\n---\n' });
    await put('other-name', { 'SKILL.md': skillText('another') });
    await put('no-file', { 'README.md': 'x' });
    await put('Upper_Case');
    await put('huge', { 'SKILL.md': `${skillText('huge')}${'x'.repeat(300_000)}` });
    await writeFiles(join(root, 'outside'), { 'SKILL.md': skillText('linked') });
    await symlink(join(root, 'outside'), join(shelf.folder, 'linked'));
    await mkdir(join(shelf.folder, 'linked-file'));
    await symlink(join(root, 'outside/SKILL.md'), join(shelf.folder, 'linked-file/SKILL.md'));
    await mkdir(join(shelf.folder, '.history/x'), { recursive: true });
    await writeFile(join(shelf.folder, 'stray'), 'x');
    const { skills, broken } = await shelf.list();
    assert.deepEqual(
      skills.map(({ name }) => name),
      ['good'],
    );
    assert.deepEqual(
      broken.map(({ name, problem }) => `${name}: ${problem.split(/[:.]/)[0]}`),
      [
        'Upper_Case: "Upper_Case" is no name for a skill',
        'bad-yaml: Its front matter is no valid YAML',
        'huge: Its SKILL',
        'linked: It is a link',
        'linked-file: Its SKILL',
        'no-file: It has no SKILL',
        'other-name: Its name is another, and its folder is other-name',
        'stray: It is no folder',
      ],
    );
  });

  test('what the operator turned off is not offered', async (t) => {
    const { shelf, put, disabled } = await testShelf(t);
    await put('a');
    disabled.push('a');
    assert.equal((await shelf.list()).skills[0]?.state, 'disabled');
  });

  test('an installed skill is changed as soon as anything in it is not what was confirmed', async (t) => {
    const { shelf, put } = await testShelf(t);
    const files = { 'SKILL.md': skillText('a'), 'scripts/run.sh': '#!/bin/sh\necho hello\n', 'assets/x': 'x' };
    const folder = await put('a', files);
    await writeInstalled(shelf.folder, new Map([['a', await installedNow(folder)]]));
    const state = async () => {
      const found = await shelf.find('a');
      return found !== null && 'state' in found ? found.state : found;
    };
    assert.equal(await state(), 'offered');
    const script = join(folder, 'scripts/run.sh');
    const undoings: readonly (readonly [() => Promise<unknown>, () => Promise<unknown>])[] = [
      [() => writeFile(script, '#!/bin/sh\necho HELLO\n'), () => writeFile(script, files['scripts/run.sh'])],
      [() => writeFile(join(folder, 'new'), ''), () => rm(join(folder, 'new'))],
      [() => rename(script, join(folder, 'run')), () => rename(join(folder, 'run'), script)],
      [() => chmod(join(folder, 'assets/x'), 0o755), () => chmod(join(folder, 'assets/x'), 0o644)],
      [() => symlink('/etc/hostname', join(folder, 'l')), () => rm(join(folder, 'l'))],
    ];
    for (const [index, [change, undo]] of undoings.entries()) {
      await change();
      assert.equal(await state(), 'changed', `change ${index}`);
      await undo();
      assert.equal(await state(), 'offered', `undo ${index}`);
    }
    // The same size and the same time: only the content tells.
    await utimes(script, 1, 1);
    assert.equal(await state(), 'offered');
    await writeFile(script, '#!/bin/sh\necho world\n');
    await utimes(script, 1, 1);
    assert.equal(await state(), 'changed');
    assert.deepEqual(
      (await shelf.list()).skills.map((skill) => skill.state),
      ['changed'],
    );
  });

  test('with a record that can not be read, nothing of the home is offered, and it is said why', async (t) => {
    const { shelf, put } = await testShelf(t, builtInSkills);
    await put('a');
    await writeFile(join(shelf.folder, '.installed.json'), '{"skills":');
    const { skills, broken } = await shelf.list();
    assert.ok(skills.every(({ origin }) => origin === 'built-in'));
    assert.match(broken[0]?.problem ?? '', /\.installed\.json can't be read \(it is no JSON\)/);
  });

  test('a thousand skills are found, and their index stays small', async (t) => {
    const { shelf, put } = await testShelf(t);
    const names = Array.from({ length: 1_000 }, (_, index) => `skill-number-${String(index).padStart(4, '0')}`);
    await Promise.all(
      names.map((name) => put(name, { 'SKILL.md': skillText(name, 'Words about it '.repeat(20).trim()) })),
    );
    const { skills } = await shelf.list();
    assert.deepEqual(
      skills.map(({ name }) => name),
      names,
    );
    const section = skillsSection(skills);
    assert.ok(section.length <= sectionCharsMax, String(section.length));
    assert.match(section, /skill-number-0000, skill-number-0001/);
    assert.match(section, /\n\d+ more: skills_list with a word finds them\.$/);
    assert.equal(section, skillsSection(skills.toReversed()));
  });
});

describe('the index of skills', () => {
  const many = (count: number, description: string) =>
    Array.from({ length: count }, (_, index) => ({ name: `s${index + 100}`, description }));

  test('is a line each, sorted; nothing for none', () => {
    assert.equal(skillsSection([]), '');
    const lines = skillsSection([
      { name: 'b', description: 'Two\n lines 👩\u200d🚀 \u202e\u{e0101}\ufe01\u3164' },
      { name: 'a', description: 'One' },
    ]).split('\n');
    assert.deepEqual(lines.slice(-2), ['- a: One', '- b: Two lines 👩\u200d🚀']);
  });

  test('gets shorter before it gets incomplete', () => {
    const lengths = [10, 30, 300].map((count) => skillsSection(many(count, 'x'.repeat(500))));
    assert.ok(lengths.every((section) => section.length <= sectionCharsMax));
    assert.match(lengths[0] ?? '', /- s100: x{199}…\n/);
    assert.match(lengths[1] ?? '', /- s129: x{79}…$/);
    assert.match(lengths[2] ?? '', /- s100\n[^:]*- s399$/);
  });

  test('a command of a skill has the model read it, with the words behind it', () => {
    assert.equal(skillCommand('plan', ' '), 'Use the skill plan: read it with skill_view and do what it says.');
    assert.equal(
      skillCommand('plan', 'a\nparty '),
      'Use the skill plan: read it with skill_view and do what it says.\n\na\nparty',
    );
  });
});
