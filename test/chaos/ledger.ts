/**
 * What happened to the world, one line for each time, in the hands of a process that no kill touches. What a run
 * remembers in the home's memory counts too: it can't be taken up again, as a command can.
 */
import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ToolCallPart } from '../../src/protocol/messages.ts';
import { Neighbour } from './neighbour.ts';

/** Tells the ledger its id, in one write, and then takes its time. */
const effectScript = `#!/bin/sh\nprintf '%s\\n' "$1" > "\${0%/*}/ledger.pipe"\nsleep "$2"\necho done\n`;

export class Ledger {
  /** What effects need to reach, from inside of sandboxes too. */
  readonly folder: string;
  /** Effects are lines written to it. */
  readonly pipe: string;
  readonly #script: string;
  readonly #neighbour: Neighbour;
  #reads = 0;

  static async start(world: string): Promise<Ledger> {
    const folder = join(world, 'effects');
    await mkdir(folder);
    const script = join(folder, 'effect.sh');
    await writeFile(script, effectScript);
    await chmod(script, 0o755);
    await promisify(execFile)('mkfifo', [join(folder, 'ledger.pipe')]);
    return new Ledger(folder, script);
  }

  private constructor(folder: string, script: string) {
    this.folder = folder;
    this.pipe = join(folder, 'ledger.pipe');
    this.#script = script;
    const env = { LEDGER_PIPE: this.pipe, LEDGER_FILE: join(folder, 'ledger') };
    this.#neighbour = new Neighbour({ script: 'ledger-main.ts', env });
  }

  /** The command that does an effect and then takes a while. */
  command(id: string, seconds: number): string {
    return `${this.#script} ${id} ${seconds}`;
  }

  /** The effects that happened, one for each time. */
  async read(home: string): Promise<string[]> {
    const marker = `read ${++this.#reads}`;
    const reading = this.#neighbour.ask(marker);
    // The ledger knows the marker only once it has heard the question.
    await this.#neighbour.ask(null);
    await appendFile(this.pipe, `${marker}\n`);
    const memory = await everythingRemembered(join(home, 'memories'));
    const remembered = [...memory.matchAll(/the effect (\S+) of this/g)].map(([, id = '']) => id);
    return [...((await reading) as string[]), ...remembered];
  }

  end(): Promise<void> {
    return this.#neighbour.end();
  }
}

/** Of everybody, and what was archived. */
async function everythingRemembered(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const kept = files.filter((file) => /(?:^|\/)(?:MEMORY|USER|ARCHIVE)\.md$/.test(file));
  const texts = await Promise.all(kept.map((file) => readFile(join(folder, file), 'utf8')));
  return texts.join('\n');
}

/** What to remember, so that it is found again. */
export function memoryOf(id: string): string {
  return `the effect ${id} of this`;
}

/** The effect that a call asks for; null if it asks for something else. */
export function effectOf(call: ToolCallPart): string | null {
  return /effect(?:\.sh)? (\S+) /.exec(call.arguments)?.[1] ?? null;
}
