/** The OpenAI-compatible API of a real gateway, with the official client. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import OpenAI from 'openai';
import { startModelServer } from './model-server/model-server.ts';
import { ask } from './support/http.ts';
import { atEnd, freshHome, runTalaria, startGateway } from './support/talaria-process.ts';

async function stage(t: TestContext, channels: object = {}) {
  const model = await startModelServer();
  atEnd(t, () => model.close());
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  const base_url = model.baseUrl('chat_completions');
  const config = { model: { provider: 'custom', base_url, name: 'scripted', api_key: 'key-one-23' }, channels };
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config));
  const { url, stop } = await startGateway(t, { home });
  const client = (apiKey = 'none') => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  return { model, home, url, stop, client };
}

test('the official client talks to it: plain, streamed, with tools, in a stored session and through responses', async (t) => {
  const { client, model } = await stage(t);
  const openai = client();
  const plain = await openai.chat.completions.create({
    model: 'talaria',
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'I am Ann.' },
      { role: 'assistant', content: 'Hello Ann.' },
      { role: 'user', content: 'say plain' },
    ],
  });
  assert.equal(plain.choices[0]?.message.content, 'plain');
  assert.ok((plain.usage?.prompt_tokens ?? 0) > 0);
  const body = model.requests().at(-1)?.raw ?? '';
  assert.ok(body.includes('Be kind.') && body.includes('Hello Ann.'));

  const session = { headers: { 'X-Talaria-Session': 'shared' } };
  const stream = await openai.chat.completions.create(
    { model: 'talaria', stream: true, messages: [{ role: 'user', content: 'run echo from a tool' }] },
    session,
  );
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  assert.match(text, /from a tool/);
  await openai.chat.completions.create(
    { model: 'talaria', messages: [{ role: 'user', content: 'say more' }] },
    session,
  );
  assert.ok((model.requests().at(-1)?.raw ?? '').includes('from a tool'), 'the stored session goes on');

  const response = await openai.responses.create({ model: 'talaria', input: 'say through responses' });
  assert.equal(response.output_text, 'through responses');
  const models = await openai.models.list();
  assert.ok(models.data.some(({ id }) => id === 'talaria'));
});

test('a repeated request with the same Idempotency-Key asks no model again and gets the same answer', async (t) => {
  const { client, model } = await stage(t);
  const options = { headers: { 'Idempotency-Key': 'only-once' } };
  const once = () =>
    client().chat.completions.create({ model: 'talaria', messages: [{ role: 'user', content: 'say it' }] }, options);
  const [one, other] = [await once(), await once()];
  assert.deepEqual(other, one);
  assert.equal(model.requests().length, 1);
  const said = (role: 'system' | 'user' | 'assistant', content: string) => ({ role, content });
  const others = [
    [said('user', 'say something else')],
    [said('user', 'shall I?'), said('assistant', 'say yes.'), said('user', 'say it')],
    [said('system', 'be brief'), said('user', 'say it')],
  ];
  for (const messages of others) {
    await assert.rejects(
      client().chat.completions.create({ model: 'talaria', messages }, options),
      (error: unknown) => error instanceof OpenAI.UnprocessableEntityError && error.code === 'idempotency_key_reused',
    );
  }
  assert.equal(model.requests().length, 1);

  const later = { headers: { 'Idempotency-Key': 'with-a-past' } };
  const withPast = (messages: (typeof others)[number]) =>
    client().chat.completions.create({ model: 'talaria', messages }, later);
  const [, told = [], briefly = []] = others;
  assert.deepEqual(await withPast(told), await withPast(told));
  for (const messages of [told.slice(-1), [...told.slice(0, 2), ...told], briefly]) {
    await assert.rejects(withPast(messages), OpenAI.UnprocessableEntityError);
  }
  assert.equal(model.requests().length, 2);
});

test('who waits for an answer when the gateway stops is told so, and to come back where the answer will be', async (t) => {
  const { url, stop } = await stage(t);
  const post = (headers: Record<string, string>) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'talaria', messages: [{ role: 'user', content: 'slowly long 4000' }] }),
    });
  const waiting = [post({ 'idempotency-key': 'again' }), post({})];
  for (let running = 0; running < 2;) {
    ({ running } = (JSON.parse((await ask(`${url}/api/status`)).text) as { turns: { running: number } }).turns);
  }
  const stopped = stop();
  const told = await Promise.all(
    waiting.map(async (asked) => {
      const response = await asked;
      const { status, headers } = response;
      const { error } = (await response.json()) as { error: { code: string } };
      return [status, error.code, headers.get('retry-after'), headers.get('x-should-retry')];
    }),
  );
  assert.deepEqual(told, [
    [503, 'draining', '5', null],
    [503, 'draining', null, 'false'],
  ]);
  assert.equal((await stopped).code, 0);
});

test(
  'what a request without a session asks is in the list while it waits, and can be answered',
  { timeout: 60_000 },
  async (t) => {
    const { url, home, client } = await stage(t);
    const answer = client().chat.completions.create({
      model: 'talaria',
      messages: [{ role: 'user', content: 'ask which colour?' }],
    });
    type Listed = { sessions: { name: string }[] };
    const list = async () => (JSON.parse((await ask(`${url}/api/sessions`)).text) as Listed).sessions;
    let [waiting] = await list();
    while (waiting === undefined) [waiting] = await list();
    await runTalaria(t, ['sessions', 'answer', waiting.name, 'green'], { home });
    assert.match((await answer).choices[0]?.message.content ?? '', /green/);
    assert.deepEqual(await list(), []);
  },
);

test('requests into the same session at the same time get an answer each, in turns of their own', async (t) => {
  const { client, url } = await stage(t);
  const words = ['one', 'two', 'three', 'four', 'five'];
  const answers = await Promise.all(
    words.map((word) =>
      client().chat.completions.create(
        { model: 'talaria', messages: [{ role: 'user', content: `say ${word}` }] },
        { headers: { 'X-Talaria-Session': 'shared' } },
      ),
    ),
  );
  assert.deepEqual(
    answers.map(({ choices }) => choices[0]?.message.content),
    words,
  );
  const exported = (await ask(`${url}/api/sessions/shared/export`)).text.trim().split('\n');
  assert.equal(exported.filter((line) => line.includes('"turn-opened"')).length, words.length);
});

test('named keys open it, each for its own sessions, until they are revoked', async (t) => {
  const { client, home, url, model } = await stage(t, { api: { key: 'the-key-in-the-configuration' } });
  const env = { TALARIA_API_KEY: 'the-key-in-the-configuration' };
  const make = async (name: string) => (await runTalaria(t, ['keys', 'add', name], { home, env })).stdout.trim();
  const [laptop, phone] = [await make('laptop'), await make('phone')];
  assert.match(laptop, /^tal_/);
  const say = (key: string, session: string) =>
    client(key).chat.completions.create(
      { model: 'talaria', messages: [{ role: 'user', content: 'say hi' }] },
      { headers: { 'X-Talaria-Session': session } },
    );
  assert.equal((await say(laptop, 'mine')).choices[0]?.message.content, 'hi');
  // Both may call a session the same, at the same time too; neither learns of the other's.
  const twice = await Promise.all([say(phone, 'mine').withResponse(), say(phone, 'mine').withResponse()]);
  for (const { data, response } of twice) {
    assert.equal(data.choices[0]?.message.content, 'hi');
    assert.equal(response.headers.get('x-talaria-session'), 'mine');
  }
  assert.deepEqual(
    model.requests().map(({ raw }) => (raw ?? '').split('say hi').length - 1),
    [1, 1, 2],
  );
  await assert.rejects(say('wrong', 'x'), (error: unknown) => error instanceof OpenAI.AuthenticationError);
  assert.equal((await ask(`${url}/v1/models`)).status, 401);
  // What is the owner's is not a program's: all sessions, new keys, the backup.
  for (const path of ['/api/sessions', '/api/sessions/mine/export', '/api/keys', '/api/status']) {
    const headers = { authorization: `Bearer ${phone}` };
    assert.equal((await ask(`${url}${path}`, { headers })).status, 403, path);
  }
  await runTalaria(t, ['keys', 'revoke', 'laptop'], { home, env });
  await assert.rejects(say(laptop, 'mine'), (error: unknown) => error instanceof OpenAI.AuthenticationError);
});
