/** Pictures for a model that can't see, as a whole program: another model looks at them, and the answer can use it. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startModelServer } from './model-server/model-server.ts';
import { ask } from './support/http.ts';
import { atEnd, freshHome, startGateway } from './support/talaria-process.ts';

const onePixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('a picture is described by the model that was chosen for it, and the one that answers is told', async (t) => {
  const server = await startModelServer();
  atEnd(t, () => server.close());
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  const address = { provider: 'custom', base_url: server.baseUrl('chat_completions'), api_key: 'key-number-one' };
  const config = {
    model: { ...address, name: 'blind-model' },
    auxiliary: { vision: { ...address, name: 'seeing-model' } },
  };
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config));
  server.order({ reply: { text: '1. a small red square' }, model: 'seeing-model', times: 1 });
  const gateway = await startGateway(t, { home });
  const content = [
    { type: 'text', text: 'say that I know' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${onePixel}` } },
  ];
  const answer = await ask(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'talaria', messages: [{ role: 'user', content }] }),
  });
  assert.equal(answer.status, 200, answer.text);
  const asked = server.requests().map(({ model, raw, problem }) => ({
    model,
    problem,
    hasPicture: (raw ?? '').includes(onePixel),
    isTold: (raw ?? '').includes('1. a small red square'),
  }));
  assert.deepEqual(asked, [
    { model: 'seeing-model', problem: null, hasPicture: true, isTold: false },
    { model: 'blind-model', problem: null, hasPicture: false, isTold: true },
  ]);
});
