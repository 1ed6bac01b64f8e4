/**
 * What a call of `terminal` asks for, checked and complete: everything that decides what will happen. Frozen as text it is
 * what a person approves; made again from the same call it is the same text, unless something changed meanwhile (the
 * folder, a script that it names, what the shell was left with), and then it is not run.
 */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { Plan } from '../approval.ts';
import type { Sandbox } from '../sandbox.ts';
import type { ToolContext } from '../tool.ts';
import { placeInWorkspace } from '../workspace-path.ts';
import { commandEnvironment } from './command-environment.ts';
import { readBounded } from './read-bounded.ts';
import { shellFolders } from './session-host.ts';
import type { CommandWhere, TerminalDeps } from './terminal-deps.ts';
import { limitProblem, type TerminalInput } from './terminal-schema.ts';

const stateBytesMax = 4_194_304;
const scriptBytesMax = 16_777_216;
const cwdMark = '#cwd ';

export interface CommandWish {
  readonly command: string;
  readonly stdin: string | null;
  /** Where it runs; inside the sandbox null if it is where the shell is. */
  readonly cwd: string | null;
  readonly isOutside: boolean;
  /** Besides those that are allowed anyway. */
  readonly hosts: readonly string[];
  /** 0: none. */
  readonly timeoutMs: number;
  readonly isBackground: boolean;
  readonly isPty: boolean;
  readonly notify: string | null;
  readonly environment: Readonly<Record<string, string>>;
}

export type WishFound =
  | { readonly kind: 'wish'; readonly wish: CommandWish }
  /** `problem` is a sentence. */
  | { readonly kind: 'refused'; readonly problem: string };

export async function wishOf(deps: TerminalDeps, input: TerminalInput, context: ToolContext): Promise<WishFound> {
  const { command, stdin = null } = input;
  const problem = limitProblem(input);
  if (problem !== null) return refused(problem);
  const isOutside = input.outside === true;
  const place = await placeOf(deps, input.cwd ?? null, isOutside, context);
  if (place.kind === 'refused') return place;
  const isBackground = input.background === true || input.notify !== undefined;
  const timeoutMs = input.timeout_s === undefined ? (isBackground ? 0 : deps.defaultTimeoutMs) : input.timeout_s * 1000;
  const asked = (input.hosts ?? []).map((host) => host.toLowerCase());
  const wish = {
    command,
    stdin,
    cwd: place.path,
    isOutside,
    hosts: [...new Set(asked)].filter((host) => !isAllowed(deps.allowedHosts, host)).sort(),
    timeoutMs,
    isBackground,
    isPty: input.pty === true,
    notify: input.notify ?? null,
    environment: commandEnvironment(deps.env, deps.envNames),
  };
  return { kind: 'wish', wish };
}

function isAllowed(allowed: readonly string[], host: string): boolean {
  return allowed.some((entry) => {
    const name = entry.toLowerCase();
    return name === '*' || name === host || (name.startsWith('*.') && host.endsWith(name.slice(1)));
  });
}

type Place =
  | { readonly kind: 'place'; readonly path: string | null }
  | { readonly kind: 'refused'; readonly problem: string };

async function placeOf(
  deps: TerminalDeps,
  cwd: string | null,
  isOutside: boolean,
  context: ToolContext,
): Promise<Place> {
  // Outside nothing that the sandbox said is believed: where its shell is counts only if it is one of the folders.
  const wanted = cwd ?? (isOutside ? ((await shellCwd(context.spoolFolder)) ?? '.') : null);
  if (wanted === null) return placeFound(context.workspace, `${context.workspace} (terminal.cwd)`, null);
  const roots = [context.workspace, ...deps.folders];
  for (const root of isAbsolute(wanted) ? roots : [context.workspace]) {
    const place = await placeInWorkspace(root, isAbsolute(wanted) ? resolve(wanted) : wanted);
    if (place.kind === 'inside') return placeFound(place.path, place.shown, place.path);
    if (root === roots.at(-1) || !isAbsolute(wanted)) return place;
  }
  return refused(`${wanted} is in none of the folders that commands run in.`);
}

/** Without this look, a missing folder would be reported as a missing shell. */
async function placeFound(path: string, shown: string, result: string | null): Promise<Place> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) return { kind: 'place', path: result };
  const problem = found === null ? 'does not exist' : 'is not a folder';
  return refused(`The command was not started: the folder ${shown} ${problem}.`);
}

/** Where the session's shell is, as it said itself; null before its first command. */
export async function shellCwd(spoolFolder: string): Promise<string | null> {
  const state = await readBounded(join(shellFolders(spoolFolder).state, 'state'), stateBytesMax);
  const line = state?.toString('utf8').split('\n', 1)[0] ?? '';
  return line.startsWith(cwdMark) && line.length > cwdMark.length ? line.slice(cwdMark.length) : null;
}

export async function whereOf(
  { cwd, isOutside }: CommandWish,
  { level, gaps }: Sandbox,
  { spoolFolder, workspace }: ToolContext,
): Promise<CommandWhere> {
  return { level, gaps, isOutside, cwd: cwd ?? (await shellCwd(spoolFolder)) ?? workspace, workspace };
}

/** What a person is shown and approves. */
export async function planOf(
  deps: TerminalDeps,
  wish: CommandWish,
  sandbox: Sandbox,
  reasons: readonly string[],
  context: ToolContext,
): Promise<Plan> {
  const where = await whereOf(wish, sandbox, context);
  const { cwd } = where;
  const state = wish.isOutside
    ? null
    : await hashOf(join(shellFolders(context.spoolFolder).state, 'state'), stateBytesMax);
  const files: [string, string | null][] = [];
  for (const name of await deps.filesOf(wish.command, where)) {
    const path = await realpath(resolve(cwd, name)).catch(() => resolve(cwd, name));
    files.push([path, await hashOf(path, scriptBytesMax)]);
  }
  const { environment, ...rest } = wish;
  const frozen = JSON.stringify({ ...rest, cwd, environment: hashed(JSON.stringify(environment)), state, files });
  const isNetworkOnly = wish.hosts.length > 0 && reasons.length === 1;
  return {
    kind: isNetworkOnly ? 'send' : 'command',
    subject: isNetworkOnly
      ? `commands reach ${wish.hosts.join(' ')}`
      : hashed(JSON.stringify([wish.command, wish.stdin, cwd, wish.isOutside, wish.hosts, files, wish.isBackground])),
    shown: wish.stdin === null ? wish.command : `${wish.command}\n<<< ${wish.stdin}`,
    reasons,
    where: `${wish.isOutside ? 'outside the sandbox' : sandboxWords(sandbox)}, in ${cwd}${wish.isBackground ? ', in the background' : ''}`,
    frozen,
    ...lastingOf(wish, sandbox, isNetworkOnly),
    ...(canSend(deps, wish, sandbox) ? { canSend: true } : {}),
  };
}

/** Scripts that it names are part of the permission; what those use in turn nobody can know. */
function lastingOf({ hosts, isOutside }: CommandWish, { level }: Sandbox, isNetworkOnly: boolean) {
  if (isNetworkOnly) return { lasting: `every command may reach ${hosts.join(', ')}` };
  return isOutside || level === 'none' ? { lasting: 'this command, also when files that it uses have changed' } : {};
}

/** With a way to somewhere, or no wall around it. */
function canSend({ allowedHosts }: TerminalDeps, { isOutside, hosts }: CommandWish, { level }: Sandbox): boolean {
  return isOutside || hosts.length > 0 || allowedHosts.length > 0 || level === 'none' || level === 'ssh';
}

function sandboxWords({ level, gaps }: Sandbox): string {
  if (level === 'none') return 'without a sandbox';
  return gaps.length === 0
    ? `in the sandbox (${level})`
    : `in the sandbox (${level}; not kept apart: ${gaps.join(', ')})`;
}

/** Null if there is no such plain file; one that is too long never stays the same. */
async function hashOf(path: string, bytesMax: number): Promise<string | null> {
  const content = await readBounded(path, bytesMax);
  if (content === null) return null;
  return content.length === bytesMax ? `too long to compare ${crypto.randomUUID()}` : hashed(content);
}

function hashed(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function refused(problem: string): { readonly kind: 'refused'; readonly problem: string } {
  return { kind: 'refused', problem };
}
