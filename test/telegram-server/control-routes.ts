/**
 * How another process orders the platform about, at /control/:
 *   POST write {from, chat?, text?, …, times?} · POST edit {chat, message, text} · POST delete {chat, message}
 *   POST press {from, chat, message, button} · POST fault {kind, method?, times?, …} · POST block {chat, blocked}
 *   POST move {chat, to} · POST restore {update} · POST reset
 *   GET calls?since=N · GET chat?id=N · GET chats · GET updates · GET query?id=ID · GET events: one JSON line per call
 */
import type { ServerResponse } from 'node:http';
import type { Update } from 'grammy/types';
import type { FaultOrder } from './faults.ts';
import type { WriteOrder } from './people.ts';
import type { TelegramServer } from './server-contract.ts';
import type { Person } from './world.ts';

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string;
}

interface Order {
  readonly chat: number;
  readonly message: number;
  readonly text: string;
  readonly from: Person;
  readonly button: string;
  readonly blocked: boolean;
  readonly to: number;
  readonly update: Update;
}

export async function controlAnswer(
  server: TelegramServer,
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

function answerOf(server: TelegramServer, { method, path, query, body }: ControlRequest): unknown {
  const asked = new URLSearchParams(query);
  const input: unknown = body === '' ? {} : JSON.parse(body);
  const order = input as Order;
  switch (`${method} ${path}`) {
    case 'POST /control/write':
      return { written: writeAll(server, input as WriteOrder & { readonly times?: number }) };
    case 'POST /control/edit':
      return server.people.edit(order.chat, order.message, order.text);
    case 'POST /control/delete':
      server.people.remove(order.chat, order.message);
      return {};
    case 'POST /control/press':
      return { query: server.people.press(order.from, order.chat, order.message, order.button) };
    case 'POST /control/fault':
      server.inject(input as FaultOrder);
      return {};
    case 'POST /control/block':
      chatOf(server, order.chat).blocked = order.blocked;
      return {};
    case 'POST /control/move':
      chatOf(server, order.chat).movedTo = order.to;
      return {};
    case 'POST /control/restore':
      server.updates.restore(order.update);
      return {};
    case 'POST /control/reset':
      server.reset();
      return {};
    case 'GET /control/calls':
      return { calls: server.calls().filter(({ number }) => number > Number(asked.get('since') ?? 0)) };
    case 'GET /control/chat':
      return { said: server.world.said(Number(asked.get('id'))) };
    case 'GET /control/chats':
      return { chats: server.world.chats() };
    case 'GET /control/updates':
      return { pending: server.updates.pending, confirmedBelow: server.updates.forgottenBelow };
    case 'GET /control/query':
      return { answer: server.world.answerTo(asked.get('id') ?? '') };
    default:
      return undefined;
  }
}

/** `{n}` in a text stands for its number. */
function writeAll(server: TelegramServer, { times = 1, ...order }: WriteOrder & { readonly times?: number }): object[] {
  return Array.from({ length: times }, (_, index) => {
    const text = order.text?.replaceAll('{n}', String(index + 1));
    return server.people.write(text === undefined ? order : { ...order, text });
  });
}

function chatOf(server: TelegramServer, id: number) {
  const chat = server.world.findChat(id);
  if (chat === null) throw new Error(`there is no chat ${id}`);
  return chat;
}

function send(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(body));
}

async function streamEvents(server: TelegramServer, outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'application/jsonl' });
  outgoing.flushHeaders();
  const forget = server.onCall((call) => outgoing.write(`${JSON.stringify(call)}\n`));
  await new Promise<void>((resolve) => {
    if (gone.aborted) resolve();
    else gone.addEventListener('abort', () => resolve(), { once: true });
  });
  forget();
}
