import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { protocols } from './dialect.ts';
import { faults } from './faults/faults.ts';
import { startModelServer } from './model-server.ts';
import type { ModelServer } from './server-contract.ts';
import { ask, firstRequest, spokenIn } from './test-client.ts';

/** Faults that a good client does not even notice. */
const unseen = new Set(['byte-order-mark', 'small-writes', 'gzip', 'slow-first-byte']);

let server: ModelServer;
before(async () => (server = await startModelServer()));
after(() => server.close());

for (const protocol of protocols) {
  for (const fault of faults) {
    // These have no end of their own.
    if (fault.name === 'stall' || fault.effect.kind === 'refused') continue;
    if (fault.protocols !== undefined && !fault.protocols.includes(protocol)) continue;
    for (const phase of fault.phases) {
      test(`${protocol}: ${fault.name}, ${phase}: strikes one request, and the next is answered`, async () => {
        server.reset();
        server.inject({ name: fault.name, phase });
        const isOfRequests = phase === 'after-tool-call' && fault.effect.kind !== 'line';
        const words = phase === 'after-tool-call' ? 'run date' : 'say eight words that take more than one piece';
        const body = isOfRequests ? withResult(protocol) : firstRequest(protocol, words);
        const struck = await ask(server, protocol, body).catch(() => null);
        const good = await ask(server, protocol, body);
        assert.deepEqual(
          server.requests().map((record) => record.fault),
          [fault.name, null],
        );
        assert.equal(good.status, 200);
        if (unseen.has(fault.name)) assert.equal(spokenIn(struck?.events ?? []), spokenIn(good.events));
        else if (struck?.status === 200) assert.notEqual(struck.text, good.text);
      });
    }
  }
}

function withResult(protocol: (typeof protocols)[number]): Record<string, unknown> {
  const call = { id: 'a', type: 'function', function: { name: 'terminal', arguments: '{}' } };
  const first = { role: 'user', content: 'run date' };
  switch (protocol) {
    case 'chat_completions':
      return firstRequest(protocol, '', {
        messages: [
          first,
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'a', content: 'ok' },
        ],
      });
    case 'responses':
      return firstRequest(protocol, '', {
        input: [
          first,
          { type: 'function_call', call_id: 'a', name: 'terminal', arguments: '{}' },
          { type: 'function_call_output', call_id: 'a', output: 'ok' },
        ],
      });
    case 'anthropic_messages':
      return firstRequest(protocol, '', {
        messages: [
          first,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'terminal', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
        ],
      });
  }
}

test('a stall says nothing more until the client leaves', async () => {
  server.reset();
  server.inject({ name: 'stall', phase: 'mid-stream' });
  const leave = new AbortController();
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(firstRequest('chat_completions', 'say eight words that take more than one piece')),
    signal: leave.signal,
  });
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  assert.match(new TextDecoder().decode(first?.value as Uint8Array), /"role":"assistant"/);
  leave.abort();
  await assert.rejects(async () => {
    for (;;) await reader?.read();
  });
  while (server.requests()[0]?.ended === null) await sleep(1);
  assert.equal(server.requests()[0]?.ended, 'broken-off');
});

test('a refused connection is refused for a while, and then the same address answers again', async () => {
  const other = await startModelServer();
  try {
    other.inject({ name: 'connection-refused', delayMs: 100 });
    const request = () => ask(other, 'chat_completions', firstRequest('chat_completions', 'say hello'));
    await assert.rejects(request());
    for (;;) {
      const came = await request().catch(() => null);
      if (came === null) continue;
      assert.equal(spokenIn(came.events), 'hello');
      break;
    }
  } finally {
    await other.close();
  }
});

test('a fault can be meant for one key or one model only', async () => {
  server.reset();
  server.inject({ name: 'status-429-retry-after', key: 'key-2', times: null, retryAfterS: 7 });
  server.inject({ name: 'status-404', model: 'other', times: 1 });
  const body = firstRequest('chat_completions', 'say hello');
  const codes = [
    await ask(server, 'chat_completions', body),
    await ask(server, 'chat_completions', body, { authorization: 'Bearer key-2' }),
    await ask(server, 'chat_completions', { ...body, model: 'other' }),
    await ask(server, 'chat_completions', { ...body, model: 'other' }),
    await ask(server, 'chat_completions', body, { authorization: 'Bearer key-2' }),
  ].map(({ status }) => status);
  assert.deepEqual(codes, [200, 429, 404, 200, 429]);
});
