/**
 * The folders that a command is about, as far as its text tells: where it was asked to run, and where it goes by itself.
 * A guess for what is worth knowing there, not for what is allowed. Pure.
 */
import { join } from 'node:path';
import type { TerminalInput } from './terminal-schema.ts';

const foldersMax = 4;
const lookedAtChars = 4_000;
/** `cd` as a command of its own, with one plain word or one in quotes. */
const goesTo =
  /(?:^|[;&|(\n])\s*(?:cd|pushd)\s+(?:"([^"$`\n]+)"|'([^'\n]+)'|([^\s;&|()$`"'<>*?~-][^\s;&|()$`"'<>*?]*))/g;

export function foldersOfCommand({ command, cwd }: Pick<TerminalInput, 'command' | 'cwd'>): readonly string[] {
  const folders = cwd === undefined ? [] : [cwd];
  let here = cwd ?? '.';
  for (const [, double, single, plain] of command.slice(0, lookedAtChars).matchAll(goesTo)) {
    const to = double ?? single ?? plain ?? '.';
    here = to.startsWith('/') ? to : join(here, to);
    folders.push(here);
  }
  return [...new Set(folders)].slice(0, foldersMax);
}
