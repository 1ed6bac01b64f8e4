import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { createOllamaProbe, findProvider, nothingFound, type ProbeOllama } from './find-provider.ts';
import { providerRows } from './providers.ts';

const nobody: ProbeOllama = async () => null;
const never = new AbortController().signal;

describe('the provider that is found', () => {
  const order = [
    'anthropic',
    'openai',
    'openrouter',
    'google',
    'deepseek',
    'xai',
    'mistral',
    'groq',
    'moonshot',
    'zai',
  ];

  test('is the first whose key is in the environment, in this order', async () => {
    const left = new Map([...order, 'nous'].map((name) => [name, providerRows[name as 'nous'].keyVariables[0]]));
    const found: string[] = [];
    while (left.size > 0) {
      const environment = Object.fromEntries([...left.values()].map((variable) => [variable, 'k']));
      const { provider, ...rest } = await findProvider(environment, () => assert.fail('a key is enough'));
      assert.deepEqual(rest, { name: null, baseUrl: null, contextLength: null });
      found.push(provider);
      left.delete(provider);
    }
    assert.deepEqual(found, [...order, 'nous']);
  });

  test('is the offline model without a key and without Ollama', async () => {
    assert.deepEqual(await findProvider({ OPENAI_API_KEY: ' ' }, nobody), nothingFound);
    assert.equal(nothingFound.provider, 'offline');
  });

  test('is an Ollama that answers where its variable says', async () => {
    const asked: string[] = [];
    const probe: ProbeOllama = async (address) => {
      asked.push(address);
      return { name: 'qwen3:8b', contextLength: 8_192 };
    };
    const found = { provider: 'ollama', name: 'qwen3:8b', baseUrl: 'http://gpu:9000/v1', contextLength: 8_192 };
    const environment = { OLLAMA_HOST: 'gpu:9000' };
    assert.deepEqual(await findProvider(environment, probe), found);
    assert.deepEqual(await findProvider({ ...environment, OLLAMA_CONTEXT_LENGTH: '65536' }, probe), {
      ...found,
      contextLength: 65_536,
    });
    assert.deepEqual(asked, ['http://gpu:9000', 'http://gpu:9000']);
  });
});

describe('a look at Ollama', () => {
  let server: Server | null = null;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = null;
  });

  type Answer = (path: string, body: string) => unknown;

  /** An Ollama that says this; `null` is no answer at all. */
  const listen = async (answer: Answer): Promise<string> => {
    const listening = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const said = answer(request.url ?? '', Buffer.concat(chunks).toString());
        if (said !== null) response.end(typeof said === 'string' ? said : JSON.stringify(said));
      });
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  };
  // Time stands still: a busy machine must not make an answer late.
  const probe = createOllamaProbe({ clock: new FakeClock() });

  const shown: Readonly<Record<string, unknown>> = {
    'llava:7b': { capabilities: ['completion', 'vision'], model_info: { 'llama.context_length': 4_096 } },
    'qwen3:8b': { capabilities: ['completion', 'tools'], model_info: { 'qwen3.context_length': 262_144 } },
    'llama3:8b': { capabilities: ['completion', 'tools'], parameters: 'stop "x"\nnum_ctx   65536\ntop_p 1' },
  };
  const ollama = (...names: string[]): Answer => {
    return (path, body) => {
      if (path === '/api/tags') return { models: names.map((name) => ({ name, size: 1 })) };
      return path === '/api/show' ? (shown[(JSON.parse(body) as { model: string }).model] ?? '') : '';
    };
  };

  test('prefers a model that calls tools, and is careful about what the server reads at once', async () => {
    const address = await listen(ollama('nomic-embed-text', 'llava:7b', 'qwen3:8b', 'llama3:8b'));
    assert.deepEqual(await probe(address, never), { name: 'qwen3:8b', contextLength: 32_768 });
  });

  test('believes what was set for the model', async () => {
    const address = await listen(ollama('llama3:8b'));
    assert.deepEqual(await probe(address, never), { name: 'llama3:8b', contextLength: 65_536 });
  });

  test('takes the first model if none says that it calls tools', async () => {
    assert.deepEqual(await probe(await listen(ollama('llava:7b', 'other')), never), {
      name: 'llava:7b',
      contextLength: 4_096,
    });
  });

  test('takes a model of which nothing can be learnt', async () => {
    assert.deepEqual(await probe(await listen(ollama('other')), never), { name: 'other', contextLength: null });
  });

  for (const [what, answer] of [
    ['has no model', ollama()],
    ['has only models that embed', ollama('mxbai-embed-large')],
    ['is something else', () => '<html>'],
    ['answers with a list', () => [1]],
    ['answers with odd models', () => ({ models: [1, null, {}, { name: 3 }, { name: '' }] })],
  ] as const satisfies readonly (readonly [string, Answer])[]) {
    test(`finds nothing where the server ${what}`, async () => {
      assert.equal(await probe(await listen(answer), never), null);
    });
  }

  test('finds nothing where nobody listens', async () => {
    const address = await listen(() => '');
    server?.close();
    assert.equal(await probe(address, never), null);
    assert.equal(await probe('no address', never), null);
  });

  test('gives up after 300 ms on a server that says nothing', async () => {
    const clock = new FakeClock();
    const isAsked = Promise.withResolvers<void>();
    const address = await listen(() => {
      isAsked.resolve();
      return null;
    });
    const found = createOllamaProbe({ clock })(address, never);
    await isAsked.promise;
    await clock.advance(300);
    assert.equal(await found, null);
  });

  test('ends at once when it is not wanted any more', async () => {
    const stop = new AbortController();
    const address = await listen(() => {
      stop.abort();
      return null;
    });
    assert.equal(await createOllamaProbe({ clock: new FakeClock() })(address, stop.signal), null);
  });
});
