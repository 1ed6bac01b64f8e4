/**
 * Begins what a call wishes for: finds or starts the session's host, puts the request on the disk, and starts the
 * supervisor that has to win the claim. Only what is outside, or in a sandbox with files of its own, is started by the
 * supervisor itself.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError, type Sandbox } from '../sandbox.ts';
import type { ToolContext } from '../tool.ts';
import type { CallSpool, SpooledRequest } from './call-spool.ts';
import { startProblem } from './command-outcome.ts';
import type { CommandWish } from './command-wish.ts';
import { hostLossNotes } from './host-loss.ts';
import { bootId } from '../process-identity.ts';
import { nameProcess, processesMax, processOfCall } from './process-table.ts';
import type { HostPlace, SessionHost, SessionHosts } from './session-host.ts';
import { shellLine, shellScript } from './shell-scripts.ts';
import {
  shellArgv,
  startHosted,
  startSupervisor,
  type StartedSupervisor,
  type SupervisorStart,
} from './start-supervisor.ts';
import type { TerminalDeps } from './terminal-deps.ts';

/** After its deadline a command is ended by whoever follows it; the supervisor does it this much later, if nobody did. */
const supervisorDelayS = 5;

const tooManyProcesses =
  `The command was not started: this session has had ${processesMax} processes in the background, and no more are kept. ` +
  'Run it without background; those that ended long ago make room.';

export interface RunDeps extends TerminalDeps {
  readonly hosts: SessionHosts;
}

export interface Begun {
  readonly request: SpooledRequest;
  readonly host: SessionHost | null;
  /** What the model has to know before it reads the output. */
  readonly notes: readonly string[];
}

export type Beginning =
  | ({ readonly kind: 'started'; readonly supervisor: StartedSupervisor } & Begun)
  | { readonly kind: 'not-started'; readonly problem: string };

export async function beginCommand(
  deps: RunDeps,
  wish: CommandWish,
  context: ToolContext,
  spool: CallSpool,
): Promise<Beginning> {
  try {
    const sandbox = await deps.sandbox();
    const place = await placeFor(deps, wish, context);
    const isHosted = !wish.isOutside && sandbox.sharesFiles;
    const home = isHosted ? await deps.hosts.ensure(sandbox, context.spoolFolder, place) : null;
    const host = home?.host ?? null;
    const notes = home?.isNew === true ? await hostLossNotes(deps.clock, context.spoolFolder, home.host) : [];
    const request = await requestFor(deps, wish, context, host, place.network !== 'off' && !wish.isOutside);
    if (request === null) return { kind: 'not-started', problem: tooManyProcesses };
    await spool.writeRequest(request);
    const start = await (host === null
      ? startDirect(wish, sandbox, place, spool, context)
      : startInHost(wish, host, spool));
    if (start.kind === 'not-started') return { kind: 'not-started', problem: startProblem(start.error) };
    return { kind: 'started', supervisor: start.supervisor, request, host, notes };
  } catch (error) {
    const problem = error instanceof SandboxError ? `The sandbox can't be used: ${error.message}` : startProblem(error);
    return { kind: 'not-started', problem };
  }
}

async function placeFor(deps: RunDeps, wish: CommandWish, context: ToolContext): Promise<HostPlace> {
  return {
    cwd: context.workspace,
    env: wish.environment,
    writable: [context.workspace, ...deps.folders],
    readable: deps.readable,
    hidden: deps.hidden,
    network: wish.isOutside ? 'off' : await deps.network(context.sessionId, wish.hosts),
  };
}

async function requestFor(
  deps: RunDeps,
  wish: CommandWish,
  context: ToolContext,
  host: SessionHost | null,
  isOnline: boolean,
): Promise<SpooledRequest | null> {
  const { command, timeoutMs, notify, isPty } = wish;
  const startedAt = deps.clock.now();
  const known = wish.isBackground ? await processOfCall(context.spoolFolder, context.callId) : null;
  const id = !wish.isBackground
    ? undefined
    : (known?.id ??
      (await nameProcess(context.spoolFolder, {
        callId: context.callId,
        command,
        startedAt,
        notify,
        isOnline,
        isPty,
      })));
  if (id === null) return null;
  return {
    command,
    cwd: wish.cwd ?? '',
    timeoutMs,
    deadlineMs: startedAt + timeoutMs,
    boot: await bootId(),
    ...(host === null ? {} : { host: host.name }),
    ...(id === undefined ? {} : { process: id }),
    ...(isOnline ? { isOnline } : {}),
  };
}

function endAfterS({ timeoutMs }: CommandWish): number {
  return timeoutMs === 0 ? 0 : Math.ceil(timeoutMs / 1000) + supervisorDelayS;
}

async function startInHost(wish: CommandWish, host: SessionHost, spool: CallSpool): Promise<SupervisorStart> {
  const { callId } = spool;
  const give = async (ending: string, text: string) => {
    // Put in place whole: somebody else may be beginning the same call.
    const path = join(spool.folder, `given-${crypto.randomUUID()}`);
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    await rename(path, join(host.wire, `${callId}.${ending}`));
  };
  await give('sh', wish.command);
  if (wish.cwd !== null) await give('cwd', `${wish.cwd}\n`);
  if (wish.stdin !== null) await give('stdin', wish.stdin);
  const input = wish.stdin !== null ? 'f' : wish.isBackground ? 'i' : '';
  const flags = `${input}${wish.isPty ? 'p' : ''}${wish.isBackground ? '' : 'k'}` || '-';
  return startHosted(spool, { callId, flags, wire: host.wire, requests: host.requests }, endAfterS(wish));
}

/** Outside, or in a sandbox that is somewhere else: the supervisor starts it by itself. */
async function startDirect(
  wish: CommandWish,
  sandbox: Sandbox,
  place: HostPlace,
  spool: CallSpool,
  context: ToolContext,
): Promise<SupervisorStart> {
  if (wish.isPty) throw new Error('there is no terminal to be had here; go without pty');
  if (wish.stdin !== null) await writeFile(join(spool.folder, 'stdin'), wish.stdin, { mode: 0o600 });
  const common = { endAfterS: endAfterS(wish) };
  if (wish.isOutside) {
    const cwd = wish.cwd ?? context.workspace;
    return startSupervisor(spool, {
      ...common,
      argv: shellArgv(wish.command, cwd),
      cwd,
      environment: wish.environment,
    });
  }
  // Its state is where it runs: next to nothing is known here about the files of another machine.
  const state = join('.talaria-shell', context.sessionId);
  const flags = wish.isBackground ? '-' : 'k';
  const argv = ['bash', '-c', shellLine, 'bash', shellScript, '', state, flags, wish.command];
  const wrapped = await sandbox.wrap({ ...place, argv });
  return startSupervisor(spool, { ...common, argv: wrapped.argv, cwd: '/', environment: wrapped.env });
}
