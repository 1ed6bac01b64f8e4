/**
 * Finds with ripgrep: which lines of which files, or which files. It only finds: whoever shows something opens the file
 * by itself, because ripgrep goes by names and a name may lead elsewhere by the time it is opened. It runs without any
 * environment, configuration, preprocessor or ignore file from outside, follows no link, and is ended after a while.
 */
import type { Clock } from '../../lib/clock.ts';

/** More are not looked for. */
export const hitsMax = 5_000;
export const searchTimeoutMs = 20_000;
export const searchedBytesMax = 50_000_000;
const hitsPerFileMax = 500;
/** Of one hit: a path and a number. */
const recordBytesMax = 8_192;
const complaintCharsMax = 500;

export interface RipgrepRequest {
  /** What to look for in files; null: only names are wanted. */
  readonly regex: string | null;
  /** Only files whose path it says yes to count. */
  readonly isWanted?: (path: string) => boolean;
  readonly glob: string | null;
  readonly ignoreCase: boolean;
  /** Absolute; the names that come back start here. */
  readonly folder: string;
  /** A file in `folder`, or `.`. */
  readonly within: string;
}

export interface Hit {
  /** Relative to the folder. */
  readonly path: string;
  /** From 1; 0 for a file as such. */
  readonly line: number;
}

export interface Found {
  readonly hits: readonly Hit[];
  /** Why there may be more: `too-many`, `too-long`. */
  readonly cut: 'too-many' | 'too-long' | null;
  /** What ripgrep could not make sense of. */
  readonly complaint: string | null;
}

export interface RipgrepDeps {
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

/** Throws the signal's reason when it aborts, and if there is no ripgrep. The process has ended by then. */
export async function ripgrep(deps: RipgrepDeps, request: RipgrepRequest, signal: AbortSignal): Promise<Found> {
  const [{ rgPath }, { spawn }] = await Promise.all([import('@vscode/ripgrep'), import('node:child_process')]);
  signal.throwIfAborted();
  const child = spawn(rgPath, argumentsOf(request), {
    cwd: request.folder,
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const kill = () => void child.kill('SIGKILL');
  let cut: Found['cut'] = null;
  const cancelTimer = deps.clock.setTimer(deps.timeoutMs ?? searchTimeoutMs, () => {
    cut ??= 'too-long';
    kill();
  });
  signal.addEventListener('abort', kill, { once: true });
  const hits: Hit[] = [];
  const parse = createHitParser(request.regex === null, (hit) => {
    if (request.isWanted?.(hit.path) === false) return;
    if (hits.length < hitsMax) hits.push(hit);
    else if (cut === null) {
      cut = 'too-many';
      kill();
    }
  });
  let complaint = '';
  child.stdout.on('data', parse);
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(0, complaintCharsMax)));
  try {
    const code = await ended;
    signal.throwIfAborted();
    // What follows is about options of its own, which nobody here can set.
    const [words = ''] = complaint.split('\n\nConsider ');
    return { hits, cut, complaint: code === 2 && hits.length === 0 && words !== '' ? words.trim() : null };
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', kill);
  }
}

function argumentsOf({ regex, glob, ignoreCase, within }: RipgrepRequest): string[] {
  return [
    '--no-config',
    '--no-follow',
    '--no-messages',
    '--no-mmap',
    '--no-require-git',
    '--no-ignore-global',
    '--no-ignore-exclude',
    '--hidden',
    '--color=never',
    '--null',
    `--max-filesize=${searchedBytesMax}`,
    ...(ignoreCase ? ['--ignore-case', '--glob-case-insensitive'] : []),
    ...globArguments(glob, ignoreCase),
    '--glob=!.git',
    ...(regex === null
      ? ['--files']
      : ['--line-number', '--no-heading', '--with-filename', '--max-columns=1', `--max-count=${hitsPerFileMax}`]),
    ...(regex === null ? [] : [`--regexp=${regex}`]),
    '--',
    within,
  ];
}

/**
 * What is named by `--glob` is found even if an ignore file names it too; what belongs to a type is not. A type knows names
 * of files alone, as they are written.
 */
function globArguments(glob: string | null, ignoreCase: boolean): string[] {
  if (glob === null) return [];
  const isOfName = !ignoreCase && !glob.includes('/') && !glob.startsWith('!');
  return isOfName ? [`--type-add=wanted:${glob}`, '--type=wanted'] : [`--glob=${glob}`];
}

/** All paths begin with `./`; before one may stand a line that says that the file before it turned out to be binary. */
function pathIn(text: string): string {
  return text.slice(text.lastIndexOf('\n./') + 1).replace(/^\.\//, '');
}

/** `path NUL`, and for lines `number : anything newline` after it. */
function createHitParser(isNames: boolean, onHit: (hit: Hit) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const nul = rest.indexOf(0);
      const end = isNames ? nul : nul < 0 ? -1 : rest.indexOf(10, nul);
      if (end < 0) break;
      const path = pathIn(rest.subarray(0, nul).toString());
      const line = isNames ? 0 : Number.parseInt(rest.subarray(nul + 1, end).toString('latin1'), 10);
      rest = rest.subarray(end + 1);
      if (isNames || line > 0) onHit({ path, line });
    }
    // What is longer is no hit of ours; its beginning must not be kept for ever.
    if (rest.length > recordBytesMax) rest = Buffer.alloc(0);
  };
}
