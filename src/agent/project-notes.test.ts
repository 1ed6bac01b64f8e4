import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldersToward } from './project-notes.ts';
import { asksFor, says, Stage } from './test-stage.ts';

const notes: Readonly<Record<string, string>> = { web: 'web words', 'web/src': 'src words', docs: 'docs words' };

/** A session whose tool `look` works on the path that is its argument. */
async function staged(suspicious: readonly string[] = []): Promise<Stage> {
  const stage = await Stage.open();
  stage.tools = { look: { run: () => 'seen', effect: 'read', replay: 'safe', sideBySide: 'any' } };
  prepare(stage, suspicious);
  await stage.hears('go');
  return stage;
}

function prepare(stage: Stage, suspicious: readonly string[] = []): void {
  const { agent } = stage;
  stage.built = {
    ...agent,
    workspace: '/work',
    tools: {
      get(name) {
        const tool = agent.tools.get(name);
        return tool && { ...tool, worksOn: (input) => [(input as { path: string }).path] };
      },
    },
    folderNote: (folder) => {
      const text = notes[folder];
      if (text === undefined) return Promise.resolve(null);
      return Promise.resolve({ path: `${folder}/AGENTS.md`, text, isSuspicious: suspicious.includes(folder) });
    },
  };
}

const look = (path: string): [string, string] => ['look', JSON.stringify({ path })];

async function results(stage: Stage): Promise<unknown[]> {
  return (await stage.entries()).flatMap((entry) => {
    if (entry.kind !== 'message' || entry.message.role !== 'tool') return [];
    const { text, projectFiles, untrusted } = entry.message.parts[0];
    return [{ text, ...(projectFiles && { projectFiles }), ...(untrusted && { untrusted }) }];
  });
}

const added = (...texts: string[]) =>
  `seen\n\n[What the project says about working in this folder. It does not speak for the user.]\n${texts.join('\n')}`;

test('what a subfolder says comes with the first result from there, once, and is stored with it', async () => {
  const stage = await staged();
  stage.script = [asksFor(look('web/a.ts')), asksFor(look('web/b.ts'), look('README.md')), says('done')];
  await stage.run();
  assert.deepEqual(await results(stage), [
    { text: added('web words'), projectFiles: ['web/AGENTS.md'] },
    { text: 'seen' },
    { text: 'seen' },
  ]);
});

test('folders on the way speak too, the outermost first', async () => {
  const stage = await staged();
  stage.script = [asksFor(look('/work/web/src/a.ts')), says('done')];
  await stage.run();
  assert.deepEqual(await results(stage), [
    { text: added('web words', 'src words'), projectFiles: ['web/AGENTS.md', 'web/src/AGENTS.md'] },
  ]);
});

test('calls side by side in one folder tell it once', async () => {
  const stage = await staged();
  stage.script = [asksFor(look('docs/a'), look('docs/b'), look('docs/c')), says('done')];
  await stage.run();
  const told = (await results(stage)).filter((result) => JSON.stringify(result).includes('docs words'));
  assert.equal(told.length, 1);
});

test('who reads the very file is not told it again', async () => {
  const stage = await staged();
  stage.script = [asksFor(look('docs/AGENTS.md')), asksFor(look('docs/a')), says('done')];
  await stage.run();
  assert.deepEqual(await results(stage), [{ text: 'seen', projectFiles: ['docs/AGENTS.md'] }, { text: 'seen' }]);
});

test('a call that failed brings nothing', async () => {
  const stage = await staged();
  stage.tools = { look: { run: () => ({ kind: 'failed', text: 'no' }) } };
  stage.script = [asksFor(look('docs/a')), says('done')];
  await stage.run();
  assert.deepEqual(await results(stage), [{ text: 'no' }]);
});

test('C85 C93 another process does not tell it again, and sends the same bytes as before', async () => {
  const stage = await staged();
  stage.script = [asksFor(look('docs/a')), says('done'), asksFor(look('docs/b')), says('done')];
  await stage.run();
  const before = JSON.parse(stage.requests.at(-1) ?? '') as { messages: unknown[] };
  stage.livesAgain();
  prepare(stage);
  await stage.hears('again');
  await stage.run();
  const after = JSON.parse(stage.requests.at(-1) ?? '') as { messages: unknown[] };
  assert.deepEqual(after.messages.slice(0, before.messages.length), before.messages);
  assert.deepEqual(await results(stage), [
    { text: added('docs words'), projectFiles: ['docs/AGENTS.md'] },
    { text: 'seen' },
  ]);
});

test('words that give orders in secret make the turn one that has read a stranger’s', async () => {
  const stage = await staged(['docs']);
  stage.script = [asksFor(look('docs/a')), says('done')];
  await stage.run();
  assert.deepEqual(await results(stage), [
    { text: added('docs words'), projectFiles: ['docs/AGENTS.md'], untrusted: 'stranger' },
  ]);
});

test('only folders inside the workspace lead to a path, and none that others wrote', () => {
  assert.deepEqual(foldersToward('/work', 'a/b/c.ts'), ['a', 'a/b', 'a/b/c.ts']);
  assert.deepEqual(foldersToward('/work', './a/../b/'), ['b']);
  assert.deepEqual(foldersToward('/work', 'a/node_modules/x/y'), ['a']);
  for (const path of ['', '.', '..', '../x', '/etc/passwd', '/workshop/a', 'node_modules/x', 'a\0b'])
    assert.deepEqual(foldersToward('/work', path), [], path);
  assert.equal(foldersToward('/work', 'a/'.repeat(1_000)).length, 12);
});
