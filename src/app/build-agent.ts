/** An agent as the configuration wants it at this moment: model, tools, limits, and how its prompt begins. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSystemPrompt } from '../agent/system-prompt.ts';
import type { Agent } from '../agent/turn-deps.ts';
import { workspacePath } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import type { Clock } from '../lib/clock.ts';
import { createFileTools } from '../tools/files/file-tools.ts';
import type { Tool } from '../tools/tool.ts';
import { createToolRegistry } from '../tools/registry.ts';
import { createTerminalTool } from '../tools/terminal/terminal-tool.ts';
import { buildModel } from './build-model.ts';

const crashesMax = 3;
export const memoriesFolder = 'memories';
/** What calls leave behind that outlives the process: a folder for each session. */
export const spoolsFolder = 'spool';
const memoryFile = join(memoriesFolder, 'MEMORY.md');

export interface BuildAgentOptions {
  readonly home: string;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Tools that must be one for the whole process, because they guard something shared. */
  readonly sharedTools: readonly Tool[];
}

export async function buildAgent({ home, config, env, clock, sharedTools }: BuildAgentOptions): Promise<Agent> {
  const workspace = workspacePath(home, config);
  const tools = createToolRegistry([
    createTerminalTool({ clock, env, defaultTimeoutMs: config.terminal.timeout_s * 1_000 }),
    ...createFileTools(),
    ...sharedTools,
  ]);
  return {
    model: await buildModel(config, clock),
    tools,
    limits: {
      modelCallsMax: config.agent.max_iterations,
      crashesMax,
      joinWaiting: config.gateway.busy_mode === 'steer',
    },
    modelRetriesMax: config.agent.api_max_retries,
    workspace,
    spoolFolder: (sessionId) => join(home, spoolsFolder, sessionId),
    async keepResult(sessionId, callId, text) {
      const folder = join(home, spoolsFolder, sessionId);
      const path = join(folder, `${callId}.txt`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomically(path, text, { mode: 0o600 });
      return path;
    },
    async buildHead() {
      const [soul, memory] = await Promise.all([
        readIfThere(join(home, 'SOUL.md')),
        readIfThere(join(home, memoryFile)),
      ]);
      const day = new Date(clock.now()).toISOString().slice(0, 10);
      return { systemPrompt: buildSystemPrompt({ soul, memory, workspace, day }), tools: tools.definitions() };
    },
  };
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return null;
  }
}
