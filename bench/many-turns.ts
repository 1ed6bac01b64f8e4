/**
 * Very many turns through the HTTP API of a gateway, so many at once, each followed to its stored end. What was sent is
 * kept, so that afterwards it can be held against what is stored: nothing lost, nothing doubled, nothing out of order.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteApi } from '../src/cli/remote-api.ts';
import type { TalariaApi } from '../src/protocol/api.ts';
import { textOf } from '../src/protocol/messages.ts';

const turnTimeoutMs = 120_000;

export interface TurnPlan {
  readonly sessions: number;
  readonly turnsPerSession: number;
  readonly atOnce: number;
  /** Over which they begin: people do not press the key in the same millisecond. */
  readonly spreadMs?: number;
  /** Messages of a turn; all but the first are sent while it runs. */
  readonly messagesPerTurn: number;
}

export class ManyTurns {
  readonly #api: TalariaApi;
  readonly #prefix: string;
  readonly #sent = new Map<string, string[]>();
  /** From sending to the stored end, of every turn. */
  readonly latenciesMs: number[] = [];
  failed = 0;

  constructor(url: string, prefix: string) {
    this.#api = createRemoteApi({ origin: url, key: null });
    this.#prefix = prefix;
  }

  /** A round is a turn of every session; a session never has two at once. */
  async run(plan: TurnPlan): Promise<void> {
    for (let turn = 0; turn < plan.turnsPerSession; turn++) {
      let next = 0;
      const work = async (worker: number) => {
        await sleep((worker * (plan.spreadMs ?? 0)) / plan.atOnce);
        for (let index = next++; index < plan.sessions; index = next++)
          await this.#turn(`${this.#prefix}-${index}`, plan);
      };
      await Promise.all(Array.from({ length: plan.atOnce }, (_, worker) => work(worker)));
    }
  }

  async #turn(session: string, { messagesPerTurn }: TurnPlan): Promise<void> {
    const start = performance.now();
    const { afterSeq } = await this.#say(session);
    for (let more = 1; more < messagesPerTurn; more++) await this.#say(session);
    const done = new AbortController();
    const limit = AbortSignal.any([done.signal, AbortSignal.timeout(turnTimeoutMs)]);
    let answered = 0;
    try {
      for await (const event of this.#api.events(session, afterSeq, limit)) {
        if (event.kind !== 'entry') continue;
        const { entry } = event;
        if (entry.kind === 'message' && entry.message.role === 'user') answered += 1;
        if (entry.kind !== 'turn-closed') continue;
        if (entry.outcome !== 'answered') this.failed += 1;
        // A message that came too late for the turn has one of its own.
        if (answered >= messagesPerTurn) break;
      }
    } finally {
      done.abort();
    }
    if (answered < messagesPerTurn) throw new Error(`${session} did not come to its end in time`);
    this.latenciesMs.push(performance.now() - start);
  }

  async #say(session: string): Promise<{ afterSeq: number }> {
    const sent = this.#sent.get(session) ?? [];
    this.#sent.set(session, sent);
    const text = `say ${session} has message ${sent.length + 1}`;
    sent.push(text);
    return this.#api.send({ session, text, externalId: randomUUID(), channel: 'cli' });
  }

  /** What is stored against what was sent. */
  async check(): Promise<{ messages: number; lost: number; outOfOrder: number }> {
    const totals = { messages: 0, lost: 0, outOfOrder: 0 };
    for (const [session, sent] of this.#sent) {
      const stored: string[] = [];
      let answers = '';
      for await (const line of this.#api.export(session)) {
        const entry = JSON.parse(line) as { kind?: string; message?: Parameters<typeof textOf>[0] };
        if (entry.kind !== 'message' || entry.message === undefined) continue;
        if (entry.message.role === 'user') stored.push(textOf(entry.message));
        if (entry.message.role === 'assistant') answers += `${textOf(entry.message)}\n`;
      }
      const spoken = answers.split('\n');
      totals.messages += sent.length;
      totals.lost += sent.filter(
        (text) => !stored.includes(text) || !spoken.includes(text.slice('say '.length)),
      ).length;
      if (stored.join('\n') !== sent.join('\n')) totals.outOfOrder += 1;
    }
    return totals;
  }
}
