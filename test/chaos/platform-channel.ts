/**
 * The channel to the scripted platform, as a real one would be: polls for what people wrote, acknowledges it once it is
 * stored, and says of every post honestly what is known about it.
 */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel, ChannelPort, Delivery, DeliveryOutcome } from '../../src/channels/channel.ts';
import { postCharsMax, type Acknowledgement, type ChatKind, type Written } from './platform-book.ts';

const requestTimeoutMs = 5_000;
const pollTimeoutMs = 60_000;
const againMs = 20;

export function createPlatformChannel(kind: ChatKind, url: string): Channel {
  const stopping = new AbortController();
  let polling: Promise<void> | null = null;
  return {
    name: kind,
    limits: { textCharsMax: postCharsMax, dedupes: kind === 'exact' },
    start(port) {
      polling ??= poll(kind, url, port, stopping.signal);
      return Promise.resolve();
    },
    async stop() {
      stopping.abort(new Error('the channel stops'));
      await polling;
    },
    deliver: ({ target, text: words, dedupeId }, signal) =>
      deliver(`${url}/posts/${kind}`, { chat: target, text: words, dedupeId }, signal),
  };
}

async function poll(kind: ChatKind, url: string, port: ChannelPort, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(pollTimeoutMs)]);
      const answer = await exchange(`${url}/updates/${kind}`, null, limit);
      for (const message of JSON.parse(answer.text) as Written[]) {
        if (signal.aborted || !(await take(kind, url, port, message))) break;
      }
    } catch {
      // It comes again with the next poll.
      await sleep(againMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** False if the gateway does not take it now. */
async function take(kind: ChatKind, url: string, port: ChannelPort, message: Written): Promise<boolean> {
  const { externalId, chat, text: words } = message;
  const receipt = await port.receive({
    channel: kind,
    externalId,
    sender: { id: `user of ${chat}`, name: 'somebody' },
    place: { kind: 'direct', chat },
    message: { role: 'user', parts: [{ kind: 'text', text: words }] },
  });
  if (receipt.kind !== 'accepted') {
    // Nobody here writes commands, or what may not be written: then the case does not settle, and this says why.
    if (receipt.kind === 'handled' || receipt.reason !== 'draining')
      process.stderr.write(`not accepted: ${JSON.stringify(receipt)}\n`);
    await sleep(againMs);
    return false;
  }
  const { inboxId, sessionId } = receipt;
  const acknowledgement: Acknowledgement = { externalId, inboxId, sessionId };
  await exchange(`${url}/acknowledgements/${kind}`, acknowledgement, AbortSignal.timeout(requestTimeoutMs));
  return true;
}

async function deliver(
  url: string,
  post: { readonly chat: string } & Pick<Delivery, 'text' | 'dedupeId'>,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  if (signal.aborted) return { kind: 'retry', afterMs: 0, error: 'leaving', notSent: true };
  try {
    // Not cut short by the signal: it ends soon, and then its outcome is known.
    const answer = await exchange(url, post, AbortSignal.timeout(requestTimeoutMs));
    const error = `the platform answered ${answer.status}`;
    if (answer.status === 200)
      return { kind: 'sent', platformId: (JSON.parse(answer.text) as { readonly id: string }).id };
    if (answer.status === 429) return { kind: 'retry', afterMs: answer.retryAfterMs, error, notSent: true };
    return answer.status >= 500 ? { kind: 'retry', afterMs: 0, error } : { kind: 'failed', error };
  } catch (error) {
    const isUnreached = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
    return { kind: 'retry', afterMs: 0, error: String(error), ...(isUnreached ? { notSent: true } : {}) };
  }
}

interface Exchanged {
  readonly status: number;
  readonly retryAfterMs: number;
  readonly text: string;
}

function exchange(url: string, body: object | null, signal: AbortSignal): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: body === null ? 'GET' : 'POST', agent: false, signal }, (incoming) => {
      const retryAfterMs = Number(incoming.headers['retry-after'] ?? 0) * 1_000;
      text(incoming).then((read) => resolve({ status: incoming.statusCode ?? 0, retryAfterMs, text: read }), reject);
    });
    outgoing.on('error', reject).end(body === null ? undefined : JSON.stringify(body));
  });
}
