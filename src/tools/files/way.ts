/**
 * A way through the file system, step by step: the folders that are held from the top down to where a path has led so
 * far. The last marked folder among them decides the zone. `close` lets go of all that was held, also of what the way
 * left again.
 */
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { assert } from '../../lib/assert.ts';
import { folderOf, holdTop, type HeldEntry, type HeldFolder } from './held-folder.ts';
import type { Marks, Zone } from './zones.ts';

/** As deep as the kernel itself follows links. */
const linksMax = 40;

interface Step {
  readonly name: string;
  readonly folder: HeldFolder;
  readonly zone: Zone;
  /** The marked folder that the zone comes from. */
  readonly marked: HeldFolder | null;
}

export class Way {
  private readonly marks: Marks;
  private readonly steps: Step[] = [];
  private readonly held: HeldEntry[] = [];
  private links = 0;
  /** Names that nothing has yet. */
  missing: string[] = [];
  /** What is no folder, at the end of the way, and its name. */
  entry: HeldEntry | null = null;
  name = '';

  constructor(marks: Marks) {
    this.marks = marks;
  }

  async begin(): Promise<void> {
    const top = await holdTop();
    this.held.push(top);
    this.enter('', top);
  }

  async follow(path: string): Promise<void> {
    const pending = path.split('/').reverse();
    if (isAbsolute(path)) this.backToTop();
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (this.entry !== null) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
      if (name === '' || name === '.') continue;
      if (name === '..') this.up();
      else if (this.missing.length > 0) this.missing.push(name);
      else await this.down(name, pending);
    }
  }

  private async down(name: string, pending: string[]): Promise<void> {
    const here = this.folder();
    const found = await here.hold(name);
    if (found === null) {
      this.missing.push(name);
      return;
    }
    this.held.push(found);
    if (found.stats.isDirectory()) {
      this.enter(name, folderOf(found, join(this.path(), name)));
    } else if (found.stats.isSymbolicLink()) {
      this.links += 1;
      if (this.links > linksMax) throw Object.assign(new Error('too many links'), { code: 'ELOOP' });
      const target = await here.readLink(name);
      pending.push(...target.split('/').reverse());
      if (isAbsolute(target)) this.backToTop();
    } else {
      this.entry = found;
      this.name = name;
    }
  }

  private enter(name: string, folder: HeldFolder): void {
    const last = this.steps.at(-1);
    const marked = this.marks.get(folder.id);
    if (marked !== undefined) this.steps.push({ name, folder, zone: marked, marked: folder });
    else this.steps.push({ name, folder, zone: last?.zone ?? 'outside', marked: last?.marked ?? null });
  }

  private up(): void {
    if (this.missing.length > 0) this.missing.pop();
    else if (this.steps.length > 1) this.steps.pop();
  }

  private backToTop(): void {
    this.steps.length = 1;
    this.missing = [];
  }

  folder(): HeldFolder {
    return this.last().folder;
  }

  path(): string {
    return `/${this.namesFrom(1)}`;
  }

  below(): string {
    const { marked } = this.last();
    const at = this.steps.findIndex(({ folder }) => folder === marked);
    return at < 0 ? this.path() : this.namesFrom(at + 1);
  }

  private namesFrom(step: number): string {
    const folders = this.steps.slice(step).map(({ name }) => name);
    return folders.concat(this.missing, this.entry === null ? [] : [this.name]).join('/');
  }

  /** What is mounted inside a root comes from elsewhere: only what was chosen as a root is one. */
  async zone(): Promise<Zone> {
    const { zone, marked, folder } = this.last();
    if (marked === null || zone === 'hidden') return zone;
    const mounts = await Promise.all([marked, folder, this.entry ?? folder].map(mountOf));
    return new Set(mounts).size === 1 ? zone : 'outside';
  }

  private last(): Step {
    const last = this.steps.at(-1);
    assert(last !== undefined, 'the way has not begun');
    return last;
  }

  async close(): Promise<void> {
    await Promise.all(this.held.map((entry) => entry.close()));
  }
}

/** The mount that a held thing was reached through; where the kernel does not tell, its file system. */
async function mountOf({ handle, stats }: HeldEntry): Promise<string> {
  if (handle === null) return String(stats.dev);
  const told = await readFile(`/proc/self/fdinfo/${handle.fd}`, 'utf8');
  return /^mnt_id:\s*(\d+)/m.exec(told)?.[1] ?? String(stats.dev);
}
