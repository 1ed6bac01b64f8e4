/** What is said about a session beside the talk in it: its settings and its title. */
import assert from 'node:assert/strict';
import type { Declare } from './fake-world.ts';

export function settingsSuite(declare: Declare): void {
  declare('settings are replaced as a whole, by anyone, and nothing else changes', async (world) => {
    const { store, clock, ids, conversation } = world;
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    await chat.openTurn();
    await other.say('there');
    const before = await chat.journal();
    await clock.advance(5);
    const settings = { model: 'anthropic/opus', effort: 'high' } as const;
    assert.equal(await store.changeSettings(chat.sessionId, settings), true);
    assert.deepEqual(await chat.journal(), { ...before, session: { ...before.session, settings } });
    assert.equal(await store.changeSettings(chat.sessionId, { model: null, effort: 'none' }), true);
    assert.deepEqual((await chat.journal()).session.settings, { model: null, effort: 'none' });
    assert.deepEqual((await other.journal()).session.settings, { model: null, effort: null });
    assert.equal(await store.changeSettings(ids.next('ses'), settings), false);
  });

  declare('settings and title outlive the process', async ({ store, ids, reopen, conversation }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const chat = conversation('alpha');
    await chat.openTurn();
    await store.changeSettings(chat.sessionId, { model: 'opus', effort: null });
    await chat.commit({ verb: 'set-title', title: 'Ducks', by: 'model' });
    const { session } = await chat.journal();
    const again = await reopen(ids.next('nod'));
    assert.deepEqual(await again.read.session(chat.sessionId), session);
  });

  declare("a model's title replaces the first words, a person's replaces both", async ({ clock, conversation }) => {
    const chat = conversation('alpha');
    await chat.openTurn('one');
    const { session } = await chat.journal();
    await clock.advance(5);
    await chat.commit({ verb: 'set-title', title: 'Ducks', by: 'model' });
    const now = async () => {
      const { title, titledBy } = (await chat.journal()).session;
      return [title, titledBy];
    };
    assert.deepEqual(await now(), ['Ducks', 'model']);
    await chat.commit({ verb: 'set-title', title: 'Geese', by: 'model' });
    assert.deepEqual(await now(), ['Geese', 'model']);
    await chat.commit({ verb: 'set-title', title: 'My birds', by: 'person' });
    await chat.commit({ verb: 'set-title', title: 'Swans', by: 'model' });
    await chat.commit({ verb: 'set-title', title: 'Swans', by: 'words' });
    assert.deepEqual(await now(), ['My birds', 'person']);
    await chat.commit({ verb: 'set-title', title: 'Owls', by: 'person' });
    assert.deepEqual(await now(), ['Owls', 'person']);
    assert.equal((await chat.journal()).session.messages, session.messages);
  });

  declare('every other title is an entry of the log, of no turn; the same one again is none', async (world) => {
    const chat = world.conversation('alpha');
    await chat.openTurn('one');
    const { session, entries } = await chat.journal();
    await chat.commit({ verb: 'set-title', title: session.title, by: 'model' });
    await chat.commit({ verb: 'set-title', title: 'Ducks', by: 'model' });
    await chat.commit({ verb: 'set-title', title: 'My birds', by: 'person' });
    await chat.commit({ verb: 'set-title', title: 'Swans', by: 'model' });
    const added = (await chat.journal()).entries.slice(entries.length);
    assert.deepEqual(
      added.map(({ at: _at, ...entry }) => entry),
      [
        { kind: 'titled', title: 'Ducks', by: 'model', seq: session.lastSeq + 1, turnId: null },
        { kind: 'titled', title: 'My birds', by: 'person', seq: session.lastSeq + 2, turnId: null },
      ],
    );
  });

  declare('a title that somebody emptied stays empty', async ({ conversation }) => {
    const chat = conversation('alpha');
    await chat.openTurn('one');
    await chat.commit({ verb: 'set-title', title: '', by: 'person' });
    await chat.say('two');
    assert.equal((await chat.journal()).session.title, '');
  });
}
