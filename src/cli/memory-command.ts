/** `talaria memory …`: what is remembered, of the machine's owner or of somebody else who may write. Needs no gateway. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  forgetEntry,
  machineOwner,
  memoryFilesByWord,
  memoryFilesOf,
  memoryFolder,
  memoryOwners,
  searchMemories,
} from '../app/memory-admin.ts';
import { resolveHome } from '../config/home.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';

export async function memoryListCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const { home, owner } = placeOf(context, input);
  const files = (await memoryFilesOf(home, owner)).filter(({ text }) => text.trim() !== '');
  if (input.has('json')) {
    for (const file of files) await streams.write(`${JSON.stringify({ owner, ...file })}\n`);
    return exitCodes.ok;
  }
  for (const { path, text, charsMax } of files) {
    const use = charsMax === null ? `${text.length} characters` : `${text.length} of ${charsMax} characters`;
    await streams.write(`${streams.outStyle.bold(printable(path))} ${streams.outStyle.dim(`(${use})`)}\n`);
    await streams.write(`${printable(text).trimEnd()}\n\n`);
  }
  if (files.length === 0) streams.note('nothing is remembered yet');
  const others = (await memoryOwners(home)).filter((other) => other !== owner && other !== machineOwner);
  if (others.length > 0) streams.note(`others, with --user: ${others.map((other) => printable(other)).join(', ')}`);
  return exitCodes.ok;
}

export async function memoryEditCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, env } = context;
  const { folder } = placeOf(context, input);
  const word = (input.operands[0] ?? 'memory').toLowerCase().replace(/\.md$/, '');
  const name = Object.hasOwn(memoryFilesByWord, word) ? memoryFilesByWord[word] : undefined;
  if (name === undefined) throw new CliError('wrongUsage', 'FILE is memory, user or archive');
  const path = join(folder, name);
  const editor = env['VISUAL'] ?? env['EDITOR'] ?? '';
  if (editor === '' || !streams.stdinIsTty || !streams.stdoutIsTty) {
    await streams.write(`${path}\n`);
    return exitCodes.ok;
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const { spawn } = await import('node:child_process');
  // $EDITOR may hold arguments, as it does for git: the shell takes them apart, and the path is no part of its text.
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) throw new CliError('failed', `the editor ended with ${code ?? 'a signal'}; edit ${path} by hand`);
  return exitCodes.ok;
}

export async function memorySearchCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const hits = await searchMemories(placeOf(context, input).folder, input.operands.join(' '));
  for (const hit of hits) {
    const line = input.has('json') ? JSON.stringify(hit) : `${hit.file}: ${printable(hit.text)}`;
    await streams.write(`${line}\n`);
  }
  if (hits.length === 0) streams.note('nothing found');
  return exitCodes.ok;
}

export async function memoryForgetCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const outcome = await forgetEntry(placeOf(context, input).folder, input.operands.join(' ')).catch(
    (error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'MemoryFileError') throw error;
      throw new CliError('failed', `nothing was forgotten: ${error.message}: talaria memory edit`, { cause: error });
    },
  );
  switch (outcome.kind) {
    case 'forgotten':
      await streams.write(`forgotten, from ${outcome.files.join(' and ')}: ${printable(outcome.entry)}\n`);
      return exitCodes.ok;
    case 'not-found':
      throw new CliError('failed', 'nothing was forgotten: no entry has these words; see talaria memory list');
    case 'several':
      throw new CliError(
        'failed',
        `nothing was forgotten: several entries have these words; say more of one: ${outcome.entries.map((entry) => JSON.stringify(entry)).join(', ')}`,
      );
  }
}

function placeOf({ env }: CommandContext, input: CommandInput): { home: string; owner: string; folder: string } {
  const home = resolveHome(env);
  const owner = input.value('user') ?? machineOwner;
  return { home, owner, folder: memoryFolder(home, owner) };
}
