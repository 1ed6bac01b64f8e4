import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandServices } from './services.ts';
import { TestChat } from './test-chat.ts';

type Checkpoints = NonNullable<CommandServices['checkpoints']>;

const note = (number: number, names: readonly string[]) => ({
  number,
  tool: 'write_file',
  at: 0,
  files: names.map((path) => ({ path, before: path.startsWith('new') ? null : {} })),
});

function keeper(outcome: Awaited<ReturnType<Checkpoints['rollBack']>>) {
  const asked: [number, boolean][] = [];
  const checkpoints: Checkpoints = {
    list: () => Promise.resolve([note(2, ['new.txt']), note(1, ['a', 'b', 'c', 'd', 'e', 'f'])]),
    rollBack: (_session, to, isForced) => {
      asked.push([to, isForced]);
      return Promise.resolve(outcome);
    },
  };
  return { asked, checkpoints };
}

test('/rollback shows the last changes with their files', async () => {
  const { checkpoints } = keeper({ kind: 'no-such-checkpoint' });
  const chat = await TestChat.open({ services: { checkpoints } });
  assert.match((await chat.says('/rollback')).join(), /no conversation here yet/);
  await chat.says('one');
  const [text = ''] = await chat.says('/rollback');
  assert.match(
    text,
    /^2\. .*, write_file: new\.txt \(new\)\n1\. .*, write_file: a, b, c, d, e and 1 more\n\/rollback NUMBER/,
  );
  await chat.close();
});

test('/rollback NUMBER takes back, and says how that is taken back', async () => {
  const { asked, checkpoints } = keeper({ kind: 'done', number: 3, files: ['/w/a'] });
  const chat = await TestChat.open({ services: { checkpoints } });
  await chat.says('one');
  assert.deepEqual(await chat.says('/rollback 1'), ['As before change 1 again:\n- /w/a\n/rollback 3 takes this back.']);
  assert.match((await chat.says('/rollback everything')).join(), /Send \/rollback to see/);
  assert.deepEqual(asked, [[1, false]]);
  await chat.close();
});

test('what somebody else changed is told, with a button that overwrites it', async () => {
  const { asked, checkpoints } = keeper({ kind: 'changed-since', files: ['/w/a: somebody else has changed it since'] });
  const chat = await TestChat.open({ services: { checkpoints } });
  await chat.says('one');
  assert.match((await chat.says('/rollback 2')).join(), /Nothing was changed, because of:\n- \/w\/a: somebody else/);
  assert.deepEqual(
    chat.buttons.map(({ label }) => label),
    ['Overwrite'],
  );
  await chat.says('/rollback 2 force');
  assert.deepEqual(asked, [
    [2, false],
    [2, true],
  ]);
  await chat.close();
});

test('while a turn is at work nothing is taken back', async () => {
  const { asked, checkpoints } = keeper({ kind: 'done', number: null, files: [] });
  const chat = await TestChat.open({ services: { checkpoints } });
  const release = chat.holds();
  await chat.says('one');
  assert.match((await chat.says('/rollback 1')).join(), /A turn is at work/);
  release();
  await chat.hears();
  assert.match((await chat.says('/rollback 1')).join(), /are as they were before change 1/);
  assert.deepEqual(asked, [[1, false]]);
  await chat.close();
});

test('where no checkpoints are kept it is said', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  assert.match((await chat.says('/rollback')).join(), /No checkpoints are kept here/);
  await chat.close();
});
