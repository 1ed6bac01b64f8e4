/**
 * Every tool there is, made once for the process: they share the gate, the sandbox, the way out and what sessions hold.
 * What a tool needs is loaded when it is first used: a program that runs none loads next to nothing.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RebuildInputs } from '../agent/agent-inputs.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { systemRandom } from '../lib/random.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Store } from '../store/store.ts';
import type { CommandPlace, Gate } from '../tools/approval.ts';
import { createCommandJudge } from '../tools/approvals/command-judge.ts';
import { createGate } from '../tools/approvals/gate.ts';
import { createModelJudge } from '../tools/approvals/model-judge.ts';
import { createBrowserTools } from '../tools/browser/browser-tools.ts';
import type { Egress } from '../tools/egress.ts';
import { createFileTools, type Checkpoints } from '../tools/files/file-tools.ts';
import type { PlaceReceived } from '../tools/files/place-received.ts';
import type { Holding } from '../tools/holding.ts';
import type { McpServers } from '../tools/mcp/mcp-servers.ts';
import { memoryOwnerOf } from '../tools/memory/memory-places.ts';
import { createOwnerMemoryTool } from '../tools/memory/owner-memory-tool.ts';
import { createClarifyTool } from '../tools/people/clarify-tool.ts';
import { createSendFileTool } from '../tools/people/send-file-tool.ts';
import { createTodoTool } from '../tools/people/todo-tool.ts';
import { createSessionSearchTool } from '../tools/search/session-search-tool.ts';
import { createSkillTools } from '../tools/skills/skill-tools.ts';
import type { SkillShelf } from '../tools/skills/skill-shelf.ts';
import { SandboxError, type Sandbox } from '../tools/sandbox.ts';
import type { SandboxChoice, SandboxChooser } from '../tools/sandbox/choose-sandbox.ts';
import { createProcessTool } from '../tools/terminal/process-tool.ts';
import { createTerminalHolding } from '../tools/terminal/terminal-holding.ts';
import { createTerminal } from '../tools/terminal/terminal-tool.ts';
import { createProcessWatch } from '../tools/terminal/watch-processes.ts';
import type { TellSession, Tool } from '../tools/tool.ts';
import { createWebExtractTool } from '../tools/web/web-extract-tool.ts';
import { createWebSearchTool } from '../tools/web/web-search-tool.ts';
import { browsersFolder, runFolder, spoolsFolder } from './home-folders.ts';
import { buildMcp } from './build-mcp.ts';
import { createNetworkWays } from './network-ways.ts';
import { recentlySaid } from './recently-said.ts';
import type { ConfigSource } from './open-config.ts';
import { openSkillShelf, skillDiff } from './skills-admin.ts';

export interface ToolboxDeps {
  readonly home: string;
  readonly config: ConfigSource;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly store: Store;
  readonly log: Log;
  readonly tell: TellSession;
  /** Whether a session is the owner's own, on whichever channel. */
  readonly isOwners: (sessionId: SessionId) => Promise<boolean>;
  /** Takes known secrets out of a text. */
  readonly redact?: (text: string) => string;
  readonly extraTools?: readonly Tool[];
}

/** What is known of the sandbox without waiting. */
export type SandboxState = SandboxChoice | { readonly kind: 'not-yet-proved' };

export interface Toolbox {
  /** All of our own for agents with these inputs, whatever the toolset. */
  build(inputs: ToolInputs): readonly Tool[];
  readonly mcp: McpServers;
  /** Those of MCP servers. */
  others(): readonly Tool[];
  /** Another number for other tools of MCP servers. */
  generation(): number;
  readonly holdings: readonly Holding[];
  readonly checkpoints: Checkpoints;
  readonly placeReceived: PlaceReceived;
  readonly skills: SkillShelf;
  readonly gate: Gate;
  readonly sandbox: () => SandboxState;
  /** Proves the sandbox if that was not done yet. */
  proveSandbox(): Promise<SandboxChoice>;
  /** What can wait until messages are taken: looks after what earlier processes left, and proves the sandbox. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export type ToolInputs = Pick<
  RebuildInputs,
  `terminal.${'backend' | 'timeout_s' | 'network' | 'folders' | 'env' | 'docker_image' | 'ssh_target'}`
>;

export function createToolbox(deps: ToolboxDeps): Toolbox {
  const { home, config, env, clock, store, log, tell } = deps;
  const spoolRoot = join(home, spoolsFolder);
  const gate = buildGate(deps);
  const egress = lazyEgress(config);
  const ways = createNetworkWays({ folder: join(home, runFolder, 'net'), egress, clock, log });
  const sandboxes = createSandboxes(home);
  const watch = createProcessWatch({ clock, log, spoolRoot, tell });
  const mcp = buildMcp({
    home,
    config: config.current,
    env,
    gate,
    clock,
    random: systemRandom,
    log,
    sandbox: () => sandboxes.take(sandboxSettings(config)),
    proxySocket: ways.open,
    egress,
  });
  const browser = createBrowserTools({
    clock,
    root: join(home, browsersFolder),
    nodePath: process.execPath,
    findChromium: async () => {
      const { findChromium } = await import('../tools/browser/find-chromium.ts');
      return findChromium({ configured: config.current().browser.path, env });
    },
    sandbox: () => sandboxes.take(sandboxSettings(config)),
    startProxy: async (socketPath) => {
      const { startEgressProxy } = await import('../tools/egress/egress-proxy.ts');
      return startEgressProxy({ egress, mayReach: () => true, socketPath, login: null });
    },
    gate,
  });
  const files = createFileTools({
    home,
    clock,
    gate,
    roots: () => config.current().files.roots.map((root) => resolve(home, root)),
    checkpointDays: () => (config.current().files.checkpoints ? config.current().files.checkpoint_days : null),
  });
  const skills = openSkillShelf(home, () => config.current().skills.disabled);
  const shared: readonly Tool[] = [
    ...createSkillTools({
      shelf: skills,
      gate,
      diff: skillDiff,
      asksAlways: () => config.current().skills.write_approval,
      isOwners: deps.isOwners,
    }),
    ...files.tools,
    createOwnerMemoryTool({
      home,
      gate,
      ownerOf: async (sessionId) => {
        const session = await store.read.session(sessionId);
        return session === null ? null : memoryOwnerOf(session, config.current().memory.shared_with);
      },
      asksAlways: () => config.current().memory.write_approval,
      said: (sessionId) => recentlySaid(store.read, sessionId),
      holdsSecret: (text) => deps.redact !== undefined && deps.redact(text) !== text,
    }),
    createSessionSearchTool({
      search: store.search,
      session: store.read.session,
      sessionByName: store.read.sessionByName,
      entries: store.read.entries,
    }),
    createTodoTool(),
    createClarifyTool({ clock }),
    createSendFileTool({ openForReading: files.openForReading }),
    createWebSearchTool({
      egress,
      settings: () => {
        const { search, api_key: key, search_url: baseUrl } = config.current().web;
        return { search, key, baseUrl, env: config.environment() };
      },
    }),
    createWebExtractTool({ egress, gate }),
    ...browser.tools,
    createProcessTool({ clock, gate }),
    ...(deps.extraTools ?? []),
  ] as readonly Tool[];
  const judge = createCommandJudge();

  return {
    build(inputs) {
      const folders = (inputs['terminal.folders'] ?? []).map((folder) => resolve(home, folder));
      const allowedHosts = inputs['terminal.network'] ?? [];
      const placeOf = (where: TerminalPlace): CommandPlace => ({
        level: where.isOutside ? 'none' : where.level,
        gaps: where.isOutside ? [] : where.gaps,
        cwd: where.cwd,
        workspace: where.workspace,
        writable: folders,
        home: env['HOME'] ?? homedir(),
        talariaHome: home,
        isCaseBlind: process.platform === 'darwin',
        ownPids: [process.pid],
      });
      const terminal = createTerminal({
        clock,
        defaultTimeoutMs: (inputs['terminal.timeout_s'] ?? 180) * 1_000,
        env,
        envNames: inputs['terminal.env'] ?? [],
        folders,
        readable: [skills.folder, skills.builtInFolder],
        hidden: [home],
        sandbox: () => sandboxes.take(inputs),
        allowedHosts,
        network: async (_sessionId: SessionId, hosts: readonly string[]) => {
          const all = [...allowedHosts, ...hosts];
          return all.length === 0 ? 'off' : { proxySocket: await ways.open(all) };
        },
        gate,
        judge: (command, where) => judge.judge(command, placeOf(where)),
        filesOf: (command, where) => judge.filesOf(command, placeOf(where)),
        onBackground: watch.add,
      });
      return [terminal, ...shared];
    },
    others: mcp.tools,
    generation: mcp.generation,
    mcp,
    holdings: [createTerminalHolding({ clock, spoolRoot }), browser.holding],
    checkpoints: files.checkpoints,
    placeReceived: files.placeReceived,
    skills,
    gate,
    sandbox: sandboxes.peek,
    proveSandbox: () => sandboxes.choose(sandboxSettings(config)),
    async settle() {
      mcp.start();
      await ways.start();
      await watch.start();
      await browser.resume();
      await sandboxes.tidy(clock.now());
      await sandboxes.choose(sandboxSettings(config));
      await files.checkpoints.prune();
    },
    async close() {
      watch.close();
      await mcp.close();
      await browser.detach();
      await ways.close();
    },
  };

  function buildGate({ config: source }: ToolboxDeps): Gate {
    const approvals = () => source.current().approvals;
    return createGate({
      grants: { isGranted: (id, kind, subject) => store.read.isGranted(id, kind, subject), add: store.addGrant },
      mode: () => approvals().mode,
      timeoutMs: () => approvals().timeout_s * 1_000,
      unattended: () => approvals().unattended,
      clock,
      judgeByModel: (plan, { consult }) =>
        createModelJudge({
          ask: async ({ system, user }) => (await consult?.(system, user)) ?? 'unsure',
          newMark: () => crypto.randomUUID(),
        })(plan),
    });
  }
}

/** Where a command would run, as the terminal knows it. */
type TerminalPlace = Parameters<Parameters<typeof createTerminal>[0]['judge']>[1];

type SandboxInputs = Pick<ToolInputs, `terminal.${'backend' | 'docker_image' | 'ssh_target'}`>;

function sandboxSettings(config: ConfigSource): SandboxInputs {
  const { backend, docker_image: image, ssh_target: target } = config.current().terminal;
  return { 'terminal.backend': backend, 'terminal.docker_image': image, 'terminal.ssh_target': target };
}

/** The sandbox for the settings that were asked for last; another choice is proved anew. */
function createSandboxes(home: string) {
  const stateFolder = join(home, runFolder, 'sandbox');
  let newest: { readonly made: string; readonly chooser: Promise<SandboxChooser>; known?: SandboxChooser } | null =
    null;
  const chooserFor = (inputs: SandboxInputs): Promise<SandboxChooser> => {
    const settings = {
      backend: inputs['terminal.backend'] ?? 'auto',
      dockerImage: inputs['terminal.docker_image'] ?? '',
      sshTarget: inputs['terminal.ssh_target'],
    };
    const made = JSON.stringify(settings);
    if (newest?.made === made) return newest.chooser;
    const chooser = import('../tools/sandbox/choose-sandbox.ts').then(({ createSandboxChooser }) =>
      createSandboxChooser({ stateFolder, nodePath: process.execPath }, settings),
    );
    const entry: NonNullable<typeof newest> = { made, chooser };
    newest = entry;
    void chooser.then((known) => (entry.known = known));
    return chooser;
  };
  const choose = async (inputs: SandboxInputs): Promise<SandboxChoice> => (await chooserFor(inputs)).choose();
  return {
    choose,
    /** Removes what sandboxes left that were killed. */
    async tidy(now: number): Promise<void> {
      const [{ cleanGuards }, { pruneStateFiles }] = await Promise.all([
        import('../tools/sandbox/hold-guards.ts'),
        import('../tools/sandbox/state-files.ts'),
      ]);
      await cleanGuards(stateFolder);
      await pruneStateFiles(stateFolder, now);
    },
    peek: (): SandboxState => newest?.known?.peek() ?? { kind: 'not-yet-proved' },
    async take(inputs: SandboxInputs): Promise<Sandbox> {
      const choice = await choose(inputs);
      if (choice.kind === 'refused') throw new SandboxError(choice.message);
      return choice.sandbox;
    },
  };
}

/** Loaded with the first request. */
function lazyEgress(config: ConfigSource): Egress {
  let loaded: Promise<Egress> | null = null;
  const load = () =>
    (loaded ??= import('../tools/egress/create-egress.ts').then(({ createEgress }) =>
      createEgress({ privateHosts: () => config.current().web.private_hosts }),
    ));
  return {
    fetch: async (request) => (await load()).fetch(request),
    connect: async (host, port, signal) => (await load()).connect(host, port, signal),
  };
}
