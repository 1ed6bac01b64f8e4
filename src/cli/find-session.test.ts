import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeApi, FakeHome } from '../../test/support/fake-api.ts';
import { allSessions, findSession } from './find-session.ts';

/** Sessions whose last change was at these moments, newest first. */
function createApi(moments: readonly number[]): FakeApi {
  const home = new FakeHome();
  for (const [index, at] of moments.toReversed().entries()) {
    const session = home.create(`session ${moments.length - index}`);
    session.entries.push({ kind: 'turn-opened', seq: 1, at, turnId: null });
  }
  return new FakeApi(home);
}

async function names(api: FakeApi): Promise<string[]> {
  const all: string[] = [];
  for await (const session of allSessions(api)) all.push(session.name);
  return all;
}

test('all sessions come page by page, newest first, each once', async () => {
  const moments = Array.from({ length: 1_001 }, (_, index) => 5_000 - index);
  assert.deepEqual(
    await names(createApi(moments)),
    moments.map((_, index) => `session ${index + 1}`),
  );
  assert.deepEqual(await names(createApi([])), []);
});

test('sessions that changed in the same millisecond do not fall between two pages', async () => {
  const moments = Array.from({ length: 650 }, (_, index) => 5_000 - Math.floor(index / 90));
  const found = await names(createApi(moments));
  assert.equal(found.length, 650);
  assert.equal(new Set(found).size, 650);
});

test('more sessions than a page in one millisecond do not go on for ever', async () => {
  const found = await names(createApi(Array.from({ length: 700 }, () => 5_000)));
  assert.equal(new Set(found).size, found.length);
});

test('a session is found by name or id, and a wrong name leads to the nearest', async () => {
  const api = createApi([3, 2, 1]);
  const session = await findSession(api, 'session 2');
  assert.deepEqual(await findSession(api, session.id), session);
  await assert.rejects(findSession(api, 'sesion 2'), {
    message: 'there is no session "sesion 2"; did you mean "session 2"?',
    exitCode: 1,
  });
  await assert.rejects(findSession(api, 'zebra'), {
    message: 'there is no session "zebra"; see talaria sessions list',
  });
});
