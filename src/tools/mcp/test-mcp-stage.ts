/** Servers for a test: each scripted, started without a sandbox, ended when the test ends; and a gate that notes what it is asked. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { createLog } from '../../lib/log.ts';
import { seededRandom } from '../../lib/random.ts';
import { createRedactor } from '../../lib/redact.ts';
import type { Gate, Plan } from '../approval.ts';
import { fakeToolContext } from '../fake-tool-context.ts';
import { EgressError, type Egress } from '../egress.ts';
import { SandboxError } from '../sandbox.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import type { McpServerSettings } from './mcp-server.ts';
import { createMcpServers, type McpServers } from './mcp-servers.ts';
import type { Script } from './test-scripted-server.ts';

/** Waits are shortened, so that a server is connected again while the test looks on. */
const hurried: Clock = {
  now: systemClock.now,
  setTimer: (delayMs, callback) => systemClock.setTimer(delayMs / 20, callback),
};

export function serverSettings(settings: Partial<McpServerSettings>): McpServerSettings {
  return {
    command: null,
    args: [],
    env: {},
    url: null,
    headers: {},
    enabled: true,
    include: null,
    exclude: [],
    timeout_s: 10,
    auth: 'none',
    sandbox: false,
    folders: [],
    network: [],
    ...settings,
  };
}

/** A gate that asks about everything it is shown, or says the same to all. */
export interface NotingGate extends Gate {
  readonly plans: Plan[];
  answer: 'ask' | 'go' | 'refuse';
}

export function notingGate(): NotingGate {
  const plans: Plan[] = [];
  return {
    plans,
    answer: 'ask',
    async consider(plan) {
      plans.push(plan);
      if (this.answer === 'go') return { kind: 'go' };
      if (this.answer === 'refuse') return { kind: 'refuse', text: 'refused' };
      const question = { text: plan.shown, choices: ['yes', 'no'], deadline: 0, isApproval: true, plan: plan.frozen };
      return { kind: 'ask', question: { ...question, isApproval: true } };
    },
    async settle(asked, answer) {
      return answer === 'yes'
        ? { kind: 'go', frozen: asked.plan ?? '' }
        : { kind: 'refuse', text: 'the person said no' };
    },
  };
}

export interface McpStage {
  readonly home: string;
  readonly workspace: string;
  readonly gate: NotingGate;
  readonly logLines: string[];
  /** What the next `open` has; a new object is a changed configuration. */
  servers: Record<string, McpServerSettings>;
  /** Writes a script and gives the settings of a server that follows it. */
  scripted(name: string, script: Script, settings?: Partial<McpServerSettings>): Promise<McpServerSettings>;
  rewrite(name: string, script: Script): Promise<void>;
  /** What happened to a server. */
  notes(name: string): Promise<string[]>;
  /** As after a start of the program. */
  open(): McpServers;
}

export const noWayOut: Pick<Egress, 'fetch'> = {
  fetch: () => Promise.reject(new EgressError('forbidden', 'There is no way out in this test.')),
};

export async function mcpStage(test: TestContext): Promise<McpStage> {
  const home = await mkdtemp(join(tmpdir(), 'talaria-mcp-'));
  const workspace = join(home, 'workspace');
  await mkdir(workspace);
  const opened: McpServers[] = [];
  test.after(async () => {
    await Promise.all(opened.map((servers) => servers.close()));
    await rm(home, { recursive: true, force: true });
  });
  const logLines: string[] = [];
  const gate = notingGate();
  const stage: McpStage = {
    home,
    workspace,
    gate,
    logLines,
    servers: {},
    async scripted(name, script, settings = {}) {
      await mkdir(join(home, name), { recursive: true });
      await stage.rewrite(name, script);
      const program = join(import.meta.dirname, 'test-scripted-server.ts');
      return serverSettings({ command: process.execPath, args: [program, join(home, name)], ...settings });
    },
    rewrite: (name, script) => writeFile(join(home, name, 'script.json'), JSON.stringify(script)),
    async notes(name) {
      const text = await readFile(join(home, name, 'notes'), 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line !== '');
    },
    open() {
      const servers = createMcpServers({
        home,
        servers: () => stage.servers,
        workspace: () => workspace,
        baseEnv: () => ({ PATH: process.env['PATH'] ?? '' }),
        sandbox: () => Promise.reject(new SandboxError('There is no sandbox in this test.')),
        proxySocket: () => Promise.reject(new SandboxError('There is no proxy in this test.')),
        egress: noWayOut,
        gate,
        clock: hurried,
        random: seededRandom(1),
        log: createLog({
          clock: systemClock,
          redactor: createRedactor(),
          level: 'debug',
          writeLine: (line) => logLines.push(line),
        }),
      });
      opened.push(servers);
      return servers;
    },
  };
  return stage;
}

export async function until(what: string, isSo: () => boolean | Promise<boolean>, limitMs = 15_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function ready(servers: McpServers): Promise<void> {
  servers.start();
  await until('all servers are ready', () =>
    servers.states().every(({ state }) => state === 'ready' || state === 'off'),
  );
}

export function toolNamed(servers: McpServers, name: string): Tool {
  const tool = servers.tools().find(({ definition }) => definition.name === name);
  if (tool === undefined)
    throw new Error(
      `there is no ${name} in ${servers
        .tools()
        .map((one) => one.definition.name)
        .join(', ')}`,
    );
  return tool;
}

export function context(stage: McpStage, more: Partial<ToolContext> = {}): ToolContext {
  return { ...fakeToolContext(stage.workspace, more.signal), ...more };
}

/** A call as the agent makes it. */
export async function use(servers: McpServers, name: string, input: object, where: ToolContext): Promise<ToolOutcome> {
  const tool = toolNamed(servers, name);
  const parsed = tool.parse(input);
  if (!parsed.ok) throw new Error(parsed.problem);
  return tool.run(parsed.value, where);
}

/** The same call goes on after a person's answer. */
export async function answer(
  servers: McpServers,
  name: string,
  input: object,
  asked: ToolOutcome,
  said: string | null,
  where: ToolContext,
): Promise<ToolOutcome | undefined> {
  if (asked.kind !== 'ask') throw new Error(`nothing was asked: ${JSON.stringify(asked)}`);
  return toolNamed(servers, name).answered?.(input, said, where, asked);
}
