/** An agent from its inputs, and the settings of a turn: models, tools, limits, and how its prompt begins. */
import { constants, mkdir, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RebuildInputs, TurnInputs } from '../agent/agent-inputs.ts';
import { RuntimeChain } from '../agent/runtime-chain.ts';
import { RuntimeClients } from '../agent/runtime-clients.ts';
import { joinSections, promptSections } from '../agent/system-prompt.ts';
import type { Agent, TurnSettings } from '../agent/turn-deps.ts';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import type { Clock } from '../lib/clock.ts';
import { localDay } from '../lib/local-day.ts';
import type { OpenModel } from '../models/model.ts';
import type { SessionSettings } from '../protocol/api.ts';
import { readProjectFile } from '../tools/project-file.ts';
import { projectText } from '../tools/project-text.ts';
import type { PlaceReceived } from '../tools/files/place-received.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Runtimes } from './build-runtimes.ts';
import { spoolsFolder } from './home-folders.ts';

const crashesMax = 3;
/** Of a file whose words go into the prompt, where they are cut by characters. */
const promptFileBytesMax = 256 * 1024;

export interface BuildAgentOptions {
  readonly home: string;
  readonly inputs: RebuildInputs;
  readonly runtimes: Runtimes;
  readonly openModel: OpenModel;
  readonly clock: Clock;
  /** The one that the session is on. */
  readonly channel: string;
  /** What the session's people had remembered, for a prompt that begins now. */
  readonly memory: () => Promise<string>;
  /** The index of skills for a prompt that begins now. */
  readonly skills: () => Promise<string>;
  /** Takes known secrets out of a text. */
  readonly redact?: (text: string) => string;
  /** Those of the toolsets in `inputs`. */
  readonly tools: ToolRegistry;
  readonly placeReceived: PlaceReceived;
}

export function buildAgent(options: BuildAgentOptions): Agent {
  const { home, inputs, runtimes, clock, tools } = options;
  const workspace = resolve(home, inputs['terminal.cwd'] ?? 'workspace');
  const clients = new RuntimeClients(options.openModel);
  const headTools = { tools: tools.definitions(), toolsets: inputs.toolsets };
  return {
    chain: new RuntimeChain(runtimes.chain, clients),
    clients,
    titler: runtimes.title,
    judge: runtimes.approval ?? runtimes.chain[0],
    seer: runtimes.vision,
    compression: {
      summariser: runtimes.compression,
      targetRatio: inputs['compression.target_ratio'] ?? 0.2,
      protectLastN: inputs['compression.protect_last_n'] ?? 20,
      ...(options.redact === undefined ? {} : { redact: options.redact }),
    },
    tools,
    headTools,
    workspace,
    spoolFolder: (sessionId) => join(home, spoolsFolder, sessionId),
    placeFile: (path, load) => options.placeReceived(workspace, path, load),
    async keepResult(sessionId, callId, text) {
      const folder = join(home, spoolsFolder, sessionId);
      const path = join(folder, `${callId}.txt`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomically(path, text, { mode: 0o600 });
      return path;
    },
    async buildHead() {
      const hasSkills = tools.get('skill_view') !== undefined;
      const [soul, memory, skills, project] = await Promise.all([
        readIfThere(join(home, 'SOUL.md')),
        options.memory(),
        hasSkills ? options.skills() : '',
        readProjectFile(workspace, ''),
      ]);
      const written = promptSections({
        soul,
        tools: headTools.tools.map(({ name }) => name),
        workspace,
        project: project === null ? '' : projectText(project.path, project.content).text,
        memory,
        skills,
        channel: options.channel,
        day: localDay(clock.now()),
      });
      return { ...joinSections(written), ...headTools };
    },
    async folderNote(folder) {
      const file = await readProjectFile(workspace, folder);
      if (file === null) return null;
      const { text, findings } = projectText(file.path, file.content);
      return { path: file.path, text, isSuspicious: findings.length > 0 };
    },
  };
}

/** Channels where people answer within minutes; elsewhere a prompt is worth keeping for longer. */
const briskChannels: ReadonlySet<string> = new Set(['cli', 'web', 'api']);

export function turnSettings(
  inputs: TurnInputs,
  session: { readonly channel: string; readonly settings: SessionSettings; readonly namesSessions: boolean },
): TurnSettings {
  return {
    limits: {
      modelCallsMax: inputs['agent.max_iterations'] ?? 90,
      crashesMax,
      joinWaiting: inputs['gateway.busy_mode'] === 'steer',
      namesSessions: session.namesSessions,
    },
    effort: session.settings.effort ?? inputs['agent.reasoning_effort'],
    cachePace: briskChannels.has(session.channel) ? 'short' : 'long',
    modelRetriesMax: inputs['agent.api_max_retries'] ?? 3,
    troubleMaxMs: (inputs['agent.trouble_deadline_s'] ?? 900) * 1_000,
    budget: { sessionUsd: inputs['budget.session_usd'] ?? 0, dayUsd: inputs['budget.day_usd'] ?? 0 },
  };
}

/** The beginning of a file of the home; null if there is none. */
async function readIfThere(path: string): Promise<string | null> {
  // Not to wait for the other end of a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(promptFileBytesMax), 0, promptFileBytesMax, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}
