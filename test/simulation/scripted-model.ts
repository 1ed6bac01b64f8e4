/** A model that says anything a model may say: answers, calls good and bad, reasoning, failures, streams cut short. */
import { sleep } from '../../src/lib/clock.ts';
import {
  ModelError,
  reasoningOrigin,
  runtimeId,
  type Model,
  type ModelErrorReason,
  type ModelEvent,
  type ModelRequest,
  type OpenModel,
  type Runtime,
} from '../../src/models/model.ts';
import { plainUnits } from '../../src/models/plain-units.ts';
import type { SessionId } from '../../src/protocol/ids.ts';
import type { Message } from '../../src/protocol/messages.ts';
import type { Dice } from './dice.ts';
import { never } from './virtual-clock.ts';
import type { Life } from './world.ts';

type Failure = Exclude<ModelErrorReason, 'cancelled'>;

const reasons: readonly Failure[] = [
  'auth',
  'billing',
  'rate-limit',
  'overloaded',
  'server',
  'timeout',
  'connection',
  'context-overflow',
  'payload-too-large',
  'model-not-found',
  'content-refused',
  'bad-request',
  'malformed-stream',
  'unknown',
];
const usage = { inputTokens: 10, cachedTokens: 5, cacheWriteTokens: 1, outputTokens: 3, reasoningTokens: 0 };
/** What a provider itself says a call cost: never more than is reserved for one with the simulation's prices. */
const saidUsd = [null, null, 0.001, 0.04] as const;
const openingFailsChance = 0.01;

/** Builds the clients of one session's agent. */
export function scriptedModels(process: Life, sessionId: SessionId): OpenModel {
  return async (runtime) => {
    if (process.isAlive && process.world.modelDice.chance(openingFailsChance)) {
      throw new ModelError('auth', 'The client could not be built.');
    }
    return new ScriptedClient(process, sessionId, runtime);
  };
}

class ScriptedClient implements Model {
  readonly #process: Life;
  readonly #sessionId: SessionId;
  readonly #runtime: Runtime;
  #streams = 0;
  #isClosed = false;

  constructor(process: Life, sessionId: SessionId, runtime: Runtime) {
    this.#process = process;
    this.#sessionId = sessionId;
    this.#runtime = runtime;
  }

  prepare(request: ModelRequest) {
    const messages = request.messages.map((message) => withoutForeignReasoning(message, this.#runtime));
    return { request, units: plainUnits({ ...request, messages }), body: '' };
  }

  async *stream(
    { request }: { request: ModelRequest },
    _key: unknown,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent> {
    const [process, sessionId] = [this.#process, this.#sessionId];
    const { world } = process;
    if (!process.isAlive) await never();
    if (this.#isClosed) world.breach(`${sessionId}: a closed client of ${runtimeId(this.#runtime)} was asked`);
    this.#streams += 1;
    world.observer.modelAsked(process, sessionId, request);
    try {
      const { poisonChance, weather, toolMsMax } = world.scenario;
      const poison = world.isPoisoned(sessionId) ? poisonChance : 0;
      const danger = { poison: 10 * poison, restart: weather === 'poison' ? 0 : 0.3 };
      const number = world.nextNumber();
      for (const { event, afterMs } of script(world.modelDice, request, { number, danger, msMax: toolMsMax })) {
        if (afterMs > 0) await sleep(process.clock, afterMs, signal);
        if (signal.aborted) break;
        yield event;
      }
      if (!signal.aborted) return;
    } catch {
      // Only the abort of the wait ends here.
    } finally {
      this.#streams -= 1;
      world.observer.modelEnded(process, sessionId);
    }
    yield { kind: 'failed', error: new ModelError('cancelled', 'Cancelled.') };
  }

  close(): void {
    const { world, isAlive } = this.#process;
    if (!isAlive) return;
    const name = `${this.#sessionId}: the client of ${runtimeId(this.#runtime)}`;
    if (this.#isClosed) world.breach(`${name} was closed twice`);
    if (this.#streams > 0) world.breach(`${name} was closed while it was in use`);
    this.#isClosed = true;
  }
}

/** As encoders do: what another model thought is not sent. */
function withoutForeignReasoning(message: Message, runtime: Runtime): Message {
  if (message.role !== 'assistant') return message;
  const isOwn = (origin: string | undefined) => origin === undefined || origin === reasoningOrigin(runtime);
  return { ...message, parts: message.parts.filter((part) => part.kind !== 'reasoning' || isOwn(part.origin)) };
}

/** Weights of the tools that end the process. */
interface Danger {
  readonly poison: number;
  readonly restart: number;
}

interface Step {
  readonly event: ModelEvent;
  readonly afterMs: number;
}

interface Circumstances {
  readonly number: number;
  readonly danger: Danger;
  readonly msMax: number;
}

function script(dice: Dice, request: ModelRequest, circumstances: Circumstances): Step[] {
  const { number, msMax } = circumstances;
  const rounds = request.messages.length - request.messages.findLastIndex((message) => message.role === 'user');
  const kind = dice.weighted({
    answer: 10,
    calls: rounds > 40 ? 0 : 8,
    failure: 1.5,
    cut: 0.5,
    silence: 0.2,
    nothing: 0.3,
  });
  const slowest = Math.min(msMax, dice.pick([0, 0, 50, 5_000]));
  const steps: Step[] = [];
  const add = (event: ModelEvent) => steps.push({ event, afterMs: slowest === 0 ? 0 : dice.delayMs(slowest) });
  const isRecord = request.systemPrompt.startsWith('You keep the record');
  const say = (words: string) => {
    const text = isRecord ? `## Goal\n${words}` : words;
    for (const word of text.split(/(?<= )/)) add({ kind: 'text-delta', text: word });
  };
  const think = () => {
    add({ kind: 'reasoning-delta', text: `thought ${number}` });
    add(dice.chance(0.5) ? { kind: 'reasoning-end', opaque: `sealed ${number}` } : { kind: 'reasoning-end' });
  };
  const end = (stop: 'answer' | 'tool-calls') => {
    const last = dice.chance(0.05) ? dice.pick(['length', 'refused'] as const) : stop;
    add({ kind: 'end', stop: last, usage, usd: dice.pick(saidUsd) });
  };
  const fail = (reason: Failure) => {
    const isTransport = reason === 'timeout' || reason === 'connection';
    const error = new ModelError(reason, `The model failed: ${reason}.`, {
      retryAfterMs: dice.chance(0.3) ? dice.pick([1_000, 20_000, 700_000]) : null,
      ...(isTransport ? { transport: dice.pick(['read-timeout', 'connect-error', 'reset'] as const) } : {}),
    });
    add({ kind: 'failed', error });
  };

  if (dice.chance(0.2) && kind !== 'nothing') think();
  switch (kind) {
    case 'answer':
      say(dice.chance(0.03) ? `answer ${number} ${'long '.repeat(3_000)}` : `answer ${number} it is`);
      end('answer');
      break;
    case 'calls':
      if (dice.chance(0.4)) say(`let me see ${number}`);
      addCalls(dice, add, circumstances);
      end('tool-calls');
      break;
    case 'failure':
      fail(dice.pick(reasons));
      break;
    case 'cut':
      say(`cut off ${number} in the`);
      if (dice.chance(0.3)) addCalls(dice, add, circumstances);
      fail('malformed-stream');
      break;
    case 'silence':
      say(`no end ${number}`);
      break;
    case 'nothing':
      end('answer');
      break;
  }
  return steps;
}

function addCalls(dice: Dice, add: (event: ModelEvent) => void, { danger, msMax }: Circumstances): void {
  const count = dice.chance(0.01) ? 70 : dice.pick([1, 1, 1, 2, 3, 4, 10]);
  const sameKind = dice.chance(0.4) ? dice.pick(['look', 'edit']) : null;
  for (let index = 0; index < count; index++) {
    const name =
      sameKind ??
      dice.weighted({
        look: 6,
        note: 5,
        edit: 4,
        command: 4,
        ask: 1,
        ...danger,
        thrower: 0.7,
        failing: 1,
        stubborn: 0.7,
        big: 0.1,
        'no such tool': 1,
      });
    // Providers repeat their ids.
    add({ kind: 'tool-call', providerCallId: `call_${index % 3}`, name, arguments: argumentText(dice, msMax) });
  }
}

function argumentText(dice: Dice, msMax: number): string {
  if (dice.chance(0.05)) return dice.pick(['', '{', '"text"', '{"ms":"soon"}', 'null', '[']);
  const ms = dice.chance(0.5) ? 0 : dice.between(1, Math.min(msMax, dice.pick([10, 2_000, 40_000])));
  return JSON.stringify({ ms, late: dice.chance(0.5), path: dice.pick(['a', 'b', 'c', 'd', 'e']) });
}
