/**
 * The agents of all sessions: each is built from the inputs that the configuration and the session's settings give at
 * this moment, and used again for as long as they stay the same.
 */
import { join } from 'node:path';
import { readAgentInputs, type AgentInputs } from '../agent/agent-inputs.ts';
import { agentSignature } from '../agent/agent-signature.ts';
import { AgentCache, type AgentCacheCounts } from '../gateway/agent-cache.ts';
import { isMemoryShort, readMemoryFigures } from '../gateway/agent-cache-memory.ts';
import type { BorrowedAgent } from '../gateway/session-drain.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { FoundProvider } from '../models/find-provider.ts';
import { runtimeId, type OpenModel } from '../models/model.ts';
import type { SessionSettings } from '../protocol/api.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Store } from '../store/store.ts';
import { createMemoryTool } from '../tools/memory/memory-tool.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import { buildAgent, buildTools, memoriesFolder, turnSettings } from './build-agent.ts';
import { buildRuntimes, type Runtimes } from './build-runtimes.ts';
import type { ConfigSource } from './open-config.ts';
import { withModel } from './session-model.ts';

/** How long an answer to "is there an Ollama?" is believed. */
const foundForMs = 30_000;
const nothingFound: FoundProvider = { provider: 'offline', name: null, baseUrl: null, contextLength: null };
const registryGeneration = () => 1;
export const noSettings: SessionSettings = { model: null, effort: null };

export interface AgentsOptions {
  readonly home: string;
  readonly config: ConfigSource;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly store: Store;
  readonly log: Log;
  readonly extraTools?: readonly Tool[];
}

export interface Agents {
  borrow(sessionId: SessionId): Promise<BorrowedAgent>;
  /** The runtimes that a session with these settings would have now. Throws an `ApiError` if they name no model. */
  runtimes(settings: SessionSettings): Promise<Runtimes>;
  /** The session is over, or begins anew: its agent is of no use any more. */
  drop(sessionId: SessionId): void;
  counts(): AgentCacheCounts;
  close(): void;
}

export function createAgents(options: AgentsOptions): Agents {
  const { home, config, env, clock, store, log } = options;
  const cache = new AgentCache({
    cap: () => config.current().gateway.agent_cache.max_size,
    idleTtlMs: () => config.current().gateway.agent_cache.idle_ttl_s * 1_000,
    isMemoryShort: () => isMemoryShort(readMemoryFigures()),
    clock,
    log,
  });
  const memoryTool = createMemoryTool({ folder: join(home, memoriesFolder) });
  const sharedTools = [memoryTool, ...(options.extraTools ?? [])];
  // Describing tools costs more than all else in an agent, and they hold nothing of a session.
  let newest: { readonly commandTimeoutMs: number; readonly tools: ToolRegistry } | null = null;
  const toolsFor = (inputs: AgentInputs): ToolRegistry => {
    const commandTimeoutMs = (inputs['terminal.timeout_s'] ?? 180) * 1_000;
    if (newest?.commandTimeoutMs !== commandTimeoutMs) {
      newest = { commandTimeoutMs, tools: buildTools({ env, clock, commandTimeoutMs, sharedTools }) };
    }
    return newest.tools;
  };
  const find = createFinder(options);
  const openModel: OpenModel = async (runtime) => {
    const { createOpenModel } = await import('../models/open-model.ts');
    return createOpenModel({ clock, env: config.environment() })(runtime);
  };

  const plan = async (settings: SessionSettings): Promise<{ inputs: AgentInputs; runtimes: Runtimes }> => {
    const { toolsets, model } = config.current();
    const found = model.provider === null ? await find() : nothingFound;
    const plain = readAgentInputs(config.current(), { registryGeneration, toolsets });
    const chosen = withModel(plain, settings.model, plain['model.provider'] ?? found.provider);
    const runtimes = buildRuntimes(chosen, found, config.environment());
    // Keys and addresses may come from the environment, and the provider from what was found: they count as well.
    const extra = {
      runtimes: runtimes.chain.map((runtime) => [runtimeId(runtime), ...runtime.keys.map(({ id }) => id)]),
    };
    return { inputs: { ...chosen, extra }, runtimes };
  };

  return {
    async borrow(sessionId) {
      const session = await store.read.session(sessionId);
      const settings = session?.settings ?? noSettings;
      const { inputs, runtimes } = await plan(settings);
      const build = () => buildAgent({ home, inputs, runtimes, openModel, clock, tools: toolsFor(inputs) });
      const { agent, giveBack } = await cache.borrow(sessionId, agentSignature(inputs), build);
      const channel = session?.key.split(':')[0] ?? '';
      return {
        agent,
        settings: turnSettings(inputs, { channel, settings, namesSessions: agent.titler !== null }),
        giveBack,
      };
    },
    runtimes: async (settings) => (await plan(settings)).runtimes,
    drop: (sessionId) => cache.drop(sessionId),
    counts: () => cache.counts(),
    close: () => cache.close(),
  };
}

/** Which provider there is where none is configured; looked for again only after a while, or with other keys. */
function createFinder({ config, clock }: AgentsOptions): () => Promise<FoundProvider> {
  let last: { readonly at: number; readonly environment: unknown; readonly found: Promise<FoundProvider> } | null =
    null;
  return async () => {
    const environment = config.environment();
    const now = clock.now();
    if (last !== null && last.environment === environment && now - last.at <= foundForMs) return last.found;
    const { findProvider } = await import('../models/find-provider.ts');
    const found = findProvider(environment);
    last = { at: now, environment, found };
    return found;
  };
}
