/** `talaria doctor`: looks at everything Talaria needs, one line for each finding, with a fix where there is one. */
import { resolveHome } from '../config/home.ts';
import { loadConfig } from '../config/load.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { checkChannels, checkConfiguration, checkModels, checkWorkspace } from './doctor-config.ts';
import { checkDiskSpace, checkHome, checkNode } from './doctor-machine.ts';
import { bad, type Finding } from './doctor-finding.ts';
import { checkPort, checkStore } from './doctor-store.ts';
import { findRunningGateway } from './running-gateway.ts';
import { printable } from '../tui/printable.ts';
import type { Style } from '../tui/style.ts';
import { describeError } from './report-error.ts';

export async function doctorCommand(context: CommandContext): Promise<ExitCode> {
  const { streams, env, interrupt } = context;
  const home = resolveHome(env);
  let hasFailed = false;
  const report = async (findings: readonly Finding[]) => {
    interrupt.throwIfAborted();
    hasFailed ||= findings.some((finding) => finding.verdict === 'bad');
    const lines = findings.map((finding) => `${line(finding, streams.outStyle)}\n`);
    if (lines.length > 0) await streams.write(lines.join(''));
  };

  await report([checkNode(process.versions.node)]);
  const homeFindings = await checkHome(home);
  await report(homeFindings);
  // What is inside a home that can't be used would only repeat the same finding in other words.
  if (homeFindings.some((finding) => finding.verdict === 'bad')) return exitCodes.failed;
  await report(await checkDiskSpace(home));

  const loaded = await loadConfig({ home, env });
  await report(checkConfiguration(home, loaded));
  const gateway = await findRunningGateway(home, context);
  await report(await checkStore(home, loaded.config, gateway));
  if (loaded.config !== null) {
    const { config } = loaded;
    await report(await checkWorkspace(home, config));
    const { checkSkills } = await import('./doctor-skills.ts');
    await report(await look('the skills', checkSkills(home, config)));
    const { checkTools } = await import('./doctor-sandbox.ts');
    await report(await look('the sandbox', checkTools(home, config, env)));
    await report(await checkPort(config, gateway));
    await report(await checkModels(config, loaded.environment, interrupt));
    await report(await checkChannels(config));
  }
  return hasFailed ? exitCodes.failed : exitCodes.ok;
}

/** What keeps one thing from being looked at (a full disk) is a finding, and the others are looked at all the same. */
async function look(what: string, findings: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await findings;
  } catch (error) {
    return [bad(`${what} could not be looked at`, describeError(error))];
  }
}

function line({ verdict, what, fix }: Finding, style: Style): string {
  const marks = { good: style.green('✓'), warn: style.yellow('!'), bad: style.red('✗') };
  return `${marks[verdict]} ${printable(what)}${fix === undefined ? '' : style.dim(`  → ${printable(fix)}`)}`;
}
