/**
 * Speaks to the gateway's own API as a front end does that never gives up: asks again until it is answered, always under
 * the same id. It knows where the gateway is only while one is ready.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ParkedAction,
  SendReceipt,
  SessionSettings,
  SessionSummary,
  StatusReport,
} from '../../src/protocol/api.ts';
import type { Entry } from '../../src/protocol/messages.ts';
import { ask, post, type Answer } from '../support/http.ts';

const againMs = 10;

export interface Acknowledged {
  readonly externalId: string;
  readonly inboxId: string;
  readonly session: string;
}

export class ApiClient {
  readonly #url: () => Promise<string>;
  readonly #signal: AbortSignal;
  /** What the gateway answered that it should not have. */
  readonly problems: string[] = [];

  /** `url` waits for a gateway that is ready. */
  constructor(url: () => Promise<string>, signal: AbortSignal) {
    this.#url = url;
    this.#signal = signal;
  }

  async send(session: string, text: string, externalId: string): Promise<Acknowledged> {
    const answer = await this.#insist((url) => post(`${url}/api/messages`, { session, text, externalId }));
    const { inboxId } = JSON.parse(answer.text) as SendReceipt;
    return { externalId, inboxId, session };
  }

  /** A front end that lost the receipt sends again, long after. */
  async sendAgain(earlier: Acknowledged, text: string): Promise<void> {
    const again = await this.send(earlier.session, text, earlier.externalId);
    if (again.inboxId !== earlier.inboxId) this.problems.push(`${earlier.externalId} was admitted twice`);
  }

  async stop(session: string): Promise<void> {
    await this.#insist((url) => post(`${url}/api/sessions/${session}/stop`, {}));
  }

  /** An attempt whose answer was lost may have succeeded: then there is nothing left to delete. */
  async delete(session: string): Promise<void> {
    await this.#insist((url) => ask(`${url}/api/sessions/${session}`, { method: 'DELETE' }), [404]);
  }

  /** What a person does about a parked turn; if the answer to a first attempt was lost, there is none any more. */
  async settleParked(session: string, action: ParkedAction): Promise<void> {
    await this.#insist((url) => post(`${url}/api/sessions/${session}/parked`, { action }));
  }

  /** If the answer to a first attempt was lost, the question has its answer already. */
  async answer(session: string, callId: string, text: string): Promise<void> {
    await this.#insist((url) => post(`${url}/api/sessions/${session}/answers`, { callId, text }));
  }

  async changeSettings(session: string, change: Partial<SessionSettings>): Promise<void> {
    await this.#insist((url) => post(`${url}/api/sessions/${session}/settings`, change));
  }

  async export(session: string): Promise<string> {
    return (await this.#insist((url) => ask(`${url}/api/sessions/${session}/export`))).text;
  }

  /** Under a name of its own, so that a second attempt finds it there. */
  async import(exported: string, name: string): Promise<void> {
    const send = (url: string) => ask(`${url}/api/import?name=${name}`, { method: 'POST', body: exported });
    const isThere = async () => {
      const answer = await this.#insist((url) => ask(`${url}/api/sessions/${name}`), [404]);
      return answer.status === 200;
    };
    while (!(await isThere())) await this.#once(send);
  }

  async backup(): Promise<void> {
    await this.#insist((url) => ask(`${url}/api/backup`, { method: 'POST' }));
  }

  async status(): Promise<StatusReport> {
    return JSON.parse((await this.#insist((url) => ask(`${url}/api/status`))).text) as StatusReport;
  }

  /** Of the one that this key leads to now. */
  async sessionOf(key: string): Promise<string> {
    for (;;) {
      const answer = await this.#insist((url) => ask(`${url}/api/sessions?limit=500`));
      const { sessions } = JSON.parse(answer.text) as { readonly sessions: readonly SessionSummary[] };
      const found = sessions.find((session) => session.key === key);
      if (found !== undefined) return found.id;
      await sleep(againMs, undefined, { signal: this.#signal });
    }
  }

  async transcript(session: string): Promise<Entry[]> {
    const [, ...lines] = (await this.export(session)).trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Entry);
  }

  async #insist(attempt: (url: string) => Promise<Answer>, alsoFine: readonly number[] = []): Promise<Answer> {
    for (;;) {
      const answer = await this.#once(attempt);
      if (answer !== null && (answer.status === 200 || alsoFine.includes(answer.status))) return answer;
      await sleep(againMs, undefined, { signal: this.#signal });
    }
  }

  /** Null if the gateway died before it had answered. */
  async #once(attempt: (url: string) => Promise<Answer>): Promise<Answer | null> {
    this.#signal.throwIfAborted();
    const url = await this.#url();
    try {
      const answer = await attempt(url);
      // Busy and draining pass; everything else in this range is a bug.
      if (answer.status === 400 || answer.status === 500) this.problems.push(`${answer.status}: ${answer.text}`);
      return answer;
    } catch {
      return null;
    }
  }
}
