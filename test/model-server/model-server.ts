/**
 * A model server for tests: speaks chat completions, responses and Anthropic's messages over real HTTP on loopback, keeps
 * prompt caches as the providers do, turns down what they turn down, and goes wrong to order. Everything it knows of a
 * conversation it reads from the request, so it can be killed and started anew at any moment; only its caches are then
 * cold.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerRequest, type AnswerDeps, type Received } from './answer-request.ts';
import { createCallMemory } from './call-memory.ts';
import { controlAnswer } from './control-routes.ts';
import type { Dialect, Protocol } from './dialect.ts';
import type { Reply } from './dialogue.ts';
import { anthropicMessages } from './dialects/anthropic-messages.ts';
import { chatCompletions } from './dialects/chat-completions.ts';
import { responses } from './dialects/responses.ts';
import { FaultQueue, type FaultOrder } from './faults/fault-queue.ts';
import { answerWith } from './faults/instead-of-answers.ts';
import { objectOf, parsedOr, textOf } from './json.ts';
import { modelList } from './model-lists.ts';
import { playSteps } from './play-steps.ts';
import { exactCacheOptions, PromptCache } from './prompt-cache.ts';
import { RequestLog, withoutSecrets, type RequestRecord } from './request-log.ts';
import { fingerprint } from './seal.ts';
import type { ModelServer, ModelServerOptions, ReplyOrder, ServerEvent } from './server-contract.ts';

const repliesMax = 10_000;
const defaultModels = ['scripted', 'scripted-small', 'claude-scripted', 'gpt-scripted'];

const dialects: readonly [suffix: string, dialect: Dialect][] = [
  ['/chat/completions', chatCompletions],
  ['/responses', responses],
  ['/messages', anthropicMessages],
];

const basePaths: Record<Protocol, string> = { chat_completions: '/v1', responses: '/v1', anthropic_messages: '' };

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const server = new RunningServer(options);
  await server.listen(options.port ?? 0);
  return server;
}

class RunningServer implements ModelServer {
  readonly #options: ModelServerOptions;
  readonly #http: Server;
  readonly #log = new RequestLog();
  readonly #faults = new FaultQueue();
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  readonly #deps: AnswerDeps;
  #replies: (ReplyOrder & { left: number })[] = [];
  #movedMs = 0;
  #port = 0;
  #listening: NodeJS.Timeout | null = null;

  constructor(options: ModelServerOptions) {
    this.#options = options;
    const { keys = null } = options;
    this.#deps = {
      faults: this.#faults,
      cache: new PromptCache(options.cache ?? exactCacheOptions),
      memory: createCallMemory(),
      nextReply: (received) => this.#nextReply(received),
      isKeyValid: (key) => keys === null || keys.includes(key),
      isModelKnown: (model) => model !== '' && !model.startsWith('no-such'),
      windowTokens: options.windowTokens ?? 1_000_000,
    };
    this.#http = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch((error: unknown) => {
        console.error('the model server has a bug:', error);
        outgoing.destroy();
      });
    });
  }

  async listen(port: number): Promise<void> {
    this.#http.listen(port, '127.0.0.1');
    await once(this.#http, 'listening');
    this.#port = (this.#http.address() as AddressInfo).port;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  baseUrl(protocol: Protocol): string {
    return `${this.url}${basePaths[protocol]}`;
  }

  requests(): readonly RequestRecord[] {
    return this.#log.since(0);
  }

  order(order: ReplyOrder): void {
    if (this.#replies.length >= repliesMax) throw new Error('too many replies');
    this.#replies.push({ ...order, left: order.times ?? 1 });
  }

  inject(order: FaultOrder): void {
    const { fault, options } = this.#faults.add(order);
    if (fault.effect.kind === 'refused') this.#refuse(options.delayMs);
  }

  reset(): void {
    this.#faults.clear();
    this.#replies = [];
    this.#log.clear();
  }

  advance(byMs: number): void {
    this.#movedMs += byMs;
  }

  onEvent(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#listening !== null) clearTimeout(this.#listening);
    if (!this.#http.listening) return;
    const closed = once(this.#http, 'close');
    this.#http.close();
    this.#http.closeAllConnections();
    await closed;
  }

  /** Nobody listens for a while; then again, at the same port. */
  #refuse(forMs: number): void {
    this.#http.close();
    this.#http.closeAllConnections();
    this.#listening = setTimeout(() => this.#http.listen(this.#port, '127.0.0.1'), forMs);
  }

  #now(): number {
    return Date.now() + this.#movedMs;
  }

  #nextReply({ dialect, body }: Received): Reply | null {
    const found = this.#replies.find(
      ({ protocol = dialect.protocol, model = body['model'] }) =>
        protocol === dialect.protocol && model === body['model'],
    );
    if (found === undefined) return null;
    found.left -= 1;
    this.#replies = this.#replies.filter(({ left }) => left > 0);
    return found.reply;
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    outgoing.on('error', () => {});
    const [path = '/', query = ''] = (incoming.url ?? '/').split('?');
    const headers = headersOf(incoming);
    const raw = await bodyOf(incoming, this.#options.bodyBytesMax ?? 32_000_000);
    if (path.startsWith('/control/')) {
      await controlAnswer(
        this,
        { method: incoming.method ?? 'GET', path, query, body: raw ?? '' },
        outgoing,
        gone.signal,
      );
      return;
    }
    const dialect = dialects.find(([suffix]) => path.endsWith(suffix))?.[1];
    if (incoming.method === 'POST' && dialect !== undefined) {
      await this.#answer(dialect, path, headers, raw, outgoing, gone.signal);
      return;
    }
    const list = modelList(path, headers, this.#options.models ?? defaultModels);
    const isAllowed = path.includes('/api/') || this.#deps.isKeyValid(keyOf(headers));
    const family = headers['anthropic-version'] === undefined ? chatCompletions : anthropicMessages;
    const refusal = family.rejection({ kind: 'auth' });
    const steps =
      list === null
        ? answerWith(404, {
            error: { message: `Unknown request URL: ${incoming.method} ${path}.`, type: 'invalid_request_error' },
          })
        : isAllowed
          ? answerWith(200, list)
          : answerWith(refusal.status, refusal.body);
    await playSteps(steps, outgoing, gone.signal);
  }

  async #answer(
    dialect: Dialect,
    path: string,
    headers: Record<string, string>,
    raw: string | null,
    outgoing: ServerResponse,
    gone: AbortSignal,
  ): Promise<void> {
    const body = objectOf(parsedOr(raw ?? '', null));
    const key = keyOf(headers);
    const outcome = this.#outcomeOf(dialect, { dialect, headers, key, raw: raw ?? '', body, now: this.#now() }, raw);
    const { steps, ...came } = outcome;
    const number = this.#log.add({
      at: this.#now(),
      path,
      protocol: dialect.protocol,
      headers: withoutSecrets(headers),
      keyId: fingerprint(key),
      model: textOf(body['model']),
      raw,
      body,
      ...came,
    });
    this.#tell('request', this.#log.since(number - 1)[0] ?? null);
    const ended = await playSteps(steps, outgoing, gone);
    this.#tell('ended', this.#log.end(number, ended));
  }

  #outcomeOf(dialect: Dialect, received: Received, raw: string | null): ReturnType<typeof answerRequest> {
    const isObject = raw !== null && Object.keys(received.body).length > 0;
    if (isObject) return answerRequest(received, this.#deps);
    const kind = raw === null ? 'too-large' : 'bad-request';
    const message = raw === null ? {} : { message: 'We could not parse the JSON body of your request.' };
    const { status, body } = dialect.rejection({ kind, ...message });
    return {
      steps: answerWith(status, body),
      tokens: null,
      possible: 0,
      before: 0,
      fault: null,
      problem: JSON.stringify(body),
    };
  }

  #tell(kind: ServerEvent['kind'], record: RequestRecord | null): void {
    if (record === null) return;
    for (const listener of this.#listeners) listener({ kind, record });
  }
}

function headersOf(incoming: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
}

function keyOf(headers: Readonly<Record<string, string>>): string {
  return headers['x-api-key'] ?? /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1] ?? '';
}

/** Null if it is too long; it is read to its end all the same, so that the client hears why. */
async function bodyOf(incoming: IncomingMessage, bytesMax: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes > bytesMax ? null : Buffer.concat(chunks).toString();
}
