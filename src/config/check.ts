/**
 * The text of config.yaml to a configuration, or to all of its mistakes at once. The parser and the schema are loaded
 * only if the file says something, so that a start without a configuration does not pay for them.
 */
import type { CheckedConfig } from './check-written-config.ts';
import { decodeText } from './decode-text.ts';
import { defaultConfig } from './default-config.ts';
import type { Environment } from './environment.ts';
import { configFileName } from './problem.ts';

/** Of each file. Ten thousand lines; the parser's time grows with the square of them. */
export const configBytesMax = 256_000;

/** `environment` is what `${NAME}` reads: the process's own variables over those of `.env`. Never throws. */
export async function checkConfigText(input: string | Uint8Array, environment: Environment): Promise<CheckedConfig> {
  const decoded = decodeText(input, configBytesMax);
  if (decoded.kind === 'unreadable') {
    const problem = { file: configFileName, ...decoded.position, path: '', message: decoded.message } as const;
    return { config: null, problems: [problem], warnings: [], secrets: [] };
  }
  if (isBlank(decoded.text)) return { config: defaultConfig, problems: [], warnings: [], secrets: [] };
  const [{ checkWrittenConfig }, yaml] = await Promise.all([import('./check-written-config.ts'), import('yaml')]);
  return checkWrittenConfig(yaml, decoded.text, environment);
}

/** Nothing but white space and comments. */
function isBlank(text: string): boolean {
  return text.split('\n').every((line) => /^[ \t\r]*(#|$)/.test(line));
}
