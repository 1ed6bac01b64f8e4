import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingIdSource } from '../../lib/ids.ts';
import { TestChat } from './test-chat.ts';

test('/compress is written down and acted on at once, and what came of it is said where it was asked', async () => {
  const chat = await TestChat.open();
  assert.match((await chat.says('/compress')).join(), /no conversation here yet/);
  await chat.says('one');
  const told = await chat.says('/compress the cats');
  assert.match(told.join('\n'), /The conversation is being shortened; you are told what comes of it\./);
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

test('/compress while a summary is being written says so, and asks for nothing that would be forgotten', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const session = await chat.session();
  assert.ok(session);
  const { store } = chat.gateway;
  const lease = await store.acquireLease(session.id, countingIdSource().next('nod'), 30_000);
  assert.ok(lease);
  const asked = { kind: 'asked', why: 'person', topic: '', place: null } as const;
  await store.commit(lease, [
    { verb: 'compress', step: asked },
    { verb: 'compress', step: { kind: 'begun' } },
  ]);
  assert.deepEqual(await chat.says('/compress'), ['The conversation is being shortened already.']);
  assert.match((await chat.says('/compress dogs')).join(), /already\. Send this again when it is done/);
  assert.equal((await store.read.session(session.id))?.lastSeq, session.lastSeq + 2);
  await store.releaseLease(lease);
  await chat.close();
});
