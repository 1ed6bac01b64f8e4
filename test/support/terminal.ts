/** The program at a terminal of its own, as a person has it: keys go in, and what comes out is read as text. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { atEnd } from './talaria-process.ts';

const program = join(import.meta.dirname, '../../bin/talaria');
const patienceMs = 20_000;
const eraseLine = '\r\u001b[K';
const eraseDown = '\u001b[1G\u001b[0J';

export interface Terminal {
  /** What stands there, from the first line on. */
  screen(): string;
  type(line: string): void;
  /** Keys as they are, without Enter. */
  press(keys: string): void;
  /** Resolves once this was shown after the place `from`, with the place behind it; what was erased again counts. */
  shows(pattern: RegExp, from?: number): Promise<number>;
  readonly ended: Promise<void>;
}

/** Needs `script` of util-linux. */
export function openTerminal(t: TestContext, args: readonly string[], home: string): Terminal {
  return openProgram(t, `"${program}" ${args.join(' ')}`, home);
}

/** A shell with job control; `$TALARIA` is the program. */
export function openShell(t: TestContext, home: string): Terminal {
  return openProgram(t, `env TALARIA="${program}" bash --norc --noprofile -i`, home);
}

function openProgram(t: TestContext, command: string, home: string): Terminal {
  const line = `stty cols 200; exec ${command}`;
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, TALARIA_HOME: home, TERM: 'xterm', SHELL: '/bin/sh' };
  const child = spawn('script', ['-qfec', line, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  const watchers = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    for (const look of watchers) look();
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const plain = () => stripVTControlCharacters(shown).replaceAll('\r', '');
  atEnd(t, () => {
    // Whoever has the terminal is told that it is gone.
    child.kill('SIGKILL');
    return ended;
  });
  return {
    screen: () => stripVTControlCharacters(withoutErased(shown)).replaceAll('\r', ''),
    type: (text) => void child.stdin.write(`${text}\r`),
    press: (keys) => void child.stdin.write(keys),
    ended,
    shows(pattern, from = 0) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(plain().slice(from));
          if (match === null) return;
          done();
          resolve(from + match.index + match[0].length);
        };
        const late = setTimeout(() => {
          done();
          reject(new Error(`${pattern} was not shown:\n${plain().slice(from)}`));
        }, patienceMs);
        const done = () => {
          clearTimeout(late);
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      });
    },
  };
}

/** The program erases its last line only: for a prompt, and for a word about what is waited for. */
function withoutErased(shown: string): string {
  const [first = '', ...others] = shown.replaceAll(eraseDown, eraseLine).split(eraseLine);
  return others.reduce((before, after) => before.slice(0, before.lastIndexOf('\n') + 1) + after, first);
}
