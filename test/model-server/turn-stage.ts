/**
 * One session whose models are real clients of the model server: the turn loop on a real store, with a tool, and a clock
 * that goes on whenever nothing but the clock is waited for.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeChain } from '../../src/agent/runtime-chain.ts';
import { RuntimeClients } from '../../src/agent/runtime-clients.ts';
import { Stage } from '../../src/agent/test-stage.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { buildRuntime, type RuntimeSpec } from '../../src/models/build-runtime.ts';
import type { Runtime } from '../../src/models/model.ts';
import { createOpenModel } from '../../src/models/open-model.ts';
import type { CallId } from '../../src/protocol/ids.ts';
import { toolCallsOf, type Entry, type ToolDefinition } from '../../src/protocol/messages.ts';
import type { Protocol } from './dialect.ts';
import type { ModelServer } from './server-contract.ts';

const clockStepMs = 500;

export const openModel = createOpenModel({ clock: systemClock, env: {} });

export const terminal: ToolDefinition = {
  name: 'terminal',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
};

/** A runtime of this protocol whose address is the server's. */
export function runtimeOf(server: ModelServer, protocol: Protocol, more: Partial<RuntimeSpec> = {}): Runtime {
  const spec: RuntimeSpec = {
    provider: protocol === 'anthropic_messages' ? 'anthropic' : 'openai',
    name: 'scripted',
    baseUrl: server.baseUrl(protocol),
    apiMode: protocol,
    apiKeys: ['key-of-a-test'],
    contextLength: null,
    outputTokensMax: null,
    stallMs: null,
    price: null,
    compressor: null,
    ...more,
  };
  return buildRuntime(spec, {});
}

export interface TurnStage {
  readonly stage: Stage;
  /** Hears this and runs the session to its rest. */
  hear(text: string): Promise<void>;
  close(): Promise<void>;
}

/** The first runtime is the primary, the others are what it falls back to. */
export async function openTurnStage(
  server: ModelServer,
  runtimes: readonly [Runtime, ...Runtime[]],
): Promise<TurnStage> {
  const stage = await Stage.open();
  const clients = new RuntimeClients(openModel);
  stage.tools = { terminal: { run: () => 'Monday' } };
  stage.built = {
    chain: new RuntimeChain(runtimes, clients),
    clients,
    titler: null,
    judge: null,
    tools: { get: (name) => stage.tool(name) },
    workspace: '/nowhere',
    spoolFolder: () => '/nowhere',
    keepResult: (_sessionId, callId) => Promise.resolve(`/kept/${callId}`),
    headTools: { tools: [terminal] },
    buildHead: async () => ({ systemPrompt: 'Be brief.', tools: [terminal] }),
  };
  return {
    stage,
    async hear(text) {
      await stage.hears(text);
      const run = stage.run();
      const isOver = () => Promise.race([run.then(() => true), sleep(1, false)]);
      while (!(await isOver())) {
        const isBusy = server.requests().some(({ ended }) => ended === null);
        if (!isBusy) await stage.clock.advance(clockStepMs);
      }
      assert.equal(await run, 'rested');
      assertSound(await stage.entries());
    },
    async close() {
      await clients.close();
      await stage.store.close();
    },
  };
}

/** Every call has its result, once, right after its answer; every turn is closed, once. */
function assertSound(entries: readonly Entry[]): void {
  let waiting = new Set<CallId>();
  let openTurns = 0;
  for (const entry of entries) {
    if (entry.kind === 'turn-opened') openTurns += 1;
    if (entry.kind === 'turn-closed') openTurns -= 1;
    if (entry.kind === 'turn-closed') assert.deepEqual([...waiting], [], 'a turn was closed over an open call');
    if (entry.kind !== 'message') continue;
    const { message } = entry;
    if (message.role === 'tool') {
      assert.ok(waiting.delete(message.parts[0].callId), 'a result without its call');
      continue;
    }
    assert.deepEqual([...waiting], [], 'something was said before the results were in');
    if (message.role === 'assistant') waiting = new Set(toolCallsOf(message).map(({ callId }) => callId));
  }
  assert.deepEqual([openTurns, waiting.size], [0, 0]);
}

/** What the server turned down: nothing that we send ever should be. */
export function problemsOf(server: ModelServer): string[] {
  return server.requests().flatMap(({ problem }) => (problem === null ? [] : [problem]));
}
