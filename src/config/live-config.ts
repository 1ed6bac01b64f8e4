/**
 * The configuration of a running gateway: the last good one, kept up with the files. A new file with mistakes changes
 * nothing but the list of problems. The files are looked at every second instead of being watched: a watch on the home
 * would wake the main loop on every write to the database beside them, and it misses network and container mounts. A
 * change is read once the files have been still for a moment, so that half a file is never taken for a whole one.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { loadConfig, type ConfigPlace, type GoodConfig, type LoadedConfig } from './load.ts';
import {
  ConfigError,
  configFileName,
  environmentFileName,
  formatProblem,
  type Problem,
  type Warning,
} from './problem.ts';
import type { Config } from './schema.ts';

const lookEveryMs = 1_000;
const stillForMs = 200;

type IsEqual = (one: unknown, other: unknown) => boolean;

export interface LiveConfigOptions extends ConfigPlace {
  readonly clock: Clock;
  readonly log: Log;
  /** A good configuration that differs from the one before; called after it is in force. Must not throw. */
  readonly onChange: (now: GoodConfig, before: GoodConfig) => void;
}

export interface LiveConfig {
  /** Of config.yaml. */
  readonly path: string;
  current(): Config;
  /** The last good configuration with all that was learnt when loading it. */
  loaded(): GoodConfig;
  /** Of the files on disk; empty while what they say is in force. */
  problems(): readonly Problem[];
  warnings(): readonly Warning[];
  /** When the configuration in force was read, in milliseconds since 1970. */
  loadedAt(): number;
  /** Reads the files now; resolves when what they say is in force or refused. Never rejects. */
  reload(): Promise<void>;
  /** No more looks at the files, no more `onChange`. Idempotent. */
  close(): void;
}

/** Throws `ConfigError` if there is no good configuration to begin with. */
export async function openLiveConfig(options: LiveConfigOptions): Promise<LiveConfig> {
  const signature = signatureOf(options.home);
  const first = await loadConfig(options);
  if (!isGood(first)) {
    throw new ConfigError('mistakes', first.problems.map(formatProblem).join('\n'), first.problems);
  }
  return new FollowedConfig(options, first, signature);
}

class FollowedConfig implements LiveConfig {
  readonly path: string;
  readonly #options: LiveConfigOptions;
  #good: GoodConfig;
  #problems: readonly Problem[] = [];
  #loadedAt: number;
  /** Of the files as they were read last. */
  #signature: string;
  #reading: Promise<void> = Promise.resolve();
  #cancelTimer: () => void;
  #closed = false;

  constructor(options: LiveConfigOptions, first: GoodConfig, signature: string) {
    this.#options = options;
    this.path = first.path;
    this.#good = first;
    this.#loadedAt = options.clock.now();
    this.#signature = signature;
    this.#cancelTimer = options.clock.setTimer(lookEveryMs, () => this.#look());
  }

  current(): Config {
    return this.#good.config;
  }

  loaded(): GoodConfig {
    return this.#good;
  }

  problems(): readonly Problem[] {
    return this.#problems;
  }

  warnings(): readonly Warning[] {
    return this.#good.warnings;
  }

  loadedAt(): number {
    return this.#loadedAt;
  }

  reload(): Promise<void> {
    // One at a time, in order: an older reading must never overtake a newer one.
    this.#reading = this.#reading.then(() => this.#read());
    return this.#reading;
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  #look(seen = this.#signature): void {
    const now = signatureOf(this.#options.home);
    if (now === this.#signature) return this.#lookIn(lookEveryMs);
    if (now !== seen) return this.#lookIn(stillForMs, now);
    void this.reload().then(() => this.#lookIn(lookEveryMs));
  }

  #lookIn(delayMs: number, seen?: string): void {
    if (this.#closed) return;
    this.#cancelTimer = this.#options.clock.setTimer(delayMs, () => this.#look(seen));
  }

  async #read(): Promise<void> {
    if (this.#closed) return;
    // Taken before reading: a change in the middle of it is seen at the next look.
    this.#signature = signatureOf(this.#options.home);
    // Only here: at the start of the program it would cost 2 ms for nothing.
    const [next, { isDeepStrictEqual }] = await Promise.all([loadConfig(this.#options), import('node:util')]);
    if (this.#closed) return;
    if (isGood(next)) this.#accept(next, isDeepStrictEqual);
    else this.#refuse(next, isDeepStrictEqual);
  }

  #accept(next: GoodConfig, isEqual: IsEqual): void {
    const before = this.#good;
    const wasRefused = this.#problems.length > 0;
    this.#good = next;
    this.#problems = [];
    this.#loadedAt = this.#options.clock.now();
    const isSame = isEqual(next.config, before.config) && isEqual(next.environment, before.environment);
    if (isSame && !wasRefused) return;
    this.#options.log.info('configuration loaded', { path: this.path, changed: !isSame });
    if (!isSame) this.#options.onChange(next, before);
  }

  #refuse(next: LoadedConfig, isEqual: IsEqual): void {
    const isKnown = isEqual(next.problems, this.#problems);
    this.#problems = next.problems;
    if (isKnown) return;
    const problems = next.problems.map(formatProblem);
    this.#options.log.warn('configuration has mistakes; the last good one stays in force', {
      path: this.path,
      problems,
    });
  }
}

function isGood(loaded: LoadedConfig): loaded is GoodConfig {
  return loaded.config !== null;
}

/** Differs whenever one of the files was written, replaced, created or removed. */
function signatureOf(home: string): string {
  return [configFileName, environmentFileName].map((name) => fileSignature(join(home, name))).join('|');
}

function fileSignature(path: string): string {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined
      ? 'missing'
      : `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  }
}
