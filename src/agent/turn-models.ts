/**
 * The models of the turn under way: which runtime and which key is asked next, how its prompts began, and how much
 * trouble the turn has had.
 * Every turn begins on the primary, unless all its keys rest; a turn that was interrupted goes on with the runtime that
 * answered in it last. Which keys rest is stored, so that every process knows.
 */
import type { Clock } from '../lib/clock.ts';
import type { ApiKey, Runtime } from '../models/model.ts';
import type { SessionId, TurnId } from '../protocol/ids.ts';
import type { KeyRest, PromptStep, PromptTrail, StoreReader, TurnRecord } from '../store/store.ts';
import type { RuntimeChain } from './runtime-chain.ts';

export interface TurnModelsDeps {
  readonly chain: RuntimeChain;
  readonly read: StoreReader;
  readonly clock: Clock;
  readonly sessionId: SessionId;
}

export class TurnModels {
  readonly #deps: TurnModelsDeps;
  #turnId: TurnId | null = null;
  readonly #trails = new Map<string, PromptTrail | null>();
  /** How long this turn has been held up by failing models. */
  troubleMs = 0;

  constructor(deps: TurnModelsDeps) {
    this.#deps = deps;
  }

  /** At the first model call of a turn in this process. A sentence if the turn can't begin on the primary. */
  async begin(turn: TurnRecord): Promise<string | null> {
    if (this.#turnId === turn.id) return null;
    this.#turnId = turn.id;
    this.troubleMs = 0;
    const { chain, read, sessionId } = this.#deps;
    await chain.restore();
    const answered = turn.modelCalls === 0 ? [] : await read.modelCalls(sessionId, turn.id);
    const newest = answered.findLast((call) => call.state === 'completed');
    if (newest !== undefined) {
      chain.resume((runtime) => runtime.provider === newest.provider && runtime.model === newest.model);
      return null;
    }
    return this.#avoidResting();
  }

  /** Who is asked next: every turn begins on the primary. */
  leader(turnId: TurnId | null): Runtime {
    const { chain } = this.#deps;
    return turnId !== null && turnId === this.#turnId ? chain.current : chain.primary;
  }

  async #avoidResting(): Promise<string | null> {
    const { chain } = this.#deps;
    const rests = await this.#rests();
    const primary = chain.current;
    const awake = (runtime: Runtime) => runtime.keys.some((key) => restOf(rests, runtime, key) === null);
    if (awake(primary) || !chain.fallBack(awake)) return null;
    const reason = rests.find(({ provider }) => provider === primary.provider)?.reason ?? 'its keys rest';
    return `${nameOf(primary)} is left alone for a while (${reason}); this turn is answered by ${nameOf(chain.current)}.`;
  }

  /**
   * The key to try next: one that works before one that rests, and of the latter the one that rests shortest; null if
   * every key was tried. A session keeps to its key, because providers keep their caches by it.
   */
  async nextKey(runtime: Runtime, tried: ReadonlySet<string>): Promise<ApiKey | null> {
    const rests = await this.#rests();
    const start = spread(this.#deps.sessionId, runtime.keys.length);
    const inOrder = [...runtime.keys.slice(start), ...runtime.keys.slice(0, start)].filter(({ id }) => !tried.has(id));
    const restUntil = (key: ApiKey) => restOf(rests, runtime, key)?.until ?? 0;
    return inOrder.toSorted((one, other) => restUntil(one) - restUntil(other))[0] ?? null;
  }

  /** How many keys are left that were not tried and do not rest. */
  async keysLeft(runtime: Runtime, tried: ReadonlySet<string>): Promise<number> {
    const rests = await this.#rests();
    return runtime.keys.filter((key) => !tried.has(key.id) && restOf(rests, runtime, key) === null).length;
  }

  /** Whether the key is known to rest. */
  async isResting(runtime: Runtime, key: ApiKey): Promise<boolean> {
    return restOf(await this.#rests(), runtime, key) !== null;
  }

  /** How the newest prompt on this runtime began; read once, because nobody else writes while this run has the lease. */
  async trail(runtime: string): Promise<PromptTrail | null> {
    const known = this.#trails.get(runtime);
    if (known !== undefined) return known;
    const stored = await this.#deps.read.promptTrail(this.#deps.sessionId, runtime);
    this.#trails.set(runtime, stored);
    return stored;
  }

  /** A prompt that goes on from the trail is on record. */
  follow({ runtime, kept, added, headSeq, effort }: PromptStep): void {
    const before = this.#trails.get(runtime)?.units ?? [];
    this.#trails.set(runtime, { units: [...before.slice(0, kept), ...added], headSeq, effort });
  }

  #rests(): Promise<readonly KeyRest[]> {
    return this.#deps.read.keyRests(this.#deps.clock.now());
  }
}

export function nameOf(runtime: Runtime): string {
  return `${runtime.provider}/${runtime.model}`;
}

function restOf(rests: readonly KeyRest[], { provider }: Runtime, key: ApiKey): KeyRest | null {
  return rests.find((rest) => rest.provider === provider && rest.keyId === key.id) ?? null;
}

/** Spreads sessions over keys, the same way in every process. */
function spread(sessionId: SessionId, count: number): number {
  let sum = 0;
  for (const char of sessionId) sum = (sum * 31 + char.charCodeAt(0)) % 1_000_003;
  return sum % count;
}
