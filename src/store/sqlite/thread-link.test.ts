import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ThreadLink } from './thread-link.ts';

const serveUrl = new URL('./serve-thread.ts', import.meta.url).href;
const storeUrl = new URL('../store.ts', import.meta.url).href;

/** A thread that answers with what `handle` says, given as source text. */
function start(handle: string, batchMax = 3): ThreadLink {
  const source = `
    import { parentPort } from 'node:worker_threads';
    import { serveThread } from ${JSON.stringify(serveUrl)};
    import { StoreError } from ${JSON.stringify(storeUrl)};
    serveThread(parentPort, { batchMax: ${batchMax}, handle: ${handle}, end() {} });
  `;
  const entry = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  return new ThreadLink({ entry, data: null, name: 'test thread' });
}

const gone = { name: 'StoreError', reason: 'unavailable' };

void describe('thread link', () => {
  void it('answers each request, in batches that are bounded', async () => {
    const link = start('(bodies) => bodies.map((body) => ({ ok: true, value: [body, bodies.length] }))');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => link.request(index)));
    const [numbers, sizes] = [0, 1].map((place) => (answers as number[][]).map((answer) => answer[place]));
    assert.deepEqual(
      numbers,
      Array.from({ length: 20 }, (_, index) => index),
    );
    assert.ok(sizes?.every((size) => size !== undefined && size <= 3));
    await link.close();
  });

  void it('answers of one batch are given out in order and a few at a time, so that others have their turn', async () => {
    // What is asked while the first request is handled is answered together.
    const handle = `(bodies) => {
      if (bodies[0] === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      return bodies.map((value) => ({ ok: true, value }));
    }`;
    const link = start(handle, 100);
    const given: number[] = [];
    let [seen, mostBetween, isLooking] = [0, 0, true];
    const look = () => {
      mostBetween = Math.max(mostBetween, given.length - seen);
      seen = given.length;
      if (isLooking) setImmediate(look);
    };
    look();
    await Promise.all(Array.from({ length: 100 }, (_, index) => link.request(index).then(() => given.push(index))));
    isLooking = false;
    look();
    assert.deepEqual(
      given,
      Array.from({ length: 100 }, (_, index) => index),
    );
    assert.ok(mostBetween <= 32, `between two looks: ${mostBetween}`);
    await link.close();
  });

  void it('errors keep their reason and text; a bug stays a bug', async () => {
    const link = start(`(bodies) => bodies.map((body) => ({
      ok: false, error: body === 'bug' ? new TypeError('a bug') : new StoreError('disk-full', 'No room.') }))`);
    await assert.rejects(link.request('trouble'), { name: 'StoreError', reason: 'disk-full', message: 'No room.' });
    await assert.rejects(link.request('bug'), { name: 'AssertionFailure', message: /TypeError: a bug/ });
    await link.close();
  });

  void it('C86 when the thread dies, what is outstanding and all that follows fails', async () => {
    const deaths = ['() => process.exit(3)', "() => { throw new Error('broken'); }"];
    for (const handle of deaths) {
      const link = start(handle);
      const outstanding = [link.request(1), link.request(2)];
      for (const request of outstanding) await assert.rejects(request, { ...gone, message: /test thread is gone/ });
      assert.equal(link.alive, false);
      await assert.rejects(link.request(3), gone);
      await link.close();
    }
  });

  void it('closing answers what was asked before and refuses what comes after', async () => {
    const link = start('(bodies) => bodies.map((value) => ({ ok: true, value }))');
    const asked = link.request('before');
    const closing = link.close();
    await assert.rejects(link.request('after'), gone);
    assert.equal(await asked, 'before');
    await closing;
    await link.close();
  });

  void it('a value that can not cross is the fault of its request alone', async () => {
    const link = start('(bodies) => bodies.map((value) => ({ ok: true, value }))');
    await assert.rejects(
      link.request(() => {}),
      { name: 'DataCloneError' },
    );
    assert.equal(await link.request('fine'), 'fine');
    assert.equal(link.idle, true);
    await link.close();
  });
});
