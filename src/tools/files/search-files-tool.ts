/**
 * The tool `search_files`: which lines match, or which files have such a name. ripgrep finds them; what is shown is read
 * by the same way as `read_file` reads, so that nothing from outside the roots is ever shown, whatever ripgrep saw.
 */
import { constants } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Clock } from '../../lib/clock.ts';
import { defineTool } from '../define-tool.ts';
import { boundText, grouped } from '../output-bound.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { fileProblem } from '../workspace-path.ts';
import { outsideText } from './ask-first.ts';
import { atPath } from './confined-open.ts';
import { atPlace, failed, hiddenText, type FileDeps, type Place } from './file-deps.ts';
import { zoneToRead } from './may-read.ts';
import { ripgrep, searchedBytesMax, type Found, type Hit } from './ripgrep.ts';
import { showLines } from './show-lines.ts';

const defaultLimit = 50;
const limitMax = 200;
const contextMax = 10;
const outputCharsMax = 24_000;

const schema = z.strictObject({
  pattern: z.string().check(z.minLength(1), z.describe('Regex; for names part of the path or glob')),
  by: z.optional(z.enum(['content', 'name'])),
  path: z.optional(z.string()),
  glob: z.optional(z.string().check(z.minLength(1))),
  ignore_case: z.optional(z.boolean()),
  context: z.optional(z.int().check(z.gte(0), z.lte(contextMax))),
  limit: z.optional(z.int().check(z.gte(1), z.lte(limitMax))),
});

type SearchInput = z.output<typeof schema>;

export interface SearchDeps extends FileDeps {
  readonly clock: Clock;
  readonly searchTimeoutMs?: number;
}

export function createSearchFilesTool(deps: SearchDeps): Tool<SearchInput> {
  return defineTool({
    name: 'search_files',
    description: 'Finds lines by content, or files by name. Skips what .gitignore names.',
    effect: 'read',
    replay: 'safe',
    schema,
    run: (input, context) => searchFiles(deps, input, context),
    worksOn: ({ path }) => (path === undefined ? [] : [path]),
  });
}

async function searchFiles(deps: SearchDeps, input: SearchInput, context: ToolContext): Promise<ToolOutcome> {
  return atPlace(deps, input.path ?? '.', context, async (place) => {
    const { where } = place;
    if (where.kind === 'refused') return failed(where.problem);
    const { zone, shown, name, entry } = where;
    if (zone === 'hidden') return failed(hiddenText(shown));
    if (zone === 'outside') return failed(outsideText(shown));
    if (name !== '' && entry === null) return failed(`${shown} does not exist.`);
    if (entry !== null && !entry.stats.isFile()) return failed(`${shown} is neither a file nor a folder.`);
    if (input.by !== 'name' && (entry?.stats.size ?? 0n) > BigInt(searchedBytesMax)) {
      return failed(`${shown} has more than ${grouped(searchedBytesMax)} bytes. Search it with a command instead.`);
    }
    const folder = entry === null ? where.path : where.path.slice(0, -name.length - 1) || '/';
    try {
      const found = await find(deps, input, { folder, within: entry === null ? '.' : `./${name}` }, context);
      if (found.complaint !== null) return failed(`The search could not be made: ${found.complaint}`);
      return await tell(input, found, { place, folder, context });
    } catch (error) {
      context.signal.throwIfAborted();
      return failed(`The search could not be made: ${fileProblem(error)}.`);
    }
  });
}

async function find(
  deps: SearchDeps,
  input: SearchInput,
  where: { readonly folder: string; readonly within: string },
  { signal }: ToolContext,
): Promise<Found> {
  const limits = {
    clock: deps.clock,
    ...(deps.searchTimeoutMs === undefined ? {} : { timeoutMs: deps.searchTimeoutMs }),
  };
  const [glob, ignoreCase] = [input.glob ?? null, input.ignore_case ?? false];
  if (input.by !== 'name') return ripgrep(limits, { regex: input.pattern, glob, ignoreCase, ...where }, signal);
  const isGlob = /[*?[{]/.test(input.pattern);
  if (isGlob) return ripgrep(limits, { regex: null, glob: input.pattern, ignoreCase, ...where }, signal);
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const isWanted = (path: string) => fold(path).includes(fold(input.pattern));
  return ripgrep(limits, { regex: null, isWanted, glob, ignoreCase, ...where }, signal);
}

interface Scene {
  readonly place: Place;
  readonly folder: string;
  readonly context: ToolContext;
}

async function tell(input: SearchInput, { hits, cut }: Found, scene: Scene): Promise<ToolOutcome> {
  const limit = input.limit ?? defaultLimit;
  const sorted = hits.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
  const blocks: string[] = [];
  let shownHits = 0;
  let looked = 0;
  for (const [path, lines] of byFile(sorted)) {
    if (shownHits >= limit) break;
    scene.context.signal.throwIfAborted();
    const taken = lines.slice(0, limit - shownHits);
    looked += lines.length;
    const block = await showFile(scene, path, taken, input.context ?? 0);
    if (block === null) continue;
    shownHits += taken.length;
    looked -= lines.length - taken.length;
    blocks.push(block);
  }
  const more = hits.length - looked;
  const notes = [
    ...(more > 0 ? [`${cut === 'too-many' ? 'at least ' : ''}${grouped(more)} more left out`] : []),
    ...(cut === 'too-long' ? ['the search was ended because it took too long'] : []),
  ];
  if (shownHits === 0) return { kind: 'finished', text: ['nothing found', ...notes].join('; ') };
  const tail = notes.length === 0 ? '' : `\n[${notes.join('; ')}]`;
  const separator = (input.context ?? 0) > 0 ? '\n--\n' : '\n';
  return { kind: 'finished', text: boundText(blocks.join(separator), outputCharsMax) + tail };
}

function byFile(hits: readonly Hit[]): Map<string, number[]> {
  const files = new Map<string, number[]>();
  for (const { path, line } of hits) {
    const lines = files.get(path);
    if (lines === undefined) files.set(path, [line]);
    else if (lines.at(-1) !== line) lines.push(line);
  }
  return files;
}

/** Null if it is not to be seen, or not there any more. */
async function showFile(
  { place, folder, context }: Scene,
  path: string,
  lines: readonly number[],
  around: number,
): Promise<string | null> {
  const { workspace, signal } = context;
  return atPath(join(folder, path), { workspace, marks: place.marks }, async (where) => {
    if (where.kind === 'refused' || where.entry?.stats.isFile() !== true) return null;
    const zone = await zoneToRead(place, where);
    if (zone !== 'inside' && zone !== 'readable') return null;
    if (lines[0] === 0) return where.shown;
    const file = await where.entry.open(constants.O_RDONLY);
    try {
      return await showLines(file, where.shown, lines, around, signal);
    } finally {
      await file.close();
    }
  });
}
