import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Gate, Plan } from '../approval.ts';
import { fakeToolContext } from '../fake-tool-context.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { readInstalled, writeInstalled } from './installed-record.ts';
import { createSkillTools } from './skill-tools.ts';
import { hashTree, readTree } from './skill-tree.ts';
import { builtInSkills, skillText, testDiff, testShelf, type TestShelf } from './test-skills.ts';

/** Asks about everything; lets go what is answered with `Once`. */
function askingGate(): Gate & { readonly considered: Plan[]; readonly untrusted: (string | null)[] } {
  const considered: Plan[] = [];
  const untrusted: (string | null)[] = [];
  return {
    considered,
    untrusted,
    async consider(plan, context) {
      considered.push(plan);
      untrusted.push(context.untrusted);
      return {
        kind: 'ask',
        question: { text: plan.shown, choices: ['Once', 'No'], deadline: 1, isApproval: true, plan: plan.frozen },
      };
    },
    settle: async ({ plan = '' }, answer) =>
      answer === 'Once' ? { kind: 'go', frozen: plan } : { kind: 'refuse', text: 'Not done: no.' },
  };
}

interface Desk extends TestShelf {
  readonly gate: ReturnType<typeof askingGate>;
  readonly context: ToolContext;
  readonly tools: readonly Tool[];
  readonly settings: { asksAlways: boolean; isOwners: boolean };
  run(tool: string, input: object, context?: ToolContext): Promise<ToolOutcome>;
  text(name: string, path?: string): Promise<string>;
}

async function desk(t: test.TestContext, builtIn?: string): Promise<Desk> {
  const on = await testShelf(t, builtIn);
  const gate = askingGate();
  const settings = { asksAlways: false, isOwners: true };
  const tools = createSkillTools({
    shelf: on.shelf,
    gate,
    diff: testDiff,
    asksAlways: () => settings.asksAlways,
    isOwners: async () => settings.isOwners,
  });
  const context = fakeToolContext(on.root);
  return {
    ...on,
    gate,
    context,
    tools,
    settings,
    async run(name, input, where = context) {
      const tool = tools.find(({ definition }) => definition.name === name);
      const parsed = tool?.parse(input);
      assert.ok(tool !== undefined && parsed?.ok === true, JSON.stringify(parsed));
      return tool.run(parsed.value, where);
    },
    text: (name, path = 'SKILL.md') => readFile(join(on.shelf.folder, name, path), 'utf8'),
  };
}

const textOf = (outcome: ToolOutcome) => {
  assert.ok(outcome.kind === 'finished' || outcome.kind === 'failed', outcome.kind);
  return `${outcome.kind}: ${outcome.text}`;
};

test('the tools about skills take little room in a prompt', async (t) => {
  const { tools } = await desk(t);
  const bytes = tools.reduce((sum, { definition }) => sum + Buffer.byteLength(JSON.stringify(definition)), 0);
  assert.ok(bytes <= 900, String(bytes));
  assert.deepEqual(
    tools.map(({ definition, effect, replay }) => [definition.name, effect, replay]),
    [
      ['skills_list', 'read', 'safe'],
      ['skill_view', 'read', 'safe'],
      ['skill_manage', 'write', 'never'],
    ],
  );
});

describe('skills_list and skill_view', () => {
  test('list what is offered, by words', async (t) => {
    const { run, put, disabled } = await desk(t, builtInSkills);
    await put('bread', { 'SKILL.md': skillText('bread', 'Bake a loaf') });
    await put('cake', { 'SKILL.md': skillText('cake', 'Bake something sweet') });
    await put('off');
    disabled.push('off');
    await put('broken', { 'SKILL.md': 'x' });
    assert.equal(
      textOf(await run('skills_list', { filter: 'BAKE' })),
      'finished: - bread: Bake a loaf\n- cake: Bake something sweet\nBroken: broken: ' +
        'It does not begin with front matter: a line `---`, then name and description, then a line `---`.',
    );
    assert.match(textOf(await run('skills_list', { filter: 'bake loaf' })), /^finished: - bread: Bake a loaf\n/);
    assert.match(
      textOf(await run('skills_list', { filter: 'nothing' })),
      /^finished: No skill has all of these words\./,
    );
    assert.match(textOf(await run('skills_list', {})), /- write-skill: /);
    assert.doesNotMatch(textOf(await run('skills_list', {})), /- off/);
  });

  test('a skill is read with its place and its files, and a file by its path', async (t) => {
    const { run, put } = await desk(t);
    const folder = await put('a', {
      'SKILL.md': '---\nname: a\ndescription: b\ncompatibility: jq\n---\n# A\n\nStep.\n',
      'references/more.md': 'More.',
      'scripts/run.sh': '#!/bin/sh\n',
      'assets/x.png': new Uint8Array([0x89, 0x50, 0xff, 0]),
    });
    assert.equal(
      textOf(await run('skill_view', { name: 'a' })),
      `finished: Skill a, in ${folder}\nNeeds: jq\n\n# A\n\nStep.\n\n` +
        'Files, to be read by their path; scripts run in the terminal:\n' +
        '- assets/x.png (4 bytes)\n- references/more.md (5 bytes)\n- scripts/run.sh (10 bytes)',
    );
    assert.equal(textOf(await run('skill_view', { name: 'a', path: 'references/more.md' })), 'finished: More.');
    assert.equal(
      textOf(await run('skill_view', { name: 'a', path: 'assets/x.png' })),
      `failed: assets/x.png is no text (4 bytes). Use it in the terminal: ${folder}/assets/x.png`,
    );
    assert.match(textOf(await run('skill_view', { name: 'a', path: 'nothing' })), /has no file nothing/);
    const long = `begin${' word'.repeat(12_000)} end`;
    await put('long', { 'SKILL.md': skillText('long', 'Long', long), 'references/long.md': long });
    assert.ok(textOf(await run('skill_view', { name: 'long' })).includes(long), 'no step is left out');
    assert.equal(textOf(await run('skill_view', { name: 'long', path: 'references/long.md' })), `finished: ${long}`);
    assert.match(textOf(await run('skill_view', { name: 'b' })), /There is no skill "b"\. Did you mean a\?/);
  });

  test('no path leads out of the folder of a skill', async (t) => {
    const { run, put, shelf, root } = await desk(t);
    const folder = await put('a', { 'SKILL.md': skillText('a'), 'references/x.md': 'x' });
    await writeFile(join(root, 'secret'), 'canary');
    await writeFile(join(shelf.folder, 'secret'), 'canary');
    await mkdir(join(root, 'outside'));
    await writeFile(join(root, 'outside/secret'), 'canary');
    await symlink(join(root, 'secret'), join(folder, 'link'));
    await symlink(join(root, 'outside'), join(folder, 'folder-link'));
    const paths = ['../secret', '../../secret', 'references/../../secret', '/etc/passwd', join(root, 'secret'), 'link'];
    const more = [
      'folder-link/secret',
      './link',
      'references//x.md',
      '..',
      '.',
      '',
      '~/x',
      'a\0b',
      'x\\..\\y',
      'references',
    ];
    for (const path of [...paths, ...more]) {
      const outcome = await run('skill_view', { name: 'a', path });
      assert.equal(outcome.kind, 'failed', path);
      assert.ok(!textOf(outcome).includes('canary'), path);
    }
    for (const name of ['../..', '..', '.', '', 'a/..', 'a/references', '.history']) {
      assert.equal((await run('skill_view', { name })).kind, 'failed', name);
    }
  });

  test('what is not as its owner confirmed it is read to no model', async (t) => {
    const { run, put, shelf } = await desk(t);
    await put('a', { 'SKILL.md': skillText('a', 'b', 'canary') });
    const source = { kind: 'folder', location: '/x', path: '' } as const;
    const installed = { source, revision: null, hash: 'sha256:other', installedAt: 1, isEdited: false };
    await writeInstalled(shelf.folder, new Map([['a', installed]]));
    assert.match(textOf(await run('skill_view', { name: 'a' })), /^failed: a is not what its owner confirmed/);
    assert.match(textOf(await run('skills_list', {})), /Not offered, changed since its owner confirmed it: a/);
    const patch = { action: 'patch', name: 'a', old: 'canary', text: 'x' };
    assert.match(
      textOf(await run('skill_manage', patch)),
      /^failed: Nothing was changed: a is not what its owner confirmed/,
    );
  });
});

describe('skill_manage', () => {
  test('creates, changes and removes, each with what changed and a way back', async (t) => {
    const { run, text, shelf } = await desk(t);
    const first = skillText('tea', 'Make tea', '1. Boil water.\n');
    assert.equal(
      textOf(await run('skill_manage', { action: 'create', name: 'tea', text: first })),
      `finished: Created the skill tea. It shows in sessions that start later.\n\n${testDiff('', first)}`,
    );
    assert.equal((await stat(join(shelf.folder, 'tea'))).mode & 0o777, 0o700);
    const second = first.replace('Boil', 'Heat');
    assert.equal(
      textOf(await run('skill_manage', { action: 'patch', name: 'tea', old: 'Boil', text: 'Heat' })),
      'finished: Changed the skill tea. What was there before is version 1; restore brings it back. ' +
        `It shows in sessions that start later.\n\n${testDiff(first, second)}`,
    );
    const script = '#!/bin/sh\ntrue\n';
    const edit = { action: 'edit', name: 'tea', path: 'scripts/heat.sh', text: script };
    assert.match(textOf(await run('skill_manage', edit)), /version 2; .*\n\n\+#!\/bin\/sh\n\+true$/s);
    assert.equal((await stat(join(shelf.folder, 'tea/scripts/heat.sh'))).mode & 0o777, 0o700);
    assert.match(
      textOf(await run('skill_manage', { action: 'remove', name: 'tea', path: 'scripts/heat.sh' })),
      /version 3/,
    );
    await assert.rejects(text('tea', 'scripts/heat.sh'), { code: 'ENOENT' });
    assert.match(textOf(await run('skill_manage', { action: 'restore', name: 'tea' })), /\+ scripts\/heat\.sh$/);
    assert.equal(await text('tea', 'scripts/heat.sh'), script);
    assert.match(textOf(await run('skill_manage', { action: 'restore', name: 'tea', version: 1 })), /version 5/);
    assert.equal(await text('tea'), first);
    assert.match(
      textOf(await run('skill_manage', { action: 'remove', name: 'tea' })),
      /^finished: Removed the skill tea\. .*version 6/,
    );
    assert.equal(await shelf.find('tea'), null);
    assert.match(textOf(await run('skill_manage', { action: 'restore', name: 'tea' })), /^finished: Restored/);
    assert.equal(await text('tea'), first);
    assert.deepEqual((await readdir(shelf.folder)).sort(), ['.history', 'tea']);
  });

  test('nothing is changed by what can not be a skill', async (t) => {
    const { run, put, text, shelf } = await desk(t);
    const before = skillText('a');
    await put('a', { 'SKILL.md': before, 'x.md': 'one one' });
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ action: 'create', name: 'a', text: before }, /There is a skill a already/],
      [{ action: 'create', name: 'B', text: before }, /"B" is no name for a skill/],
      [{ action: 'create', name: '../b', text: before }, /is no name for a skill/],
      [{ action: 'create', name: 'b', text: before }, /must have `name: b`/],
      [{ action: 'create', name: 'b', text: 'words' }, /would be broken\. It does not begin with front matter/],
      [{ action: 'create', name: 'b' }, /`text` is missing/],
      [{ action: 'create', name: 'b', text: skillText('b', 'c', 'd\u200be') }, /nobody sees \(U\+200B\)/],
      [
        { action: 'create', name: 'b', text: skillText('b', 'c', 'x'.repeat(300_000)) },
        /no readable SKILL\.md: it has/,
      ],
      [{ action: 'edit', name: 'a', text: 'words' }, /would be broken/],
      [{ action: 'edit', name: 'a', path: '../x', text: 'y' }, /can't be a file of a skill: it leads out/],
      [{ action: 'edit', name: 'a', path: '/tmp/x', text: 'y' }, /it is not relative/],
      [{ action: 'edit', name: 'a', path: 'big', text: 'x'.repeat(6_000_000) }, /too large/],
      [{ action: 'edit', name: 'none', text: 'y' }, /There is no skill none/],
      [{ action: 'patch', name: 'a', path: 'x.md', old: 'two', text: 'y' }, /does not have that text/],
      [{ action: 'patch', name: 'a', path: 'x.md', old: 'one', text: 'y' }, /more than once/],
      [{ action: 'patch', name: 'a', path: 'x.md', old: '', text: 'y' }, /`old` is empty/],
      [{ action: 'patch', name: 'a', path: 'y.md', old: 'x', text: 'y' }, /has no file y\.md/],
      [{ action: 'patch', name: 'a', old: `name: a`, text: 'name: b' }, /must have `name: a`/],
      [{ action: 'patch', name: 'a', text: 'y' }, /patch needs `old`/],
      [{ action: 'remove', name: 'a', path: 'SKILL.md' }, /no readable SKILL\.md/],
      [{ action: 'restore', name: 'a' }, /Nothing is kept of a skill a/],
      [{ action: 'restore', name: '../a' }, /is no name for a skill/],
    ];
    for (const [input, expected] of cases) {
      const outcome = await run('skill_manage', input);
      assert.equal(outcome.kind, 'failed', JSON.stringify(input).slice(0, 80));
      assert.match(textOf(outcome), expected);
    }
    assert.equal(await text('a'), before);
    assert.deepEqual(await readdir(shelf.folder), ['a']);
  });

  test('one that comes with the program is copied before it is changed, and comes back when the copy goes', async (t) => {
    const { run, text, shelf } = await desk(t, builtInSkills);
    const built = await readFile(join(builtInSkills, 'plan/SKILL.md'), 'utf8');
    assert.match(
      textOf(await run('skill_manage', { action: 'remove', name: 'plan' })),
      /^failed: .*comes with the program/,
    );
    await run('skill_manage', { action: 'patch', name: 'plan', old: '# Plan\n', text: '# My plan\n' });
    assert.equal(await text('plan'), built.replace('# Plan\n', '# My plan\n'));
    assert.equal(await readFile(join(builtInSkills, 'plan/SKILL.md'), 'utf8'), built);
    await run('skill_manage', { action: 'remove', name: 'plan' });
    const found = await shelf.find('plan');
    assert.equal(found !== null && 'origin' in found && found.origin, 'built-in');
  });

  test('an installed one stays confirmed when it is changed this way, and is marked as changed here', async (t) => {
    const { run, put, shelf } = await desk(t);
    const folder = await put('a');
    const tree = await readTree(folder);
    assert.ok(tree.kind === 'tree');
    const source = { kind: 'git', location: 'https://example.org/a', path: '' } as const;
    const installed = {
      source,
      revision: 'r',
      hash: await hashTree(folder, tree.files),
      installedAt: 1,
      isEdited: false,
    };
    await writeInstalled(shelf.folder, new Map([['a', installed]]));
    await run('skill_manage', { action: 'patch', name: 'a', old: 'Do it.', text: 'Do it well.' });
    const found = await shelf.find('a');
    assert.deepEqual(found !== null && 'state' in found && [found.origin, found.state], ['installed', 'offered']);
    const record = await readInstalled(shelf.folder);
    assert.equal(record.kind === 'read' && record.skills.get('a')?.isEdited, true);
  });

  test('changes at the same time all happen, and old versions go in the end', async (t) => {
    const { run, put, text, shelf } = await desk(t);
    await put('a', { 'SKILL.md': skillText('a', 'b', 'end') });
    const patches = Array.from({ length: 25 }, (_, index) =>
      run('skill_manage', { action: 'patch', name: 'a', old: 'end', text: `${index}\nend` }),
    );
    assert.ok((await Promise.all(patches)).every(({ kind }) => kind === 'finished'));
    assert.equal(
      (await text('a')).split('\n\n').at(-1),
      `${Array.from({ length: 25 }, (_, index) => `${index}\n`).join('')}end`,
    );
    const versions = (await readdir(join(shelf.folder, '.history/a'))).map(Number).sort((one, other) => one - other);
    assert.deepEqual([versions.length, versions[0], versions.at(-1)], [20, 6, 25]);
  });
});

describe('skill_manage asks', () => {
  const create = { action: 'create', name: 'a', text: skillText('a') };

  test('after a stranger’s text, for people who do not own the home, and if the operator wants it', async (t) => {
    const on = await desk(t);
    const { run, gate, context, settings, shelf } = on;
    assert.equal((await run('skill_manage', create, { ...context, untrusted: 'web' })).kind, 'ask');
    settings.isOwners = false;
    assert.equal((await run('skill_manage', create)).kind, 'ask');
    settings.isOwners = true;
    settings.asksAlways = true;
    assert.equal((await run('skill_manage', create)).kind, 'ask');
    assert.deepEqual(
      gate.considered.map(({ kind, subject, onceOnly }) => [kind, subject, onceOnly]),
      Array.from({ length: 3 }, () => ['self', 'skill a', true]),
    );
    // So that the gate asks in every mode.
    assert.deepEqual(gate.untrusted, ['web', 'stranger', null]);
    assert.equal(gate.considered[0]?.shown, `create skill a\n${testDiff('', create.text)}`);
    assert.deepEqual(await readdir(shelf.folder), []);
  });

  test('what was approved is done exactly so, or not at all', async (t) => {
    const { tools, context, put, text } = await desk(t);
    const web: ToolContext = { ...context, untrusted: 'web' };
    await put('a', { 'SKILL.md': skillText('a', 'b', 'one') });
    const manage = tools.find(({ definition }) => definition.name === 'skill_manage');
    assert.ok(manage?.answered !== undefined);
    const input = { action: 'patch', name: 'a', old: 'one', text: 'two' };
    const asked = await manage.run(input, web);
    assert.ok(asked.kind === 'ask');
    assert.deepEqual(await manage.answered(input, 'No', web, asked), { kind: 'failed', text: 'Not done: no.' });
    const other = await manage.answered({ ...input, text: 'three' }, 'Once', web, asked);
    assert.match(textOf(other), /^failed: Not done: the skill has changed since this was approved/);
    await put('a', { 'SKILL.md': skillText('a', 'b', 'one, and more') });
    assert.match(textOf(await manage.answered(input, 'Once', web, asked)), /^failed: Not done: the skill has changed/);
    await put('a', { 'SKILL.md': skillText('a', 'b', 'one') });
    assert.match(textOf(await manage.answered(input, 'Once', web, asked)), /^finished: Changed the skill a/);
    assert.equal(await text('a'), skillText('a', 'b', 'two'));
  });

  test('what could not be done anyway is said without asking', async (t) => {
    const { run, gate, context } = await desk(t);
    const outcome = await run('skill_manage', { ...create, text: 'x' }, { ...context, untrusted: 'web' });
    assert.match(textOf(outcome), /would be broken/);
    assert.deepEqual(gate.considered, []);
  });
});
