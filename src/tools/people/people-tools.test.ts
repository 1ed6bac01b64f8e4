import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FakeClock } from '../../lib/fake-clock.ts';
import { fakeToolContext, temporaryFolder } from '../fake-tool-context.ts';
import { clarifyWaitMs, createClarifyTool } from './clarify-tool.ts';
import { createTodoTool } from './todo-tool.ts';

describe('clarify', () => {
  const clock = new FakeClock(1_000);
  const tool = createClarifyTool({ clock });
  const context = fakeToolContext('/nowhere');

  test('asks with the choices it was given, each once', async () => {
    assert.deepEqual(await tool.run({ question: 'Which one?', choices: ['red', 'blue', 'red'] }, context), {
      kind: 'ask',
      text: 'Which one?',
      choices: ['red', 'blue'],
      deadline: 1_000 + clarifyWaitMs,
    });
  });

  test('takes any words where there are no choices', async () => {
    const outcome = await tool.run({ question: 'Why?', choices: [] }, context);
    assert.deepEqual(outcome.kind === 'ask' && outcome.choices, null);
  });

  test('hands the answer on, and says so when nobody answered', async () => {
    const asked = { text: 'Why?', choices: null, deadline: 0 };
    assert.deepEqual(await tool.answered?.({ question: 'Why?' }, 'because', context, asked), {
      kind: 'finished',
      text: 'The user answered: because',
    });
    const silence = await tool.answered?.({ question: 'Why?' }, null, context, asked);
    assert.equal(silence?.kind, 'failed');
  });

  test('does not ask where nobody is', async () => {
    assert.equal((await tool.run({ question: 'Why?' }, { ...context, isUnattended: true })).kind, 'failed');
  });
});

describe('todo', () => {
  const tool = createTodoTool();

  test('keeps the list of a session, and shows it again', async (t) => {
    const context = fakeToolContext(await temporaryFolder(t));
    const items = [
      { text: 'look\n at it', state: 'done' as const },
      { text: 'mend it', state: 'doing' as const },
      { text: 'say so', state: 'open' as const },
    ];
    const list = { kind: 'finished', text: '[x] look at it\n[>] mend it\n[ ] say so\n2 of 3 left.' };
    assert.deepEqual(await tool.run({ items }, context), list);
    assert.deepEqual(await tool.run({}, context), list);
  });

  test('an empty list says so, and one that is done too', async (t) => {
    const context = fakeToolContext(await temporaryFolder(t));
    assert.deepEqual(await tool.run({}, context), { kind: 'finished', text: 'The list is empty.' });
    assert.deepEqual(await tool.run({ items: [{ text: 'a', state: 'done' }] }, context), {
      kind: 'finished',
      text: '[x] a\nAll done.',
    });
    assert.deepEqual(await tool.run({ items: [] }, context), { kind: 'finished', text: 'The list is empty.' });
  });

  test('a file that can not be read is told, and can be replaced', async (t) => {
    const context = fakeToolContext(await temporaryFolder(t));
    await mkdir(context.spoolFolder, { recursive: true });
    await writeFile(join(context.spoolFolder, 'todo.json'), '[{"tex');
    assert.equal((await tool.run({}, context)).kind, 'failed');
    assert.equal((await tool.run({ items: [] }, context)).kind, 'finished');
  });

  test('too many items are a mistake', () => {
    const items = Array.from({ length: 51 }, () => ({ text: 'x', state: 'open' }));
    assert.equal(tool.parse({ items }).ok, false);
  });
});
