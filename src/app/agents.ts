/**
 * The agents of all sessions: each is built from the inputs that the configuration and the session's settings give at
 * this moment, and used again for as long as they stay the same.
 */
import { readAgentInputs, type AgentInputs } from '../agent/agent-inputs.ts';
import { agentSignature } from '../agent/agent-signature.ts';
import { AgentCache, type AgentCacheCounts } from '../gateway/agent-cache.ts';
import { isMemoryShort, readMemoryFigures } from '../gateway/agent-cache-memory.ts';
import type { BorrowedAgent } from '../gateway/session-drain.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { FoundProvider } from '../models/find-provider.ts';
import { runtimeId, type OpenModel } from '../models/model.ts';
import type { SessionSettings, ToolSummary } from '../protocol/api.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Head } from '../protocol/messages.ts';
import type { SessionRecord, Store } from '../store/store.ts';
import { readMemories } from '../tools/memory/memory-files.ts';
import { machineOwner, memoryOwnerOf } from '../tools/memory/memory-places.ts';
import { memorySection } from '../tools/memory/memory-section.ts';
import { skillsSection } from '../tools/skills/skills-section.ts';
import { createToolRegistry, type ToolRegistry } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import { toolsIn } from '../tools/toolsets.ts';
import { buildAgent, turnSettings } from './build-agent.ts';
import { channelRules } from './channel-rules.ts';
import { buildRuntimes, type Runtimes } from './build-runtimes.ts';
import type { ConfigSource } from './open-config.ts';
import { withModel } from './session-model.ts';
import type { Toolbox } from './toolbox.ts';

/** How long an answer to "is there an Ollama?" is believed. */
const foundForMs = 30_000;
const nothingFound: FoundProvider = { provider: 'offline', name: null, baseUrl: null, contextLength: null };
/** Sets of toolsets for which tools are kept described; past it they are described anew. */
const registriesMax = 32;
export const noSettings: SessionSettings = { model: null, effort: null };

export interface AgentsOptions {
  readonly home: string;
  readonly config: ConfigSource;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly store: Store;
  readonly log: Log;
  readonly redact?: (text: string) => string;
  readonly toolbox: Pick<Toolbox, 'build' | 'others' | 'generation' | 'placeReceived' | 'skills'>;
}

/** What an agent depends on of its session. */
type Seat = Pick<SessionRecord, 'key' | 'settings'> & { readonly owner: string | null };

export interface Agents {
  borrow(sessionId: SessionId): Promise<BorrowedAgent>;
  /** The runtimes that a session with these settings would have now. Throws an `ApiError` if they name no model. */
  runtimes(settings: SessionSettings): Promise<Runtimes>;
  /** The session is over, or begins anew: its agent is of no use any more. */
  drop(sessionId: SessionId): void;
  /** What a session like this one would begin with now; null: one on this machine's terminal. Builds no agent to keep. */
  freshHead(session: Seat | null): Promise<Head>;
  counts(): AgentCacheCounts;
  /** All that there are now, whatever the toolset. */
  tools(): Promise<readonly ToolSummary[]>;
  close(): void;
}

export function createAgents(options: AgentsOptions): Agents {
  const { home, config, clock, store, log } = options;
  const cache = new AgentCache({
    cap: () => config.current().gateway.agent_cache.max_size,
    idleTtlMs: () => config.current().gateway.agent_cache.idle_ttl_s * 1_000,
    isMemoryShort: () => isMemoryShort(readMemoryFigures()),
    clock,
    log,
  });
  const { toolbox } = options;
  const skills = async () => {
    const report = await toolbox.skills.list();
    for (const { name, problem } of report.broken) log.warn('a skill can not be used', { name, problem });
    return skillsSection(report.skills.filter(({ state }) => state === 'offered'));
  };
  const toolsFor = createToolShelf(toolbox, () => config.current().tools.schema_bytes);
  const rules = channelRules(() => config.current());
  const find = createFinder(options);
  const openModel: OpenModel = async (runtime) => {
    const { createOpenModel } = await import('../models/open-model.ts');
    return createOpenModel({ clock, env: config.environment() })(runtime);
  };

  const plan = async (
    settings: SessionSettings,
    toolsets: readonly string[],
  ): Promise<{ inputs: AgentInputs; runtimes: Runtimes }> => {
    const { model } = config.current();
    const found = model.provider === null ? await find() : nothingFound;
    const plain = readAgentInputs(config.current(), { registryGeneration: toolbox.generation, toolsets });
    const chosen = withModel(plain, settings.model, plain['model.provider'] ?? found.provider);
    const runtimes = buildRuntimes(chosen, found, config.environment());
    // Keys and addresses may come from the environment, and the provider from what was found: they count as well.
    const extra = {
      runtimes: runtimes.chain.map((runtime) => [runtimeId(runtime), ...runtime.keys.map(({ id }) => id)]),
    };
    return { inputs: { ...chosen, extra }, runtimes };
  };

  /** What the agent of a session is built from, and how. */
  const builder = async ({ key, owner, settings }: Seat) => {
    const { inputs, runtimes } = await plan(settings, rules.toolsets(key));
    const [channel = ''] = key.split(':', 1);
    const memory = async () => {
      if (owner === null) return '';
      const whose = memoryOwnerOf({ key, owner }, config.current().memory.shared_with);
      return memorySection(await readMemories(home, whose));
    };
    const build = () => {
      const tools = toolsFor(inputs);
      const { placeReceived } = toolbox;
      return buildAgent({ ...options, inputs, runtimes, openModel, channel, memory, skills, tools, placeReceived });
    };
    return { inputs, channel, build };
  };

  return {
    async borrow(sessionId) {
      const session = await store.read.session(sessionId);
      const settings = session?.settings ?? noSettings;
      const { inputs, channel, build } = await builder(session ?? { key: '', owner: null, settings });
      const { agent, giveBack } = await cache.borrow(sessionId, agentSignature(inputs), build);
      return {
        agent,
        settings: turnSettings(inputs, { channel, settings, namesSessions: agent.titler !== null }),
        giveBack,
      };
    },
    freshHead: async (session) =>
      (await builder(session ?? { key: 'cli:direct:', owner: machineOwner, settings: noSettings })).build().buildHead(),
    runtimes: async (settings) => (await plan(settings, [])).runtimes,
    drop: (sessionId) => cache.drop(sessionId),
    counts: () => cache.counts(),
    async tools() {
      const { toolSummaries } = await import('../tools/tool-summaries.ts');
      const inputs = readAgentInputs(config.current(), { registryGeneration: toolbox.generation, toolsets: ['core'] });
      const servers = Object.keys(config.current().mcp_servers);
      return toolSummaries([...toolbox.build(inputs), ...toolbox.others()], servers);
    },
    close: () => cache.close(),
  };
}

/**
 * The tools that agents share: describing them costs more than all else in an agent, and they hold nothing of a session.
 * Kept for the newest settings only, and for the few toolsets that channels have.
 */
function createToolShelf(toolbox: AgentsOptions['toolbox'], bytesMax: () => number) {
  let newest: { readonly made: string; readonly own: readonly Tool[]; readonly others: readonly Tool[] } | null = null;
  const registries = new Map<string, ToolRegistry>();
  return (inputs: AgentInputs): ToolRegistry => {
    const { registry_generation: generation, toolsets } = inputs;
    const terminal = Object.entries(inputs).filter(([key]) => key.startsWith('terminal.'));
    const made = JSON.stringify([terminal, generation, bytesMax()]);
    if (newest?.made !== made) {
      newest = { made, own: toolbox.build(inputs), others: toolbox.others() };
      registries.clear();
    }
    const wanted = toolsets.join(' ');
    let registry = registries.get(wanted);
    if (registry === undefined) {
      if (registries.size >= registriesMax) registries.clear();
      registry = createToolRegistry(toolsIn(newest.own, toolsets), {
        generation,
        others: { tools: toolsIn(newest.others, toolsets), bytesMax: bytesMax() },
      });
      registries.set(wanted, registry);
    }
    return registry;
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
