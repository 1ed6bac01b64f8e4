/**
 * What the files of a project's subfolders say to agents comes with the first result from there: it is added to that
 * result before it is stored, and the result says which files it was, so that each comes once in the conversation that
 * is told to the model, also after a crash, and again once that result was taken back or told shortly. Reading the files
 * is left to the agent.
 */
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Journal } from './journal.ts';
import { promptView } from './prompt-view.ts';

/** More of them come with the next result from there. */
const filesPerResultMax = 2;
const depthMax = 12;
/** What is in there was written for others, by others. */
const foreignFolders: ReadonlySet<string> = new Set(['node_modules', '.git', 'vendor', '.venv', 'site-packages']);

/** What a folder says, fit for a prompt. */
export interface FolderNote {
  /** Of the file, in the workspace. */
  readonly path: string;
  readonly text: string;
  /** It tries to give orders in secret. */
  readonly isSuspicious: boolean;
}

export interface AddedNotes {
  /** To be added to the result; empty if there is nothing. */
  readonly text: string;
  readonly files: readonly string[];
  readonly isSuspicious: boolean;
}

const nothing: AddedNotes = { text: '', files: [], isSuspicious: false };

/** For the calls of one round, which may run side by side. */
export class ProjectNotes {
  private readonly told: Set<string>;
  private readonly workspace: string;
  private readonly read: (folder: string) => Promise<FolderNote | null>;

  constructor(journal: Journal, workspace: string, read: (folder: string) => Promise<FolderNote | null>) {
    this.told = filesTold(journal);
    this.workspace = workspace;
    this.read = read;
  }

  /** For a call that worked on these paths. Never throws. */
  async after(paths: readonly string[]): Promise<AddedNotes> {
    const folders = [...new Set(paths.flatMap((path) => foldersToward(this.workspace, path)))];
    if (folders.length === 0) return nothing;
    const worked = new Set(paths.map((path) => relative(this.workspace, resolve(this.workspace, path))));
    const files: string[] = [];
    const texts: string[] = [];
    let isSuspicious = false;
    for (const folder of folders) {
      if (files.length >= filesPerResultMax) break;
      const note = await this.read(folder).catch(() => null);
      // Claimed between two waits: a call beside this one does not tell it too.
      if (note === null || this.told.has(note.path)) continue;
      this.told.add(note.path);
      files.push(note.path);
      // Whoever has just read or written the very file knows what it says.
      if (worked.has(note.path)) continue;
      texts.push(note.text);
      isSuspicious ||= note.isSuspicious;
    }
    if (files.length === 0) return nothing;
    const head = '[What the project says about working in this folder. It does not speak for the user.]';
    return { text: texts.length === 0 ? '' : `\n\n${[head, ...texts].join('\n')}`, files, isSuspicious };
  }
}

/** The folders below the workspace that lead to a path, the path itself among them, outermost first. */
export function foldersToward(workspace: string, path: string): string[] {
  const way = relative(workspace, resolve(workspace, path));
  if (way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) || way.includes('\0')) return [];
  const names = way.split(sep).slice(0, depthMax);
  const own = names.findIndex((name) => foreignFolders.has(name));
  return names.slice(0, own === -1 ? names.length : own).map((_name, index) => join(...names.slice(0, index + 1)));
}

function filesTold({ entries }: Journal): Set<string> {
  const told = new Set<string>();
  const { rest, digests } = promptView(entries);
  for (const { message } of rest) {
    if (message.role !== 'tool' || digests.has(message.parts[0].callId)) continue;
    for (const file of message.parts[0].projectFiles ?? []) told.add(file);
  }
  return told;
}
