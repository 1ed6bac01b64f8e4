/** The doctor's look at the sandbox and the browser: what works here, and what would make it better. */
import { checkSandbox, type SandboxReport } from '../app/check-sandbox.ts';
import type { Config } from '../config/schema.ts';
import { bad, good, warn, type Finding } from './doctor-finding.ts';

const guide = 'see docs/guides/sandbox.md';

export async function checkTools(home: string, config: Config, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { commands, browser } = await checkSandbox(home, config, env);
  return [commandFinding(commands), browserFinding(browser)];
}

function commandFinding({ severity, lines, fix }: SandboxReport['commands']): Finding {
  const what = lines.join(' ');
  if (severity === 'broken') return bad(`commands can't be run: ${what}`, fix ?? guide);
  return severity === 'weak' ? warn(`sandbox: ${what}`, fix ?? guide) : good(`sandbox: ${what}`);
}

function browserFinding({ isUsable, text }: SandboxReport['browser']): Finding {
  return isUsable ? good(`browser: ${text}`) : warn('there is no browser for the agent', text);
}
