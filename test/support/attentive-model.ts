/**
 * A model that uses what it is sent, before the scripted one: it sees every request first and may say what the answer is to
 * be, or keep it waiting. Whatever it leaves alone the scripted server answers, and turns down what a provider would.
 */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { startModelServer } from '../model-server/model-server.ts';
import type { Reply } from '../model-server/dialogue.ts';
import type { ModelServer } from '../model-server/server-contract.ts';
import { atEnd } from './talaria-process.ts';

export interface SentMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly tool_calls?: readonly unknown[];
}

export interface Sent {
  readonly model: string;
  readonly messages: readonly SentMessage[];
}

export interface AttentiveModel {
  readonly baseUrl: string;
  readonly server: ModelServer;
  /** What was sent to this model, oldest first. */
  sentTo(model: string): readonly Sent[];
  /** The next request to this model is never answered; resolves when it has come. */
  leaveWaiting(model: string): Promise<void>;
}

/** `think`: what is said to this; null: what the script says. */
export async function startAttentiveModel(
  t: TestContext,
  windowTokens: number,
  think: (sent: Sent) => Reply | null,
): Promise<AttentiveModel> {
  const server = await startModelServer({ windowTokens });
  const seen: Sent[] = [];
  const waiting = new Map<string, () => void>();
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const raw = await text(incoming);
    const sent = JSON.parse(raw) as Sent;
    seen.push(sent);
    const hold = waiting.get(sent.model);
    waiting.delete(sent.model);
    if (hold !== undefined) return hold();
    const reply = think(sent);
    if (reply !== null) server.order({ reply, model: sent.model });
    const { method, url, headers } = incoming;
    const onward = request(`${server.url}${url}`, { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    onward.end(raw);
  };
  const front = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  atEnd(t, async () => {
    front.close();
    front.closeAllConnections();
    await server.close();
  });
  const { port } = front.address() as AddressInfo;
  return {
    baseUrl: server.baseUrl('chat_completions').replace(server.url, `http://127.0.0.1:${port}`),
    server,
    sentTo: (model) => seen.filter((sent) => sent.model === model),
    leaveWaiting: (model) => new Promise((resolve) => void waiting.set(model, resolve)),
  };
}
