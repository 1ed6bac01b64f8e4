import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestChat } from './test-chat.ts';

const skills = {
  list: async () => [
    { name: 'make-tea', description: 'Boil water' },
    { name: 'new', description: 'Hidden behind the command' },
    { name: '3d-print', description: 'Print' },
  ],
  message: (name: string, argument: string) => `skill ${name}: ${argument}`,
};

test('every skill is a command that becomes a message for the model', async () => {
  const chat = await TestChat.open({ services: { skills } });
  assert.deepEqual(await chat.says('/make-tea for two\nplease'), ['answer 1']);
  assert.deepEqual(await chat.says('/make_tea'), ['answer 2']);
  assert.deepEqual(await chat.says('/skills 3d-print a cup'), ['answer 3']);
  assert.deepEqual(await chat.says('/3d-print a jug'), ['answer 4']);
  assert.deepEqual(await chat.says('/2 of it'), ['answer 5']);
  assert.deepEqual(
    chat.prompts.map((texts) => texts.at(-1)),
    [
      'skill make-tea: for two\nplease',
      'skill make-tea: ',
      'skill 3d-print: a cup',
      'skill 3d-print: a jug',
      '/2 of it',
    ],
  );
  await chat.close();
});

test('a command of the program goes before a skill, and /skills lists them', async () => {
  const chat = await TestChat.open({ services: { skills } });
  assert.equal(
    (await chat.says('/skills')).join(),
    '/make-tea: Boil water\n/new: Hidden behind the command\n/3d-print: Print',
  );
  assert.match((await chat.says('/skills nothing')).join(), /There is no skill nothing/);
  assert.match((await chat.says('/make-tee')).join(), /Did you mean \/make-tea\?/);
  assert.doesNotMatch((await chat.says('/new')).join(), /skill new/);
  assert.deepEqual(chat.prompts, []);
  await chat.close();
});

test('without skills there are none', async () => {
  const chat = await TestChat.open();
  assert.deepEqual(await chat.says('/skills'), ['There are no skills yet.']);
  assert.match((await chat.says('/make-tea')).join(), /There is no command \/make-tea/);
  await chat.close();
});
