/** What is opened once the home is ours: configuration, log, store, and on top of them a composed Talaria. */
import { join } from 'node:path';
import type { Channel } from '../channels/channel.ts';
import { storeFilePath } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/clock.ts';
import { createIdSource, type IdSource } from '../lib/ids.ts';
import { createLog, type Log } from '../lib/log.ts';
import { openLogFile } from '../lib/log-file.ts';
import { systemRandom } from '../lib/random.ts';
import { createRedactor } from '../lib/redact.ts';
import type { HomeLock } from '../store/sqlite/home-lock.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Tool } from '../tools/tool.ts';
import { AppError } from './app-error.ts';
import type { BuildChannelsDeps, PlatformChannels } from './build-channels.ts';
import { compose, type Talaria } from './compose.ts';
import { openConfig, type ConfigSource } from './open-config.ts';

export interface OpenHomeOptions {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** What this process is, for whoever finds the home in use. */
  readonly purpose: string;
  /** The log goes to stderr too. */
  readonly verbose: boolean;
  /** A gateway keeps the disk off its main loop and follows changes of the configuration; a one-shot starts faster. */
  readonly mode: 'gateway' | 'one-shot';
  /** Besides those that the configuration asks for. */
  readonly extraChannels?: readonly Channel[];
  readonly extraTools?: readonly Tool[];
}

export interface OpenedHome {
  readonly talaria: Talaria;
  readonly config: ConfigSource;
  /** What platforms call on the gateway's port. */
  readonly hooks: PlatformChannels['hooks'];
  readonly ids: IdSource;
  readonly lock: HomeLock;
  readonly log: Log;
  /** Lets turns reach a safe point within `graceMs`, then closes everything. Idempotent. */
  close(graceMs: number): Promise<void>;
}

/** What was opened is added to `undo`; the caller closes it if this fails. */
export async function openLockedHome(
  options: OpenHomeOptions,
  lock: HomeLock,
  undo: (() => unknown)[],
): Promise<OpenedHome> {
  const { home, env, mode } = options;
  const redactor = createRedactor();
  const toFile = openLogFile(join(home, 'logs', 'talaria.log'));
  const writeLine = (line: string) => {
    toFile(line);
    if (options.verbose) process.stderr.write(`${line}\n`);
  };
  const clock = systemClock;
  const random = systemRandom;
  const startLog = createLog({ clock, redactor, level: options.verbose ? 'debug' : 'info', writeLine });
  const config = await openConfig({ home, env, clock, redactor, log: startLog });
  undo.push(() => config.close());
  const level = options.verbose ? 'debug' : config.current().log.level;
  const log = createLog({ clock, redactor, level, writeLine });

  const ids = createIdSource({ clock, random });
  const owner = ids.next('nod');
  const writer = mode === 'gateway' ? 'thread' : 'inline';
  const path = storeFilePath(home, config.current());
  if (path === null) throw new AppError('store.url: this version stores in SQLite only; set it to sqlite:state.db.');
  const opened = await openSqliteStore({ path, clock, log, owner, writer });
  undo.push(() => opened.close());
  const faults = env['TALARIA_FAULT'];
  // For the tests that kill this program at every step of a turn.
  const store = faults === undefined ? opened : (await import('./fault-points.ts')).withFaultPoints(opened, faults);

  // A one-shot neither listens to platforms nor sends to them: that is the gateway's.
  const platforms = mode === 'gateway' ? await openPlatforms(config.current(), { clock, log, random }) : noPlatforms;
  const { channels } = platforms;
  const talaria = compose({
    ...options,
    channels,
    config,
    store,
    storePath: path,
    owner,
    env,
    clock,
    ids,
    random,
    log,
    redact: (text) => redactor.redact(text),
  });
  let closed: Promise<void> | null = null;
  const close = async (graceMs: number) => {
    await talaria.leave(graceMs);
    for (const step of undo.toReversed()) await step();
  };
  return { talaria, config, hooks: platforms.hooks, ids, lock, log, close: (graceMs) => (closed ??= close(graceMs)) };
}

const noPlatforms: PlatformChannels = { channels: [], hooks: new Map() };

/** Nothing of it is loaded while no platform is configured. */
async function openPlatforms(config: Config, deps: BuildChannelsDeps): Promise<PlatformChannels> {
  if (config.channels.telegram.token === null) return noPlatforms;
  const { buildChannels } = await import('./build-channels.ts');
  return buildChannels(config, deps);
}
