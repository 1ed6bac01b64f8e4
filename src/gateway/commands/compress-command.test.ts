import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestChat } from './test-chat.ts';

test('/compress is written down and acted on at once, and what came of it is said where it was asked', async () => {
  const chat = await TestChat.open();
  assert.match((await chat.says('/compress')).join(), /no conversation here yet/);
  await chat.says('one');
  const told = await chat.says('/compress the cats');
  assert.match(told.join('\n'), /It is shortened as soon as the step under way is done/);
  // The models of this gateway are not to be shortened for: that is said as well.
  assert.match([...told, ...(await chat.hears())].join('\n'), /compression\.enabled is off/);
  const session = await chat.session();
  assert.ok(session);
  const entries = await chat.gateway.store.read.entries(session.id, { after: 0, limit: 99 });
  const steps = entries.flatMap((entry) => (entry.kind === 'compression' ? [entry.step] : []));
  assert.deepEqual(
    steps.map((step) => (step.kind === 'asked' ? [step.kind, step.why, step.topic] : [step.kind])),
    [['asked', 'person', 'the cats'], ['declined']],
  );
  assert.equal(chat.prompts.length, 1);
  await chat.close();
});
