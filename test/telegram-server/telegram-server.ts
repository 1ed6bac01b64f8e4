/**
 * Telegram for tests: the Bot API over real HTTP on loopback, with the real rules about offsets, markup and limits. People
 * write and press buttons to order, things go wrong to order, and everything the bot did is on record.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BotCommand, Update, User } from 'grammy/types';
import { ApiFailure, methods, type BotState, type Payload } from './bot-api.ts';
import { CallLog, type CallRecord } from './call-log.ts';
import { controlAnswer } from './control-routes.ts';
import { failureOf, FaultQueue, isAfter, type Failure, type FaultOrder } from './faults.ts';
import { People } from './people.ts';
import { readBody, readPayload } from './request-body.ts';
import type { TelegramServer, TelegramServerOptions } from './server-contract.ts';
import { UpdateQueue, type UpdatesQuery } from './update-queue.ts';
import { WebhookSender } from './webhook-sender.ts';
import { World } from './world.ts';

const untilTimeoutMs = 20_000;
export const testToken = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';

export async function startTelegramServer(options: TelegramServerOptions = {}): Promise<TelegramServer> {
  const server = new RunningServer(options);
  await server.listen(options.port ?? 0);
  return server;
}

type Answer = { readonly result: unknown } | { readonly failure: Failure };

class RunningServer implements TelegramServer {
  readonly token: string;
  readonly world: World;
  readonly people: People;
  readonly updates = new UpdateQueue(710_000_001);
  readonly webhook: WebhookSender;
  readonly #http: Server;
  readonly #log = new CallLog();
  readonly #faults = new FaultQueue();
  readonly #state: BotState = { commands: [] };
  #port = 0;

  constructor({ token = testToken, username = 'talaria_bot', webhookAgainMs = 20 }: TelegramServerOptions) {
    this.token = token;
    const bot: User = { id: Number(token.split(':')[0]), is_bot: true, first_name: 'Talaria', username };
    this.world = new World(bot);
    this.people = new People(this.world, this.updates);
    this.webhook = new WebhookSender(this.updates, webhookAgainMs);
    this.#http = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch((error: unknown) => {
        console.error('the Telegram server has a bug:', error);
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

  get commands(): readonly BotCommand[] {
    return this.#state.commands;
  }

  calls(method?: string): readonly CallRecord[] {
    return method === undefined ? this.#log.all() : this.#log.all().filter((call) => call.method === method);
  }

  inject(order: FaultOrder): () => void {
    return this.#faults.add(order);
  }

  reset(): void {
    this.#faults.clear();
    this.#log.clear();
  }

  onCall(listener: (call: CallRecord) => void): () => void {
    return this.#log.onCall(listener);
  }

  until(holds: () => boolean, what: string): Promise<void> {
    return this.#log.until(holds, what, untilTimeoutMs);
  }

  async close(): Promise<void> {
    this.webhook.set(null);
    if (!this.#http.listening) return;
    const closed = once(this.#http, 'close');
    this.#http.close();
    this.#http.closeAllConnections();
    await closed;
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    outgoing.on('error', () => {});
    const [path = '/', query = ''] = (incoming.url ?? '/').split('?');
    if (path.startsWith('/control/')) {
      const body = (await readBody(incoming)).toString();
      await controlAnswer(this, { method: incoming.method ?? 'GET', path, query, body }, outgoing, gone.signal);
      return;
    }
    const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(path);
    if (file !== null) {
      this.#download(file[1] ?? '', file[2] ?? '', outgoing);
      return;
    }
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    const payload = await readPayload(incoming, query);
    await this.#call(token, method, payload, outgoing, gone.signal);
  }

  async #call(
    token: string,
    method: string,
    payload: Payload,
    outgoing: ServerResponse,
    gone: AbortSignal,
  ): Promise<void> {
    const fault = this.#faults.take(method, payload);
    const number = this.#log.begin(method, payload, fault?.kind ?? null);
    const strikesFirst = fault !== null && !isAfter(fault.kind) && !['reorder', 'unconfirmed'].includes(fault.kind);
    const performed = strikesFirst ? null : await this.#perform(token, method, payload, fault, gone);
    const failure = fault === null ? null : failureOf(fault);
    const answer: Answer | null = failure === null ? performed : { failure };
    this.#log.end(number, performed !== null && 'result' in performed ? performed.result : null, statusOf(answer));
    this.#reply(outgoing, answer, fault);
  }

  #reply(outgoing: ServerResponse, answer: Answer | null, fault: FaultOrder | null): void {
    switch (fault?.kind) {
      case 'hang-before':
      case 'hang-after':
        return;
      case 'drop-before':
      case 'drop-after':
        outgoing.socket?.destroy();
        return;
      case 'page-before':
      case 'page-after':
        outgoing.writeHead(502, { 'content-type': 'text/html' });
        outgoing.end('<html><body><h1>502 Bad Gateway</h1></body></html>');
        return;
      case 'garbage-after':
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        outgoing.end('{"ok":true,"resu');
        return;
      default:
        send(outgoing, answer ?? { failure: { code: 500, description: 'Internal Server Error' } });
    }
  }

  async #perform(
    token: string,
    method: string,
    payload: Payload,
    fault: FaultOrder | null,
    gone: AbortSignal,
  ): Promise<Answer> {
    if (!/^\d+:[\w-]+$/.test(token)) return { failure: { code: 404, description: 'Not Found' } };
    if (token !== this.token) return { failure: { code: 401, description: 'Unauthorized' } };
    try {
      switch (method) {
        case 'getUpdates':
          return { result: await this.#getUpdates(payload, fault, gone) };
        case 'setWebhook':
          return { result: this.#setWebhook(payload) };
        case 'deleteWebhook':
          this.webhook.set(null);
          if (payload['drop_pending_updates'] === true) this.updates.forget(Number.MAX_SAFE_INTEGER);
          return { result: true };
        case 'getWebhookInfo':
          return { result: this.#webhookInfo() };
        default: {
          const perform = methods[method];
          if (perform === undefined) return { failure: { code: 404, description: 'Not Found: method not found' } };
          return { result: perform(this.world, payload, this.#state) };
        }
      }
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      return { failure: error.failure };
    }
  }

  async #getUpdates(payload: Payload, fault: FaultOrder | null, gone: AbortSignal): Promise<readonly Update[]> {
    if (this.webhook.webhook !== null) {
      throw new ApiFailure(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    }
    const query = payload as UpdatesQuery;
    const { offset: _lost, ...unconfirming } = query;
    const answer = await this.updates.take(fault?.kind === 'unconfirmed' ? unconfirming : query, gone);
    if (answer.kind === 'updates') return fault?.kind === 'reorder' ? answer.updates.toReversed() : answer.updates;
    throw new ApiFailure(
      409,
      'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    );
  }

  #setWebhook(payload: Payload): true {
    const { url, secret_token: secret = null } = payload as { url: string; secret_token?: string };
    if (secret !== null && !/^[\w-]{1,256}$/.test(secret)) {
      throw new ApiFailure(400, 'Bad Request: secret token contains unallowed characters');
    }
    if (url !== '' && !URL.canParse(url)) throw new ApiFailure(400, 'Bad Request: bad webhook: invalid URL');
    this.updates.allow(payload['allowed_updates'] as string[] | undefined);
    this.updates.conflict();
    this.webhook.set(url === '' ? null : { url, secret });
    return true;
  }

  #webhookInfo(): object {
    const error = this.webhook.lastError;
    return {
      url: this.webhook.webhook?.url ?? '',
      has_custom_certificate: false,
      pending_update_count: this.updates.pending.length,
      ...(error === null ? {} : { last_error_message: error }),
    };
  }

  #download(token: string, path: string, outgoing: ServerResponse): void {
    const fault = this.#faults.take('download', {});
    const file = this.world.fileAt(path);
    const number = this.#log.begin('download', { path }, fault?.kind ?? null);
    const found = token === this.token && file !== null;
    const failure = fault === null ? null : failureOf(fault);
    this.#log.end(number, null, failure?.code ?? (found ? 200 : 404));
    if (fault !== null) this.#reply(outgoing, failure === null ? null : { failure }, fault);
    else if (found) outgoing.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file.bytes);
    else send(outgoing, { failure: { code: 404, description: 'Not Found' } });
  }
}

function statusOf(answer: Answer | null): number {
  if (answer === null) return 0;
  return 'failure' in answer ? answer.failure.code : 200;
}

function send(outgoing: ServerResponse, answer: Answer): void {
  outgoing.writeHead(statusOf(answer), { 'content-type': 'application/json' });
  if ('result' in answer) {
    outgoing.end(JSON.stringify({ ok: true, result: answer.result }));
    return;
  }
  const { code, description, parameters } = answer.failure;
  outgoing.end(
    JSON.stringify({ ok: false, error_code: code, description, ...(parameters === undefined ? {} : { parameters }) }),
  );
}
