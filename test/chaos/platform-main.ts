/**
 * The scripted platform as a process of its own: over HTTP it hands what people wrote to the gateway until it is
 * acknowledged, and takes what the gateway posts; through the pipe to the run people write, faults are ordered, and
 * requests are held so that the gateway can be killed in the middle of them.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveRun, tellRun } from './neighbour.ts';
import { PlatformBook, type Acknowledgement, type ChatKind, type Post } from './platform-book.ts';
import type { HoldPoint, PlatformEvent, PlatformReport, PlatformRequest } from './scripted-platform.ts';

const pollMs = 20_000;
const slowMs = 250;

const book = new PlatformBook();
const pollers = new Set<() => void>();
let hold: { readonly point: HoldPoint; left: number } | null = null;

/** Whether this request is to be left without an answer, because the gateway is about to die in it. */
function isHeld(point: HoldPoint): boolean {
  if (hold?.point !== point || --hold.left > 0) return false;
  hold = null;
  tellRun({ kind: 'held', point } satisfies PlatformEvent);
  return true;
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => book.problems.push(`the platform failed: ${String(error)}`));
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, route, kind] = (request.url ?? '').split('/');
  if (kind !== 'exact' && kind !== 'forgetful') return answer(response, 404, {});
  if (route === 'updates') return giveUpdates(kind, response);
  let body: string;
  try {
    body = await text(request);
  } catch {
    // The gateway died while it wrote: nothing has arrived.
    return;
  }
  if (route === 'acknowledgements') return takeAcknowledgement(kind, JSON.parse(body) as Acknowledgement, response);
  if (route === 'posts') return takePost(kind, JSON.parse(body) as Post, response);
  answer(response, 404, {});
}

async function giveUpdates(kind: ChatKind, response: ServerResponse): Promise<void> {
  if (book.waiting(kind).length === 0) {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        pollers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, pollMs);
      pollers.add(wake);
      response.once('close', wake);
    });
  }
  answer(response, 200, book.waiting(kind));
}

function takeAcknowledgement(kind: ChatKind, acknowledgement: Acknowledgement, response: ServerResponse): void {
  if (isHeld('acknowledging')) return;
  book.acknowledge(kind, acknowledgement);
  tellRun({ kind: 'acknowledged', ...acknowledgement } satisfies PlatformEvent);
  answer(response, 200, {});
}

async function takePost(kind: ChatKind, post: Post, response: ServerResponse): Promise<void> {
  if (isHeld('posting')) return;
  const fault = book.faultOf(post);
  if (fault === 'busy') return answer(response, 429, {}, { 'retry-after': '1' });
  if (fault === 'broken') return answer(response, 500, {});
  book.keep(kind, post);
  if (isHeld('posted')) return;
  if (fault === 'broken-after') return answer(response, 500, {});
  if (fault === 'dropped') return void response.destroy();
  if (fault === 'slow') await sleep(slowMs);
  answer(response, 200, { id: `post-${book.posts.length}` });
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

server.listen(0, '127.0.0.1');

serveRun(async (message) => {
  const request = message as PlatformRequest;
  switch (request.kind) {
    case 'address':
      if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    case 'write':
      book.write(request.chatKind, request.message);
      for (const wake of pollers) wake();
      return null;
    case 'fault':
      return book.fault(request.chat, request.fault);
    case 'hold':
      hold = request.hold === null ? null : { point: request.hold.point, left: request.hold.nth };
      return null;
    case 'troubled':
      return book.troubled;
    case 'report': {
      const { posts, problems } = book;
      return { posts, problems } satisfies PlatformReport;
    }
  }
});
