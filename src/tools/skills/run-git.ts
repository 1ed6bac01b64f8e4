/**
 * Git as a program that is started with what it is given and nothing else: bounded in time, in what it writes and in what
 * is read from it. Whatever it started ends with it. Its failures are a `SkillError` with its own last words.
 */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { readTar, type TarEntry } from '../../lib/tar.ts';
import { hasCode } from '../workspace-path.ts';
import { SkillError } from './skill-error.ts';

const timeoutMs = 120_000;
/** Of the file that holds all that is fetched. */
const packBytesMax = 200 * 1024 * 1024;
const errorCharsMax = 2_000;
/** What a shell ends with if there is no such program. */
const notFoundCode = 127;

export class Git {
  readonly repository: string;
  readonly at: readonly string[];
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;

  constructor(folder: string, env: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.#folder = folder;
    this.#env = env;
    this.#signal = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    this.repository = join(folder, 'repository');
    this.at = ['--git-dir', this.repository];
  }

  /** All that it prints; throws a `SkillError` if it fails or prints more. */
  async output(args: readonly string[], bytesMax: number): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of this.#run(args)) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new SkillError('The repository has too many files.');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  async *archive(tree: string): AsyncGenerator<TarEntry> {
    yield* readTar(this.#run([...this.at, 'archive', '--format=tar', tree]));
  }

  async *#run(args: readonly string[]): AsyncGenerator<Uint8Array> {
    const { spawn } = await import('node:child_process');
    // A file that grows past the limit ends the program that writes it.
    const limited = [
      '-c',
      'ulimit -f "$1" && shift && exec git "$@"',
      'sh',
      String(Math.floor(packBytesMax / 512)),
      ...args,
    ];
    const child = spawn('/bin/sh', limited, {
      cwd: this.#folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: this.#signal,
      killSignal: 'SIGKILL',
      detached: true,
    });
    const ended = endOf(child);
    // It is awaited below; until then a failure must not count as unhandled.
    ended.catch(() => {});
    let problem = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (problem = (problem + text).slice(-errorCharsMax)));
    try {
      for await (const chunk of child.stdout as AsyncIterable<Uint8Array>) yield chunk;
      const code = await ended;
      if (code === notFoundCode)
        throw new SkillError(
          'There is no git on this machine. Install it, or download the skill and install its folder.',
        );
      if (code !== 0) throw new SkillError(`Git could not fetch it: ${reasonIn(problem) || `it ended with ${code}`}`);
    } catch (error) {
      throw this.#explained(error);
    } finally {
      // Those that it started, too: ssh, and the other end of a local fetch.
      if (child.exitCode === null && child.pid !== undefined) killGroup(child.pid);
    }
  }

  #explained(error: unknown): unknown {
    if (!this.#signal.aborted) return error;
    const reason: unknown = this.#signal.reason;
    if (!(reason instanceof Error) || reason.name !== 'TimeoutError') return reason;
    return new SkillError(
      `Git took longer than ${timeoutMs / 1_000} seconds. Clone it yourself and install the folder.`,
    );
  }
}

function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'nothing'));
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** What git gives as the reason, or its last words: behind the reason it gives advice over several lines. */
function reasonIn(text: string): string {
  const lines = text.trim().split('\n');
  return lines.find((line) => line.startsWith('fatal: ')) ?? lines.at(-1) ?? '';
}
