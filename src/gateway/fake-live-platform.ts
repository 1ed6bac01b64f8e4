/** For tests: a platform with live display that records what people would have seen, and checks what it is promised. */
import type { Channel, ChannelLimits, Delivery, DeliveryOutcome, LiveDisplay } from '../channels/channel.ts';
import { sleep, type Clock } from '../lib/clock.ts';

export interface Change {
  readonly atMs: number;
  readonly kind: 'draft' | 'edit' | 'final' | 'remove';
  readonly id: string;
  readonly text: string;
}

export interface PlatformBehaviour {
  readonly latencyMs: number;
  /** `lost`: it happens, but the answer does not come. */
  readonly answer: 'ok' | 'refused' | 'throws' | 'lost';
}

const well: PlatformBehaviour = { latencyMs: 0, answer: 'ok' };

export class ScriptedPlatform {
  readonly clock: Clock;
  readonly channel: Channel;
  readonly changes: Change[] = [];
  /** What stands there now, by id. */
  readonly messages = new Map<string, string>();
  readonly deliveries: Delivery[] = [];
  readonly typingAtMs: number[] = [];
  /** What it does with the next drafts and edits; then it does them at once. */
  readonly script: PlatformBehaviour[] = [];
  readonly deliveryScript: DeliveryOutcome[] = [];
  /** What it was promised and did not get. Whoever shows things swallows errors, so they are looked at here. */
  readonly problems: string[] = [];
  onDraft: (text: string) => void = () => {};
  #count = 0;
  #underWay = 0;
  readonly #startedAt: number;

  constructor(clock: Clock, options: { name?: string; limits?: ChannelLimits; editEveryMs?: number } = {}) {
    this.clock = clock;
    this.#startedAt = clock.now();
    const live: LiveDisplay = {
      editEveryMs: options.editEveryMs ?? 1_000,
      typingMs: 5_000,
      typing: async () => void this.typingAtMs.push(this.#atMs()),
      draft: (_target, text, id) => this.#draft(text, id),
      remove: async (_target, id) => this.#put('remove', id, ''),
    };
    this.channel = {
      name: options.name ?? 'tele',
      limits: options.limits ?? { textCharsMax: 4_096, dedupes: false },
      live,
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
      deliver: async (delivery) => this.#deliver(delivery),
    };
  }

  /** The texts that stood there one after the other, without times. */
  get seen(): readonly string[] {
    return this.changes.map(({ kind, id, text }) => `${kind} ${id}: ${text}`);
  }

  #atMs(): number {
    return this.clock.now() - this.#startedAt;
  }

  #put(kind: Change['kind'], id: string, text: string): void {
    this.changes.push({ atMs: this.#atMs(), kind, id, text });
    if (kind === 'remove') this.messages.delete(id);
    else this.messages.set(id, text);
  }

  async #draft(text: string, id: string | null): Promise<string | null> {
    if (this.#underWay > 0) this.problems.push(`an edit before the one before it ended: ${text}`);
    if (text.length > (this.channel.limits.textCharsMax ?? Infinity)) this.problems.push(`too long: ${text}`);
    if (text.trim() === '') this.problems.push('nothing to show');
    this.onDraft(text);
    const { latencyMs, answer } = this.script.shift() ?? well;
    this.#underWay += 1;
    try {
      if (latencyMs > 0) await sleep(this.clock, latencyMs);
      if (answer === 'throws') throw new Error('the network is down');
      if (answer === 'refused') return null;
      if (id !== null && !this.messages.has(id)) return null;
      const shown = id ?? `m${(this.#count += 1)}`;
      this.#put(id === null ? 'draft' : 'edit', shown, text);
      if (answer === 'lost') throw new Error('timed out');
      return shown;
    } finally {
      this.#underWay -= 1;
    }
  }

  #deliver(delivery: Delivery): DeliveryOutcome {
    if (this.#underWay > 0) this.problems.push('an edit may come after the text that takes the place of the draft');
    this.deliveries.push(delivery);
    const outcome = this.deliveryScript.shift();
    if (outcome !== undefined) return outcome;
    const { replaces } = delivery;
    const id = replaces !== null && this.messages.has(replaces) ? replaces : `m${(this.#count += 1)}`;
    this.#put('final', id, delivery.text);
    return { kind: 'sent', platformId: id };
  }
}
