/**
 * The configuration in force, as the parts ask for it: it may change under them while they run. A mistake in the file
 * at the start is refused, with all that is wrong said at once. Its secrets are made known to the log first.
 */
import { openLiveConfig } from '../config/live-config.ts';
import type { Environment } from '../config/environment.ts';
import type { GoodConfig } from '../config/load.ts';
import { ConfigError, formatProblem } from '../config/problem.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Redactor } from '../lib/redact.ts';
import { AppError } from './app-error.ts';

export interface ConfigSource {
  readonly path: string;
  current(): Config;
  /** `.env` and the process's own variables together; another object whenever they were read anew. */
  environment(): Environment;
  /** Mistakes in the file on disk, one line each; empty while it is the file in force. */
  problems(): readonly string[];
  /** What the file asks for that this version can't do, one line each. */
  warnings(): readonly string[];
  loadedAt(): number;
  close(): void;
}

export interface OpenConfigOptions {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly log: Log;
}

export async function openConfig(options: OpenConfigOptions): Promise<ConfigSource> {
  const learnSecrets = (loaded: GoodConfig) => loaded.secrets.forEach((secret) => options.redactor.add(secret));
  try {
    const live = await openLiveConfig({ ...options, onChange: learnSecrets });
    learnSecrets(live.loaded());
    return {
      path: live.path,
      current: () => live.current(),
      environment: () => live.loaded().environment,
      problems: () => live.problems().map(formatProblem),
      warnings: () => live.warnings().map(formatProblem),
      loadedAt: () => live.loadedAt(),
      close: () => live.close(),
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [first, ...others] = error.problems.map(formatProblem);
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    throw new AppError(`${first}${more}. Mend it and look again with: talaria config check`, { cause: error });
  }
}
