/** Plain HTTP to a gateway, as any program would speak it. */
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createParser } from 'eventsource-parser';
import type { SendReceipt } from '../../src/protocol/api.ts';
import type { SessionEvent } from '../../src/protocol/events.ts';
import { textOf } from '../../src/protocol/messages.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

function open(url: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, resolve);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export async function ask(url: string, options?: Ask): Promise<Answer> {
  const incoming = await open(url, options);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text: await text(incoming) };
}

export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return ask(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
}

export async function say(
  url: string,
  session: string | null,
  words: string,
  externalId: string,
): Promise<SendReceipt> {
  const answer = await post(`${url}/api/messages`, { session, text: words, externalId });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return JSON.parse(answer.text) as SendReceipt;
}

/** The events of a session until `until` says so or the connection ends. */
export async function follow(
  url: string,
  session: string,
  until: (event: SessionEvent) => boolean,
): Promise<SessionEvent[]> {
  const incoming = await open(`${url}/api/sessions/${session}/events?after=0`);
  const events: SessionEvent[] = [];
  let isDone = false;
  const parser = createParser({
    onEvent({ data }) {
      if (isDone) return;
      const event = JSON.parse(data) as SessionEvent;
      events.push(event);
      isDone = until(event);
    },
  });
  try {
    for await (const chunk of incoming) {
      parser.feed(String(chunk));
      if (isDone) break;
    }
  } catch (error) {
    // A gateway that is killed cuts the stream: what came before counts.
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNRESET')) throw error;
  }
  incoming.destroy();
  return events;
}

export const isClosed = (event: SessionEvent): boolean => event.kind === 'entry' && event.entry.kind === 'turn-closed';

/** A session's log as a reader would tell it. */
export function told(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.kind !== 'entry') return [];
    const { entry } = event;
    if (entry.kind === 'turn-closed') return [`closed: ${entry.outcome}`];
    if (entry.kind === 'notice') return [`notice: ${entry.text}`];
    if (entry.kind !== 'message') return [];
    if (entry.message.role === 'tool') return [`result: ${entry.message.parts[0].outcome}`];
    return [`${entry.message.role}: ${textOf(entry.message)}`.trim()];
  });
}
