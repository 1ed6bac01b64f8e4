import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { askingPace } from './openai-routes.ts';
import type { RefusalReason } from './port.ts';
import { dataOf, serving, until, type TestServer } from './test-server.ts';

const messages = [{ role: 'user', content: 'hello' }];
const asking = { model: 'talaria', messages };

async function told(response: Response): Promise<{ status: number; body: unknown }> {
  return { status: response.status, body: await response.json() };
}

/** The content of a whole chat completion. */
async function contentOf(response: Response): Promise<string> {
  const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
  return choices[0].message.content;
}

describe('sessions', () => {
  test('a named session takes the last question alone and tells its name again', () =>
    serving(async ({ port, post }) => {
      port.answerAll((text) => `You said ${text}.`);
      const past = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'long ago' },
        { role: 'assistant', content: 'Yes.' },
      ];
      const body = { ...asking, messages: [...past, ...messages] };
      const response = await post('/chat/completions', body, { 'X-Talaria-Session': 'my work' });
      assert.equal(response.headers.get('x-talaria-session'), 'my work');
      assert.equal(await contentOf(response), 'You said hello.');
      const [request] = port.requests;
      assert.deepEqual(request, {
        session: { kind: 'named', name: 'my work' },
        message: { role: 'user', parts: [{ kind: 'text', text: 'hello' }] },
        contents: [],
        externalId: request?.externalId,
        user: 'owner',
        model: null,
      });
    }));

  test('without a name the past comes along, and every request is a session of its own', () =>
    serving(async ({ port, post }) => {
      port.answerAll((text) => text);
      const past = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'long ago' },
        { role: 'assistant', content: 'Yes.' },
      ];
      const body = { messages: [...past, ...messages], model: 'offline/rehearsal' };
      const names = [await post('/chat/completions', body), await post('/chat/completions', body)];
      assert.deepEqual(
        names.map((response) => response.headers.get('x-talaria-session')),
        ['chat-1', 'chat-2'],
      );
      assert.deepEqual(port.requests[0]?.session, {
        kind: 'fresh',
        history: [
          { role: 'user', parts: [{ kind: 'text', text: 'long ago' }] },
          { role: 'assistant', parts: [{ kind: 'text', text: 'Yes.' }] },
        ],
        system: 'Be brief.',
        isContinued: false,
      });
      assert.equal(port.requests[0]?.model, 'offline/rehearsal');
    }));

  test('one that nobody can go on with is closed once it is answered', () =>
    serving(async ({ port, post }) => {
      port.answerAll((text) => text);
      const closed = async (path: string, body: object, headers = {}) => {
        await (await post(path, body, headers)).text();
        await new Promise((resolve) => setImmediate(resolve));
        return port.closed.splice(0).length;
      };
      assert.deepEqual(
        [
          await closed('/chat/completions', asking),
          await closed('/chat/completions', { ...asking, stream: true }),
          await closed('/chat/completions', asking, { 'X-Talaria-Session': 'stored' }),
          await closed('/responses', { input: 'hi' }),
          await closed('/responses', { input: 'hi', store: false }),
        ],
        [1, 1, 0, 0, 1],
      );
    }));

  test('a name beyond ASCII comes percent-encoded or in UTF-8 and goes out encoded; what is no name is refused', () =>
    serving(async ({ port, post }) => {
      port.answerAll((text) => text);
      const asCurlSendsIt = Buffer.from('Küche').toString('latin1');
      for (const [index, name] of [encodeURIComponent('Küche'), asCurlSendsIt, 'K\xfcche'].entries()) {
        const response = await post('/chat/completions', asking, { 'X-Talaria-Session': name });
        assert.equal(response.headers.get('x-talaria-session'), 'K%C3%BCche');
        assert.deepEqual(port.requests[index]?.session, { kind: 'named', name: 'Küche' });
      }
      for (const name of ['../etc', '%ff', 'x'.repeat(65)]) {
        const refused = await told(await post('/chat/completions', asking, { 'X-Talaria-Session': name }));
        assert.equal(refused.status, 400);
        assert.equal((refused.body as { error: { param: string } }).error.param, 'X-Talaria-Session');
      }
    }));

  test('a response is found again by its user alone, and not at all if it was not to be stored', () =>
    serving(async ({ url, port, post }) => {
      port.answerAll(() => 'Yes.');
      const as = (user: string) => ({ authorization: `Bearer ${user}` });
      const { id } = (await (await post('/responses', { input: 'hi' }, as('anna'))).json()) as { id: string };
      const look = async (of: string, user: string) =>
        (await fetch(`${url}/responses/${of}`, { headers: as(user) })).status;
      assert.deepEqual([await look(id, 'anna'), await look(id, 'ben'), await look('resp_x', 'anna')], [200, 404, 404]);
      const going = { input: 'more', previous_response_id: id };
      const stolen = await told(await post('/responses', going, as('ben')));
      assert.equal((stolen.body as { error: { code: string } }).error.code, 'previous_response_not_found');
      const unstored = await post('/responses', { input: 'hi', store: false }, as('anna'));
      const passing = (await unstored.json()) as { id: string; store: boolean };
      assert.equal(passing.store, false);
      assert.equal(await look(passing.id, 'anna'), 404);
      const both = await post('/responses', going, { ...as('anna'), 'X-Talaria-Session': 'work' });
      assert.equal(both.status, 400);
    }));

  test('a response that is still being written shows as far as it is, and can not be followed yet', () =>
    serving(async ({ url, port, post }) => {
      let finish = () => {};
      port.onAsk = ({ session, inboxId }) => {
        const turnId = port.home.openTurn(session, inboxId);
        port.say(session, turnId, 'First.');
        finish = () => port.home.close(session, turnId, 'answered');
      };
      const stream = await post('/responses', { input: 'go', stream: true });
      const reader = stream.body?.getReader() ?? assert.fail('no body');
      let seen = '';
      while (!seen.includes('response.output_item.done')) {
        seen += Buffer.from((await reader.read()).value ?? []).toString();
      }
      const { response } = dataOf(seen)[0] as { response: { id: string } };
      const shown = (await (await fetch(`${url}/responses/${response.id}`)).json()) as {
        status: string;
        output: { content: { text: string }[] }[];
      };
      assert.deepEqual([shown.status, shown.output[0]?.content[0]?.text], ['in_progress', 'First.']);
      const early = await post('/responses', { input: 'more', previous_response_id: response.id });
      assert.equal(early.status, 409);
      assert.equal(early.headers.get('x-should-retry'), 'false');
      finish();
      await reader.cancel();
    }));

  test('of several that follow a response at the same time one does, and the others are refused', () =>
    serving(async ({ port, post }) => {
      port.answerAll((text) => `You said ${text}.`);
      const { id } = (await (await post('/responses', { input: 'one' })).json()) as { id: string };
      let begin = () => {};
      const { onAsk } = port;
      port.onAsk = (turn) => void (begin = () => onAsk(turn));
      const answers = ['a', 'b', 'c'].map((input) => post('/responses', { input, previous_response_id: id }));
      // The one that was taken is not begun before another one is answered.
      await Promise.race(answers);
      begin();
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      assert.deepEqual(
        statuses.toSorted((a, b) => a - b),
        [200, 409, 409],
      );
    }));
});

const outdatedCode = 'previous_response_outdated';

describe('a request with an Idempotency-Key', () => {
  const repeated = { 'Idempotency-Key': 'k-1' };

  test('is answered once, and a repetition gets the very same answer', () =>
    serving(async ({ port, post }) => {
      let count = 0;
      port.answerAll(() => `Answer ${(count += 1)}.`);
      const first = await (await post('/chat/completions', asking, repeated)).text();
      const second = await (await post('/chat/completions', asking, repeated)).text();
      assert.equal(second, first);
      assert.match(first, /Answer 1\./);
      const stream = await (await post('/chat/completions', { ...asking, stream: true }, repeated)).text();
      assert.match(stream, /Answer 1\./);
      const other = await post('/chat/completions', asking, { ...repeated, authorization: 'Bearer ben' });
      assert.equal(await contentOf(other), 'Answer 2.');
      const elsewhere = await post('/chat/completions', asking, { ...repeated, 'X-Talaria-Session': 'work' });
      assert.equal(await contentOf(elsewhere), 'Answer 3.');
    }));

  test('that comes again while the first one runs follows it', () =>
    serving(async ({ port, post }) => {
      let finish = () => {};
      port.onAsk = ({ session, inboxId }) => {
        const turnId = port.home.openTurn(session, inboxId);
        finish = () => {
          port.say(session, turnId, 'At last.');
          port.home.close(session, turnId, 'answered');
        };
      };
      const first = post('/chat/completions', asking, repeated);
      await until(() => port.requests.length === 1);
      const second = post('/chat/completions', asking, repeated);
      await until(() => port.home.sessions[0]?.streams.size === 2);
      finish();
      assert.deepEqual([await contentOf(await first), await contentOf(await second)], ['At last.', 'At last.']);
      assert.equal(port.home.sessions.length, 1);
    }));

  test('also repeats a question that followed a response', () =>
    serving(async ({ port, post }) => {
      port.answerAll((text) => `You said ${text}.`);
      const { id } = (await (await post('/responses', { input: 'one' })).json()) as { id: string };
      const body = { input: 'two', previous_response_id: id };
      const first = await (await post('/responses', body, repeated)).text();
      assert.equal(await (await post('/responses', body, repeated)).text(), first);
    }));

  test('follows no response that others follow already', () =>
    serving(async ({ port, post }) => {
      port.answerAll((text) => `You said ${text}.`);
      const { id } = (await (await post('/responses', { input: 'one' })).json()) as { id: string };
      const after = (input: string, key: string) =>
        post('/responses', { input, previous_response_id: id }, { 'Idempotency-Key': key });
      assert.equal((await after('two', 'k-1')).status, 200);
      const late = await told(await after('another two', 'k-2'));
      assert.deepEqual([late.status, (late.body as { error: { code: string } }).error.code], [409, outdatedCode]);
      assert.equal((await after('two', 'k-1')).status, 200);
    }));

  test('has one of a sensible length', () =>
    serving(async ({ post }) => {
      const long = await told(await post('/chat/completions', asking, { 'Idempotency-Key': 'x'.repeat(256) }));
      assert.equal((long.body as { error: { param: string } }).error.param, 'Idempotency-Key');
    }));
});

describe('what can not be answered', () => {
  const errorOf = async (response: Response) => {
    const { error } = (await response.json()) as {
      error: { message: string; type: string; code: string; param: string };
    };
    assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
    return [response.status, error.type, error.code] as const;
  };

  test('has a status, a type and a code', () =>
    serving(async ({ port, post }) => {
      const expected: [RefusalReason, number, string, string][] = [
        ['queue-full', 429, 'rate_limit_error', 'queue_full'],
        ['draining', 503, 'server_error', 'draining'],
        ['too-large', 413, 'invalid_request_error', 'message_too_large'],
        ['not-allowed', 403, 'permission_error', 'not_allowed'],
        ['empty', 400, 'invalid_request_error', 'empty_message'],
        ['asked-otherwise', 422, 'invalid_request_error', 'idempotency_key_reused'],
      ];
      for (const [reason, ...rest] of expected) {
        port.instead = { kind: 'refused', reason, text: 'Not now.' };
        const response = await post('/chat/completions', asking);
        const isLater = reason === 'queue-full' || reason === 'draining';
        assert.equal(response.headers.get('retry-after'), isLater ? '5' : null);
        assert.equal(response.headers.get('x-should-retry'), isLater ? null : 'false');
        assert.deepEqual(await errorOf(response), rest);
      }
    }));

  test('is refused before anybody is asked if it can not be read', () =>
    serving(async ({ url, port, post }) => {
      const deep = `{"model":"talaria","messages":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
      const bad = [400, 'invalid_request_error', 'invalid_request'];
      assert.deepEqual(await errorOf(await post('/chat/completions', '{"messages":')), bad);
      assert.deepEqual(await errorOf(await post('/chat/completions', deep)), bad);
      assert.deepEqual(await errorOf(await post('/responses', deep)), bad);
      const form = await post('/chat/completions', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' });
      assert.deepEqual(await errorOf(form), [415, 'invalid_request_error', 'unsupported_media_type']);
      assert.deepEqual(await errorOf(await fetch(`${url}/embeddings`)), [404, 'invalid_request_error', 'unknown_url']);
      const wrongWay = await fetch(`${url}/chat/completions`);
      assert.deepEqual(await errorOf(wrongWay), [405, 'invalid_request_error', 'method_not_supported']);
      assert.deepEqual(port.requests, []);
    }));

  test('is cut off early if it is larger than anything sensible', () =>
    serving(async ({ url, port }) => {
      const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
      const answer = await raw(url, `${head}content-length: 1000000000\r\n\r\n{"messages":`);
      assert.match(answer, /^HTTP\/1\.1 413 /);
      assert.match(answer, /"code":"request_too_large"/);
      assert.deepEqual(port.requests, []);
    }));

  test('is told by how the turn ended', () =>
    serving(async ({ port, post }) => {
      const endings = [
        ['failed', 502, 'server_error', 'turn_failed'],
        ['parked', 500, 'server_error', 'turn_parked'],
        ['stopped', 409, 'invalid_request_error', 'turn_stopped'],
      ] as const;
      for (const [outcome, ...rest] of endings) {
        port.onAsk = ({ session, inboxId }) => port.home.close(session, port.home.openTurn(session, inboxId), outcome);
        const response = await post('/responses', { input: 'hi' });
        assert.equal(response.headers.get('x-should-retry'), 'false');
        assert.match(response.headers.get('x-talaria-session') ?? '', /^chat-/);
        assert.deepEqual(await errorOf(response), rest);
      }
    }));
});

describe('the end of an answer', () => {
  test('says whether it was cut off or declined', () =>
    serving(async ({ port, post }) => {
      port.onAsk = ({ session, inboxId }) => {
        const turnId = port.home.openTurn(session, inboxId);
        port.say(session, turnId, 'Half an ans');
        port.home.append(session, turnId, { kind: 'notice', text: 'It was cut off.', cause: 'cut-off' });
        port.home.close(session, turnId, 'answered');
      };
      const cut = (await (await post('/chat/completions', asking)).json()) as { choices: [{ finish_reason: string }] };
      assert.equal(cut.choices[0].finish_reason, 'length');
      const incomplete = (await (await post('/responses', { input: 'hi' })).json()) as object;
      const { status, incomplete_details: why } = incomplete as { status: string; incomplete_details: object };
      assert.deepEqual([status, why], ['incomplete', { reason: 'max_output_tokens' }]);

      port.onAsk = ({ session, inboxId }) => {
        const turnId = port.home.openTurn(session, inboxId);
        port.home.append(session, turnId, { kind: 'notice', text: 'It declined to answer this.', cause: 'declined' });
        port.home.close(session, turnId, 'failed');
      };
      const declined = (await (await post('/chat/completions', asking)).json()) as { choices: [object] };
      assert.deepEqual(declined.choices[0], {
        index: 0,
        message: { role: 'assistant', content: '', refusal: 'It declined to answer this.', annotations: [] },
        logprobs: null,
        finish_reason: 'content_filter',
      });
      const events = dataOf(await (await post('/responses', { input: 'hi', stream: true })).text());
      assert.deepEqual(
        events.slice(3).map((event) => (event as { type: string }).type),
        [
          'response.output_item.added',
          'response.content_part.added',
          'response.refusal.delta',
          'response.refusal.done',
          'response.content_part.done',
          'response.output_item.done',
          'response.incomplete',
        ],
      );
    }));

  test('a command is answered at once', () =>
    serving(async ({ port, post }) => {
      port.instead = { kind: 'handled', sessionName: 'work', text: 'All is quiet.' };
      const response = await post('/chat/completions', asking, { 'X-Talaria-Session': 'work' });
      assert.equal(await contentOf(response), 'All is quiet.');
      const stream = await (await post('/chat/completions', { ...asking, stream: true })).text();
      assert.match(stream, /All is quiet\./);
      assert.equal(dataOf(stream).at(-1), '[DONE]');
    }));

  test('a stream of events that breaks is taken up again, and nothing is doubled or lost', () =>
    serving(async ({ port, post }) => {
      port.onAsk = ({ session, inboxId }) => {
        const turnId = port.home.openTurn(session, inboxId);
        const go = async () => {
          await until(() => session.streams.size === 1);
          port.write(session, turnId, 'One, ');
          const [stream] = session.streams;
          session.live = { turnId, text: 'One, two, ', reasoning: '', calls: [], status: '' };
          stream?.close();
          await until(() => session.streams.size === 1 && !session.streams.has(stream ?? assert.fail()));
          port.write(session, turnId, 'three.');
          port.say(session, turnId, 'One, two, three.');
          port.home.close(session, turnId, 'answered');
        };
        void go();
      };
      const events = dataOf(await (await post('/chat/completions', { ...asking, stream: true })).text());
      const texts = events.map((event) => (event as Chunk).choices?.[0]?.delta.content ?? '');
      assert.equal(texts.join(''), 'One, two, three.');
    }));
});

interface Chunk {
  readonly choices?: readonly {
    readonly delta: { readonly content?: string };
    readonly finish_reason: string | null;
  }[];
}

describe('a client that leaves before its turn has begun', () => {
  test('has it stopped once it begins', () =>
    serving(async ({ url, port }) => {
      let open = () => {};
      port.onAsk = ({ session, inboxId }) => {
        open = () => void port.home.openTurn(session, inboxId);
      };
      const leaving = new AbortController();
      const left = fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asking),
        signal: leaving.signal,
      });
      await until(() => port.home.sessions[0]?.streams.size === 1);
      const [before] = port.home.sessions[0]?.streams ?? [];
      leaving.abort();
      await assert.rejects(left);
      // The stream that waits for the turn takes the place of the one that followed it.
      await until(() => {
        const streams = port.home.sessions[0]?.streams;
        return streams?.size === 1 && before !== undefined && !streams.has(before);
      });
      assert.deepEqual(port.stopped, []);
      open();
      await until(() => port.stopped.length > 0);
      assert.deepEqual(port.stopped, [port.home.sessions[0]?.id]);
    }));
});

describe('a client that leaves in the middle of its turn', () => {
  const left = (headers: Record<string, string>, closed: boolean) =>
    serving(async ({ url, port }) => {
      let end = () => {};
      port.onAsk = ({ session, inboxId }) => {
        const turnId = port.home.openTurn(session, inboxId);
        end = () => port.home.close(session, turnId, 'stopped');
      };
      const leaving = new AbortController();
      const answer = fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(asking),
        signal: leaving.signal,
      });
      await until(() => port.home.sessions[0]?.streams.size === 1);
      const [session] = port.home.sessions;
      const [before] = session?.streams ?? [];
      leaving.abort();
      await assert.rejects(answer);
      await until(() => before !== undefined && session?.streams.has(before) === false);
      if (closed) await until(() => session?.streams.size === 1);
      assert.deepEqual(port.closed, []);
      end();
      if (closed) await until(() => port.closed.length > 0);
      assert.deepEqual(port.closed, closed ? [session?.id] : []);
    });

  test('has its session closed when the turn has ended', () => left({}, true));
  test('has it closed although the answer may be asked for again', () => left({ 'Idempotency-Key': 'k-1' }, true));
  test('leaves a stored session as it is', () => left({ 'X-Talaria-Session': 'work' }, false));
});

describe('other clients', () => {
  test('curl, as the documentation has it', () =>
    serving(async ({ url, port }) => {
      port.answerAll((text) => `You said ${text}.`);
      const body = JSON.stringify({ messages });
      const head = [
        'POST /v1/chat/completions HTTP/1.1',
        'Host: localhost',
        'User-Agent: curl/8',
        'Accept: */*',
        'Authorization: Bearer KEY',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Connection: close',
      ];
      const answer = await raw(url, `${head.join('\r\n')}\r\n\r\n${body}`);
      assert.match(answer, /^HTTP\/1\.1 200 /);
      assert.match(answer, /"content":"You said hello\."/);
    }));

  test('Open WebUI: the list of models, then a stream', () =>
    serving(async ({ url, port, post }) => {
      const bearer = { Authorization: 'Bearer KEY' };
      const list = (await (await fetch(`${url}/models`, { headers: bearer })).json()) as {
        object: string;
        data: { id: string; object: string; created: number; owned_by: string }[];
      };
      const created = list.data[0]?.created;
      assert.deepEqual(list, {
        object: 'list',
        data: [
          { id: 'talaria', object: 'model', created, owned_by: 'talaria' },
          { id: 'offline/rehearsal', object: 'model', created, owned_by: 'offline' },
        ],
      });
      assert.equal((await fetch(`${url}/models/offline/rehearsal`, { headers: bearer })).status, 200);

      port.answerAll((text) => `You said ${text}.`);
      const body = { ...asking, stream: true, stream_options: { include_usage: true } };
      const response = await post('/chat/completions', body, bearer);
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      const lines = (await response.text()).split('\n').filter((line) => line !== '');
      assert.ok(lines.every((line) => line.startsWith('data: ') || line.startsWith(':')));
      const data = dataOf(lines.join('\n'));
      assert.equal(data.at(-1), '[DONE]');
      const chunks = data.slice(0, -1) as Chunk[];
      assert.deepEqual(
        chunks.map((chunk) => chunk.choices?.map(({ delta, finish_reason: reason }) => [delta, reason])),
        [
          [[{ role: 'assistant', content: '', refusal: null }, null]],
          [[{ content: 'You said hello.' }, null]],
          [[{}, 'stop']],
          [],
        ],
      );
    }));
});

/** Sends bytes as they are and returns what comes back until the connection ends. */
function raw(url: TestServer['url'], bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
      // A refusal need not be waited out: the server holds the line open a while for the rest of the body.
      if (/\r\n\r\n.*\}\n?$/s.test(received)) socket.destroy();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
    socket.write(bytes);
  });
}

describe('the pace', () => {
  test('one key that asks too fast is told to wait, and others are not', () =>
    serving(async ({ port, post }) => {
      port.answerAll((text) => text);
      const say = (key: string) => post('/responses', { input: 'hi' }, { authorization: `Bearer ${key}` });
      const statuses: number[] = [];
      let last: Response | null = null;
      // The bucket fills up again while it is emptied.
      while (statuses.at(-1) !== 429 && statuses.length < askingPace.burstMax * 20) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => say('hasty')));
        statuses.push(...answers.map(({ status }) => status).toSorted((a, b) => a - b));
        last = answers.find(({ status }) => status === 429) ?? null;
      }
      assert.ok(last !== null && statuses.filter((status) => status === 200).length >= askingPace.burstMax);
      assert.match(last.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      const { type, code } = ((await last.json()) as { error: { type: string; code: string } }).error;
      assert.deepEqual([type, code], ['rate_limit_error', 'rate_limit_exceeded']);
      assert.equal((await say('patient')).status, 200);
    }));
});
