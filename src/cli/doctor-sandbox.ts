/** The doctor's look at the sandbox: which one proves itself here, and what would make it better. */
import { checkSandbox } from '../app/check-sandbox.ts';
import type { Config } from '../config/schema.ts';
import { bad, good, warn, type Finding } from './doctor-finding.ts';

export async function checkCommands(home: string, config: Config): Promise<Finding[]> {
  const { severity, lines, fix } = await checkSandbox(home, config);
  const what = `sandbox: ${lines.join(' ')}`;
  if (severity === 'broken')
    return [bad(`commands can't be run: ${lines.join(' ')}`, fix ?? 'see docs/guides/sandbox.md')];
  if (severity === 'weak') return [warn(what, fix ?? 'see docs/guides/sandbox.md')];
  return [good(what)];
}
