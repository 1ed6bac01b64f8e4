/** Posts updates to the bot's webhook, oldest first, each again until it is taken: only then is it forgotten. */
import type { UpdateQueue } from './update-queue.ts';

export interface Webhook {
  readonly url: string;
  readonly secret: string | null;
}

export class WebhookSender {
  readonly #queue: UpdateQueue;
  readonly #againMs: number;
  #webhook: Webhook | null = null;
  #stop = new AbortController();
  #lastError: string | null = null;

  constructor(queue: UpdateQueue, againMs: number) {
    this.#queue = queue;
    this.#againMs = againMs;
  }

  get webhook(): Webhook | null {
    return this.#webhook;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  set(webhook: Webhook | null): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#webhook = webhook;
    if (webhook !== null) void this.#run(webhook, this.#stop.signal);
  }

  async #run({ url, secret }: Webhook, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [update] = this.#queue.pending;
      const status = update === undefined ? null : await post(url, secret, update, signal);
      if (update !== undefined && status !== null && status >= 200 && status < 300) {
        this.#queue.forget(update.update_id + 1);
        continue;
      }
      if (update !== undefined) this.#lastError = `Wrong response from the webhook: ${status ?? 'no connection'}`;
      await new Promise((resolve) => setTimeout(resolve, this.#againMs));
    }
  }
}

async function post(url: string, secret: string | null, body: unknown, signal: AbortSignal): Promise<number | null> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(secret === null ? {} : { 'x-telegram-bot-api-secret-token': secret }),
      },
      body: JSON.stringify(body),
      signal,
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return null;
  }
}
