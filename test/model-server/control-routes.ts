/**
 * How another process orders the server about, at /control/:
 *   POST reply {reply, times?, protocol?, model?} · POST fault {name, phase?, times?, …} · GET faults · POST clock {advanceMs}
 *   GET requests?since=N (without bodies; &bodies=1 with them) · GET cache · POST reset · GET events: one JSON line per event
 */
import type { ServerResponse } from 'node:http';
import type { FaultOrder } from './faults/fault-queue.ts';
import { faults } from './faults/faults.ts';
import { parsedOr } from './json.ts';
import type { ModelServer, ReplyOrder, ServerEvent } from './server-contract.ts';
import type { RequestRecord } from './request-log.ts';
import { summarise } from './cache-summary.ts';

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string;
}

export async function controlAnswer(
  server: ModelServer,
  request: ControlRequest,
  outgoing: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  if (`${request.method} ${request.path}` === 'GET /control/events') {
    await streamEvents(server, outgoing, gone);
    return;
  }
  try {
    const answer = answerOf(server, request);
    send(outgoing, answer === undefined ? 404 : 200, answer ?? { error: `no such control: ${request.path}` });
  } catch (error) {
    send(outgoing, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

function send(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(body));
}

function answerOf(server: ModelServer, { method, path, query, body }: ControlRequest): unknown {
  const input = parsedOr(body, {});
  switch (`${method} ${path}`) {
    case 'POST /control/reply':
      server.order(input as ReplyOrder);
      return {};
    case 'POST /control/fault':
      server.inject(input as FaultOrder);
      return {};
    case 'GET /control/faults':
      return { faults: faults.map(({ name, phases, means, protocols }) => ({ name, phases, means, protocols })) };
    case 'POST /control/clock':
      server.advance((input as { advanceMs: number }).advanceMs);
      return {};
    case 'POST /control/reset':
      server.reset();
      return {};
    case 'GET /control/cache':
      return summarise(server.requests());
    case 'GET /control/requests': {
      const wanted = new URLSearchParams(query);
      const records = server.requests().filter(({ number }) => number > Number(wanted.get('since') ?? 0));
      return { requests: wanted.get('bodies') === '1' ? records : records.map(brief) };
    }
    default:
      return undefined;
  }
}

function brief(record: RequestRecord): Omit<RequestRecord, 'raw' | 'body'> {
  const { raw: _raw, body: _body, ...rest } = record;
  return rest;
}

async function streamEvents(server: ModelServer, outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'application/jsonl' });
  outgoing.flushHeaders();
  const forget = server.onEvent(({ kind, record }: ServerEvent) => {
    outgoing.write(`${JSON.stringify({ kind, ...brief(record) })}\n`);
  });
  await new Promise<void>((resolve) => {
    if (gone.aborted) resolve();
    else gone.addEventListener('abort', () => resolve(), { once: true });
  });
  forget();
}
