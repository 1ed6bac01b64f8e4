/**
 * The matrix of faults: everything that can go wrong with a model, in every protocol and at every moment. Through the real
 * client each means what it should, and through a whole turn each ends in a journal that the provider goes on to accept,
 * with an answer or a reason for the user.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelEvent, ModelRequest } from '../src/models/model.ts';
import type { CallId } from '../src/protocol/ids.ts';
import type { Entry, Message } from '../src/protocol/messages.ts';
import { protocols, type Protocol } from './model-server/dialect.ts';
import type { Fault, Meaning, Phase } from './model-server/faults/fault.ts';
import { faults } from './model-server/faults/faults.ts';
import { startModelServer } from './model-server/model-server.ts';
import type { ModelServer } from './model-server/server-contract.ts';
import { openModel, openTurnStage, problemsOf, runtimeOf, terminal } from './model-server/turn-stage.ts';

/** A stream that is silent for so long has stalled. Where none shall stall, more than a busy machine can take. */
const stallMs = (fault: Fault) => (fault.name === 'stall' ? 400 : 20_000);
const cellTimeoutMs = 30_000;
const refusedMs = 60;

let server: ModelServer;
before(async () => (server = await startModelServer()));
after(() => server.close());

interface Cell {
  readonly protocol: Protocol;
  readonly fault: Fault;
  readonly phase: Phase;
}

const cells: readonly Cell[] = protocols.flatMap((protocol) =>
  faults
    .filter((fault) => fault.protocols?.includes(protocol) ?? true)
    .flatMap((fault) => fault.phases.map((phase) => ({ protocol, fault, phase }))),
);

const nameOf = ({ protocol, fault, phase }: Cell) => `${protocol}, ${fault.name}, ${phase}`;

const longWords = 'say eight words that take more than one piece, and then some more of them';

// --- the client ------------------------------------------------------------------------------------------------------

describe('a fault means to the client what it should', () => {
  for (const cell of cells) {
    test(nameOf(cell), { timeout: cellTimeoutMs }, async () => {
      const { protocol, fault, phase } = cell;
      server.reset();
      server.inject({ name: fault.name, phase, delayMs: refusedMs });
      const runtime = runtimeOf(server, protocol, { stallMs: stallMs(fault) });
      const model = await openModel(runtime);
      try {
        const ask = () =>
          collect(model.stream(model.prepare(requestFor(cell)), runtime.keys[0], AbortSignal.timeout(cellTimeoutMs)));
        const events = await ask();
        const last = events.at(-1);
        assert.ok(fault.means.includes(meaningOf(last)), `${meaningOf(last)}: ${JSON.stringify(last)}`);
        assert.deepEqual(events.filter(isTerminal), [last]);
        if (last?.kind === 'failed') assert.match(last.error.message, /\S.*\.|\S.*talaria/);
        if (fault.name === 'status-429-retry-after')
          assert.equal(last?.kind === 'failed' && last.error.retryAfterMs, 1_000);
        assert.deepEqual(problemsOf(server), []);
        assert.ok(wasStruck(fault));

        // The same client goes on.
        await reachable();
        assert.equal((await ask()).at(-1)?.kind, 'end');
      } finally {
        model.close();
      }
    });
  }
});

function requestFor({ fault, phase }: Cell): ModelRequest {
  const isAfterCall = phase === 'after-tool-call';
  const words = isAfterCall ? 'run date' : longWords;
  const messages: Message[] = [{ role: 'user', parts: [{ kind: 'text', text: words }] }];
  // A fault of the line strikes the answer that calls; the others strike the request after it.
  if (isAfterCall && fault.effect.kind !== 'line') {
    const callId = 'cal_00000000000000000000000001' as CallId;
    const call = { kind: 'tool-call', callId, name: 'terminal', arguments: '{"command":"date"}' } as const;
    messages.push({ role: 'assistant', parts: [call] });
    messages.push({ role: 'tool', parts: [{ kind: 'tool-result', callId, outcome: 'finished', text: 'Monday' }] });
  }
  return {
    systemPrompt: 'Be brief.',
    tools: [terminal],
    messages,
    effort: null,
    cacheKey: 'matrix',
    cachePace: 'short',
    contents: new Map(),
  };
}

async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function isTerminal(event: ModelEvent): boolean {
  return event.kind === 'end' || event.kind === 'failed';
}

function meaningOf(event: ModelEvent | undefined): Meaning {
  if (event?.kind === 'failed') return event.error.reason;
  assert.ok(event?.kind === 'end', `the stream ended with ${event?.kind}`);
  return event.stop === 'tool-calls' ? 'answer' : event.stop;
}

/** Of a refused connection the server knows nothing. */
function wasStruck({ name, effect }: Fault): boolean {
  return effect.kind === 'refused' || server.requests().some(({ fault }) => fault === name);
}

/** A refused connection comes back by itself after a while. */
async function reachable(): Promise<void> {
  for (;;) {
    const isThere = await fetch(`${server.url}/v1/models`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isThere) return;
    await sleep(5);
  }
}

// --- a whole turn ----------------------------------------------------------------------------------------------------

describe('a turn with a fault in it ends with an answer or a reason, and the session goes on', () => {
  for (const cell of cells) {
    test(nameOf(cell), { timeout: cellTimeoutMs }, async () => {
      const { protocol, fault, phase } = cell;
      server.reset();
      const { stage, hear, close } = await openTurnStage(server, [
        runtimeOf(server, protocol, { stallMs: stallMs(fault) }),
      ]);
      try {
        server.inject({ name: fault.name, phase, delayMs: refusedMs });
        await hear(phase === 'after-tool-call' ? 'run date then run id' : `${longWords} then run date`);
        const entries = await stage.entries();
        const outcome = outcomesIn(entries).at(-1) ?? 'open';
        assert.ok(outcomesFor(fault).includes(outcome), `the turn ended as ${outcome}: ${lastNotice(entries)}`);
        if (outcome === 'failed') assert.notEqual(lastNotice(entries), '', 'a turn that failed says why');
        assert.ok(wasStruck(fault));
        const rounds = phase === 'after-tool-call' ? 2 : 1;
        const runs = stage.history.filter((line) => line === 'run terminal').length;
        // A call that was cut off with its answer was never asked for; one that is stored is run once.
        if (outcome === 'answered' && fault.effect.kind !== 'content') assert.equal(runs, rounds);

        server.reset();
        await reachable();
        await hear('say that all is well');
        const later = await stage.entries();
        assert.deepEqual(problemsOf(server), []);
        assert.equal(outcomesIn(later).at(-1), 'answered');
        assert.match((await stage.told()).findLast((line) => line.startsWith('assistant:')) ?? '', /that all is well$/);
      } finally {
        await close();
      }
    });
  }
});

/** What helps is tried again; what doesn't is told. */
function outcomesFor({ means, effect }: Fault): string[] {
  const isLasting = means.every((meaning) => lasting.has(meaning));
  if (isLasting) return ['failed'];
  const isPassing = effect.kind !== 'refused' && means.every((meaning) => meaning === 'answer' || passing.has(meaning));
  return isPassing ? ['answered'] : ['answered', 'failed'];
}

const lasting: ReadonlySet<Meaning> = new Set<Meaning>([
  'auth',
  'billing',
  'context-overflow',
  'payload-too-large',
  'model-not-found',
  'content-refused',
  'bad-request',
]);
const passing: ReadonlySet<Meaning> = new Set<Meaning>([
  'rate-limit',
  'overloaded',
  'server',
  'timeout',
  'connection',
  'malformed-stream',
]);

function outcomesIn(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'turn-closed' ? [entry.outcome] : []));
}

function lastNotice(entries: readonly Entry[]): string {
  return entries.flatMap((entry) => (entry.kind === 'notice' ? [entry.text] : [])).at(-1) ?? '';
}
