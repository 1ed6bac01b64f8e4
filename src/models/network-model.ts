/**
 * A model behind a wire: a protocol that knows the words, a client that carries the bytes, a table that knows what
 * failures mean. Keeps the contract of a model whatever the server does: one end and nothing after it, never an exception,
 * and after an abort at once `cancelled`. Does not retry.
 */
import type { Clock } from '../lib/clock.ts';
import { createAnswerReader, malformed } from './answer-reader.ts';
import { explainFailure, withoutSecrets } from './errors/explain-failure.ts';
import { ModelError, type ApiKey, type Model, type ModelEvent, type PreparedRequest, type Runtime } from './model.ts';
import type { Protocol } from './protocols/protocol.ts';
import type { HttpClient } from './transport/http-client.ts';
import type { WireResponse } from './transport/send-request.ts';
import { cancelled } from './transport/transport-error.ts';

export interface NetworkModelDeps {
  readonly runtime: Runtime;
  readonly protocol: Protocol;
  readonly client: HttpClient;
  readonly clock: Clock;
}

/** Of a failed answer no more is read. */
const failureBytesMax = 256 * 1024;

const commonHeaders: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'text/event-stream',
  'accept-encoding': 'identity',
  'user-agent': 'talaria',
};

export function createNetworkModel({ runtime, protocol, client, clock }: NetworkModelDeps): Model {
  const url = endpointOf(runtime, protocol);

  /** The bytes of a good answer and what reads them; throws for any other. */
  const open = async (prepared: PreparedRequest, key: ApiKey, signal: AbortSignal) => {
    const headers = { ...commonHeaders, ...protocol.headers(runtime, key) };
    const response = await client.post(url, headers, prepared.body, signal);
    const explain = (body: string) =>
      explainFailure(
        // With a status of success only the body tells what went wrong.
        { status: response.status === 200 ? null : response.status, headers: response.headers, body },
        { provider: runtime.provider, secret: key.secret, now: clock.now() },
      );
    const chunks = await plainChunks(response);
    if (response.status !== 200) throw explain(await textOf(chunks));
    return { chunks, reader: createAnswerReader({ runtime, protocol, explain }) };
  };

  return {
    prepare: (request) => ({ request, ...protocol.encode(runtime, request) }),
    async *stream(prepared, key, signal) {
      try {
        const { chunks, reader } = await open(prepared, key, signal);
        for await (const events of piecesOf(chunks, reader)) {
          for (const event of events) {
            signal.throwIfAborted();
            if (event.kind === 'failed') throw event.error;
            yield event;
            if (event.kind === 'end') return;
          }
        }
        throw malformed(runtime, 'ended its answer in the middle');
      } catch (error) {
        yield { kind: 'failed', error: signal.aborted ? cancelled() : asModelError(error, runtime, key) };
      }
    },
    close: () => client.close(),
  };
}

/** What each piece of the answer means, and then what its end means. */
async function* piecesOf(
  chunks: AsyncIterable<Uint8Array>,
  reader: ReturnType<typeof createAnswerReader>,
): AsyncGenerator<readonly ModelEvent[]> {
  try {
    for await (const chunk of chunks) yield reader.push(chunk);
  } catch (error) {
    yield reader.interrupt(error);
    return;
  }
  yield reader.finish();
}

/** Below the path of the base URL; a query that it has stays. Throws a `ModelError` if it is no URL. */
function endpointOf(runtime: Runtime, protocol: Protocol): URL {
  const url = URL.parse(runtime.baseUrl);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const told = `model.base_url of ${runtime.provider} is no address of a server: ${JSON.stringify(runtime.baseUrl)}.`;
    throw new ModelError('bad-request', `${told} It looks like https://HOST/v1`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '') + protocol.path;
  return url;
}

async function plainChunks({ headers, chunks }: WireResponse): Promise<AsyncIterable<Uint8Array>> {
  const encoding = headers['content-encoding'] ?? '';
  if (encoding === '') return chunks;
  const { decompressed } = await import('./transport/decompress.ts');
  return decompressed(chunks, encoding);
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      read.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > failureBytesMax) break;
    }
  } catch (error) {
    // The status alone tells enough, but for somebody who wants to stop.
    if (error instanceof ModelError && error.reason === 'cancelled') throw error;
  }
  return Buffer.concat(read).toString();
}

function asModelError(error: unknown, runtime: Runtime, key: ApiKey): ModelError {
  if (!(error instanceof ModelError)) {
    const told = error instanceof Error ? error.message : String(error);
    const message = withoutSecrets(`The call of ${runtime.provider} failed, which is a bug: ${told}`, key.secret);
    return new ModelError('unknown', message, { retryable: false, cause: error });
  }
  const message = withoutSecrets(error.message, key.secret);
  if (message === error.message) return error;
  const { reason, retryable, retryAfterMs, transport } = error;
  return new ModelError(reason, message, { retryable, retryAfterMs, ...(transport === null ? {} : { transport }) });
}
