/**
 * Whether a sandbox keeps what it promises on this machine, found out by doing: a program inside tries everything that
 * must not work, and an everyday command must work. Only what passes all of it is used. The result holds until the
 * machine starts anew or one of the programs changes, see `proof-cache.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError, type Sandbox, type SandboxCheck, type SandboxProof, type SandboxRequest } from '../sandbox.ts';
import { probeArguments, readFindings, shellProbe, type ProbeFindings } from './probe-script.ts';
import { setProbeStage, type ProbeStage } from './probe-stage.ts';
import { runBriefly, type BriefRun } from './run-briefly.ts';

const runMs = 10_000;
/** A process that is being killed may be seen for a moment. */
const leftBehindMs = 1_000;
const everydayCode = 7;

export interface ProofInput {
  readonly stateFolder: string;
  readonly nodePath: string;
}

export async function proveSandbox(sandbox: Sandbox, { stateFolder, nodePath }: ProofInput): Promise<SandboxProof> {
  const stage = await setProbeStage(stateFolder);
  try {
    const request: Omit<SandboxRequest, 'argv'> = {
      cwd: stage.work,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent' },
      writable: [stage.work],
      readable: sandbox.level === 'docker' ? [] : [nodePath],
      hidden: [],
      network: 'off',
    };
    const everyday = await runBriefly(await sandbox.wrap({ ...request, argv: everydayCommand(sandbox) }), runMs);
    if (!isEveryday(everyday)) {
      return {
        level: sandbox.level,
        missing: null,
        checks: [{ name: 'runs commands', passed: false, detail: whatWentWrong(everyday) }],
      };
    }
    // On another machine there is nothing of this one to reach.
    if (!sandbox.sharesFiles) return { level: sandbox.level, missing: null, checks: [passed('runs commands')] };
    if (sandbox.level === 'docker') return await proveByShell(sandbox, stage, request);
    const probe = await runBriefly(
      await sandbox.wrap({ ...request, argv: probeArguments(nodePath, stage.targets) }),
      runMs,
    );
    return {
      level: sandbox.level,
      missing: null,
      checks: [passed('runs commands'), ...(await judgeProbe(stage, probe))],
    };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { level: sandbox.level, missing: error.message, checks: [] };
  } finally {
    await stage.end();
  }
}

/** An image need not have Node: the shell tries what a shell can. */
async function proveByShell(
  sandbox: Sandbox,
  stage: ProbeStage,
  request: Omit<SandboxRequest, 'argv'>,
): Promise<SandboxProof> {
  const argv = ['/bin/sh', '-c', shellProbe(stage.targets)];
  const run = await runBriefly(await sandbox.wrap({ ...request, argv }), runMs);
  const findings: ProbeFindings = {
    secret: run.stdout,
    settings: [],
    signalled: [],
    seen: [],
    isDone: run.stdout.includes('probe-done'),
  };
  const checks = findings.isDone ? await judge(stage, findings) : [failedProbe(run)];
  return { level: sandbox.level, missing: null, checks: [passed('runs commands'), ...checks] };
}

/** `excepted`: checks that a level is known not to pass. */
export function isProved({ missing, checks }: SandboxProof, excepted: readonly string[] = []): boolean {
  return missing === null && checks.length > 0 && checks.every(({ name, passed: is }) => is || excepted.includes(name));
}

/** Writes and reads in the workspace and in /tmp, uses a pipeline, ends with a code of its own. */
function everydayCommand({ sharesFiles }: Sandbox): string[] {
  // On another machine there is no workspace for it that would be thrown away.
  const [start, end] = sharesFiles ? [':', ':'] : ['cd "$(mktemp -d)"', 'rm -rf "$PWD"'];
  const file = '"${TMPDIR:-/tmp}/$$"';
  const write = `mkdir -p folder && printf 'hello\\n' | sed s/hello/HELLO/ >folder/file && cat folder/file >${file}`;
  return ['/bin/sh', '-c', `${start} && ${write} && cat ${file} && rm ${file} && ${end} && exit ${everydayCode}`];
}

function isEveryday({ code, stdout }: BriefRun): boolean {
  return code === everydayCode && stdout === 'HELLO\n';
}

function whatWentWrong({ code, stderr }: BriefRun): string {
  const said = stderr.trim().split('\n')[0]?.slice(0, 300) ?? '';
  return said === '' ? `it ended with ${code ?? 'a signal'}` : said;
}

const passed = (name: string): SandboxCheck => ({ name, passed: true, detail: '' });

const failedProbe = (run: BriefRun): SandboxCheck => ({
  name: 'runs the probe',
  passed: false,
  detail: whatWentWrong(run),
});

async function judgeProbe(stage: ProbeStage, run: BriefRun): Promise<SandboxCheck[]> {
  const findings = readFindings(run.stdout);
  return findings === null ? [failedProbe(run)] : judge(stage, findings);
}

async function judge(stage: ProbeStage, findings: ProbeFindings): Promise<SandboxCheck[]> {
  const { work } = stage.targets;
  const written = await stage.readWritten();
  const inWork = written.filter((path) => path.startsWith(`${work}/`));
  const elsewhere = written.filter((path) => !inWork.includes(path));
  const isVictimHurt = !stage.isVictimAlive() || findings.signalled.length > 0;
  // A datagram is read by this process only when it comes to its sockets.
  await sleep(10);
  const check = (name: string, problem: string | false): SandboxCheck => ({
    name,
    passed: problem === false,
    detail: problem || '',
  });
  return [
    check('writes nothing outside', elsewhere.length > 0 && `it wrote ${elsewhere.join(', ')}`),
    check(
      'leaves protected files alone',
      inWork.length > 0 && `it wrote ${inWork.map((path) => path.slice(work.length + 1)).join(', ')}`,
    ),
    check('reads no secret', findings.secret.includes(stage.secret) && 'it read the file'),
    ...['TCP', 'UDP', 'a Unix socket', 'an abstract Unix socket'].map((name) =>
      check(`reaches nothing by ${name}`, stage.hits.has(name) && 'the listener was reached'),
    ),
    check(
      'changes no setting of the kernel',
      findings.settings.length > 0 && `it could write ${findings.settings.join(', ')}`,
    ),
    check('signals nobody outside', isVictimHurt && 'a process outside got a signal'),
    check('sees no process outside', findings.seen.length > 0 && 'it saw a process and its environment'),
    check('leaves no process behind', (await staysBehind(stage)) && 'a process was still there after the command'),
  ];
}

async function staysBehind(stage: ProbeStage): Promise<boolean> {
  const deadline = performance.now() + leftBehindMs;
  while (await stage.isLeftBehind()) {
    if (performance.now() > deadline) return true;
    await sleep(10);
  }
  return false;
}
