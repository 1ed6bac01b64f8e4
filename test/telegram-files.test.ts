/** Files end to end: a tool's to a Telegram chat, once, and to whoever reads the session's log; a person's to the tools. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { runGateway } from '../src/app/run-gateway.ts';
import { onePixel } from '../src/channels/channel-suite.ts';
import { createRemoteApi } from '../src/cli/remote-api.ts';
import { filesOf } from '../src/protocol/entry-files.ts';
import type { Tool } from '../src/tools/tool.ts';
import { storedEntries } from '../src/tui/stored-entries.ts';
import { startModelServer } from './model-server/model-server.ts';
import { atEnd, freshHome } from './support/talaria-process.ts';
import { startTelegramServer } from './telegram-server/telegram-server.ts';

const ann = { id: 101, name: 'Ann' };
const report = Buffer.from('a report');

/** Gives the person a document and a picture, and shows the picture to the model. */
const handOver: Tool = {
  definition: { name: 'hand_over', description: 'Hands over.', parameters: { type: 'object' } },
  effect: 'write',
  replay: 'safe',
  parse: (value) => ({ ok: true, value }),
  run: () =>
    Promise.resolve({
      kind: 'finished',
      text: 'Handed over.',
      images: [{ mediaType: 'image/png', bytes: onePixel }],
      files: [
        { name: 'my report.txt', mediaType: 'text/plain', bytes: report, caption: 'The **report**' },
        { name: 'dot.png', mediaType: 'image/png', bytes: onePixel },
      ],
    }),
};

async function startStage(t: TestContext) {
  const platform = await startTelegramServer();
  atEnd(t, () => platform.close());
  const model = await startModelServer();
  atEnd(t, () => model.close());
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  const config = {
    model: { provider: 'custom', base_url: model.baseUrl('chat_completions'), name: 'scripted', api_key: 'key-one-23' },
    gateway: { port: 0 },
    channels: { telegram: { token: platform.token, api_root: platform.url, allowed_users: [ann.id] } },
  };
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config));
  const stop = new AbortController();
  const ready = Promise.withResolvers<string>();
  const gateway = runGateway({
    home,
    env: { HOME: home, PATH: process.env['PATH'] },
    verbose: false,
    signal: stop.signal,
    onReady: ready.resolve,
    onNote: () => {},
    extraTools: [handOver],
  });
  gateway.catch(ready.reject);
  atEnd(t, async () => {
    stop.abort();
    await gateway.catch(() => {});
  });
  const origin = await ready.promise;
  return { platform, model, origin };
}

test('files of a call arrive in the chat before the answer, and can be had from the session', async (t) => {
  const { platform, origin } = await startStage(t);
  platform.people.write({ from: ann, text: 'call hand_over {} then say There you are.' });
  const said = () =>
    platform.world
      .said(ann.id)
      .filter(({ byBot, deleted }) => byBot && !deleted)
      .map(({ message: { text, caption, document, photo } }) =>
        text === undefined ? [document?.file_name, photo?.length, caption] : text.split('\n').at(-1),
      );
  await platform.until(() => said().includes('There you are.'), 'the answer');
  assert.deepEqual(said(), [['my report.txt', undefined, 'The report'], [undefined, 1, undefined], 'There you are.']);

  const api = createRemoteApi({ origin, key: null });
  const [session] = await api.sessions({ limit: 1 });
  assert.ok(session);
  const files = (await Array.fromAsync(storedEntries(api, session.id, 0))).flatMap(filesOf);
  assert.deepEqual(
    files.map(({ name, way }) => [name.replace(/\d+/, 'N'), way]),
    [
      ['image-N.png', 'seen'],
      ['my report.txt', 'sent'],
      ['dot.png', 'sent'],
    ],
  );
  assert.deepEqual(await api.content(files[1]?.content.sha256 ?? ''), report);
  assert.equal(await api.content('0'.repeat(64)), null);
  assert.equal(await api.delete(session.id), true);
  assert.equal(await api.content(files[1]?.content.sha256 ?? ''), null);
});

test('a document that somebody sends is a file for the tools before the model hears of it', async (t) => {
  const { platform, model } = await startStage(t);
  const base64 = Buffer.from('42 birds').toString('base64');
  const path = 'received/36444760-the_birds.csv';
  const text = `call read_file {"path":"${path}"} then say I have read it.`;
  platform.people.write({
    from: ann,
    caption: text,
    document: { base64, name: 'the birds.csv', mediaType: 'text/csv' },
  });
  await platform.until(
    () => platform.world.said(ann.id).some(({ byBot, message }) => byBot && message.text?.includes('I have read it.')),
    'the answer',
  );
  const [first, second] = model.requests().map(({ body }) => JSON.stringify(body?.['messages']));
  assert.ok(first?.includes('was attached: it is in the workspace as'), 'the model is told where it is');
  assert.ok(second?.includes('42 birds'), 'the tool has read it');
});
