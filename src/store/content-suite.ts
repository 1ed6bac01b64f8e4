/** Bytes that messages refer to: each kept once, for as long as a session refers to it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Declare } from './fake-world.ts';
import type { Admission } from './store.ts';

function content(...numbers: readonly number[]): Admission['contents'][number] {
  const bytes = Uint8Array.from(numbers);
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes };
}

const [duck, goose, nothing] = [content(0, 255, 13, 10), content(7), content()];

export function contentSuite(declare: Declare): void {
  declare('contents come with their message and are read by their hash', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one', { contents: [duck, goose, duck, nothing] });
    assert.deepEqual(await store.read.content(duck.sha256), duck.bytes);
    assert.deepEqual(await store.read.content(goose.sha256), goose.bytes);
    assert.deepEqual(await store.read.content(nothing.sha256), nothing.bytes);
    assert.equal(await store.read.content('another'), null);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('what is stored is not what the sender or a reader does to his bytes later', async (world) => {
    const { store, conversation } = world;
    const bytes = Uint8Array.from(duck.bytes);
    await conversation('alpha').say('one', { contents: [{ ...duck, bytes }] });
    bytes.fill(1);
    (await store.read.content(duck.sha256))?.fill(2);
    assert.deepEqual(await store.read.content(duck.sha256), duck.bytes);
  });

  declare('a message that is refused or known already leaves no contents', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.admit('one', { contents: [duck], waitingMax: 0 });
    await chat.admit('one', { contents: [duck], session: { kind: 'existing', id: chat.sessionId } });
    await chat.say('one');
    assert.equal((await chat.admit('one', { contents: [duck] })).kind, 'duplicate');
    assert.equal(await store.read.content(duck.sha256), null);
  });

  declare('contents go with the last session that refers to them', async ({ store, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    await chat.say('one', { contents: [duck, goose] });
    await chat.say('two', { contents: [duck] });
    await other.say('three', { contents: [duck] });
    await store.deleteSession(chat.sessionId);
    assert.deepEqual(
      [await store.read.content(duck.sha256), await store.read.content(goose.sha256)],
      [duck.bytes, null],
    );
    await store.deleteSession(other.sessionId);
    assert.equal(await store.read.content(duck.sha256), null);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('contents outlive the process', async ({ ids, reopen, conversation }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    await conversation('alpha').say('one', { contents: [duck] });
    const again = await reopen(ids.next('nod'));
    assert.deepEqual(await again.read.content(duck.sha256), duck.bytes);
  });
}
