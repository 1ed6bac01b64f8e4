/**
 * The tool `read_file`: the text of one file in the workspace, or a window of its lines. Whatever is no text, or not
 * there, is answered with a sentence that leads on.
 */
import { constants, open, readdir, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import { nearest } from '../../lib/nearest.ts';
import { defineTool } from '../define-tool.ts';
import { grouped } from '../output-bound.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { fileProblem, hasCode, placeInWorkspace, type WorkspacePlace } from '../workspace-path.ts';
import { workedOn } from './worked-on.ts';
import { readLines, type LineWindow } from './read-lines.ts';

export const linesMaxPerCall = 2_000;
export const bytesMaxPerCall = 100_000;
/** A NUL among the first bytes marks a binary file. */
const sniffedBytes = 8_192;
const namesShownMax = 100;
const suggestionsMax = 3;

const schema = z.strictObject({
  path: z.string().check(z.minLength(1), z.describe('Relative to the workspace.')),
  offset: z.optional(z.int().check(z.gte(1), z.describe('First line to read, counted from 1.'))),
  limit: z.optional(z.int().check(z.gte(1), z.describe(`How many lines. At most ${linesMaxPerCall} are returned.`))),
});

type ReadInput = z.output<typeof schema>;

export function createReadFileTool(): Tool<ReadInput> {
  return defineTool({
    name: 'read_file',
    description:
      'Reads a text file in the workspace. Returns its text as it is; a first line in brackets says so if it is not ' +
      'all of the file, and how to go on.',
    effect: 'read',
    replay: 'safe',
    schema,
    run: readFile,
    sideBySide: ({ path }) => workedOn(path),
  });
}

async function readFile(input: ReadInput, context: ToolContext): Promise<ToolOutcome> {
  const place = await placeToRead(input.path, context);
  if (place.kind === 'refused') return failed(place.problem);
  let file: FileHandle;
  try {
    // Opening a pipe that nobody writes to would wait for ever without this flag.
    file = await open(place.path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return failed(await missing(place.path, place.shown));
    return failed(`${place.shown} can't be read: ${fileProblem(error)}.`);
  }
  try {
    return await readOpenFile(file, place, input, context.signal);
  } catch (error) {
    context.signal.throwIfAborted();
    return failed(`${place.shown} can't be read: ${fileProblem(error)}.`);
  } finally {
    await file.close();
  }
}

/** Besides the workspace, what calls of this session left in the spool can be read, by its absolute path. */
async function placeToRead(path: string, { workspace, spoolFolder }: ToolContext): Promise<WorkspacePlace> {
  const place = await placeInWorkspace(workspace, path);
  if (place.kind === 'inside' || !isAbsolute(path)) return place;
  const inSpool = await placeInWorkspace(spoolFolder, path);
  return inSpool.kind === 'inside' ? { ...inSpool, shown: path } : place;
}

async function readOpenFile(
  file: FileHandle,
  place: { readonly path: string; readonly shown: string },
  input: ReadInput,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const found = await file.stat();
  if (found.isDirectory()) return failed(await folderListing(place.path, place.shown));
  if (!found.isFile()) return failed(`${place.shown} is neither a file nor a folder and can't be read.`);
  if (await looksBinary(file)) {
    return failed(`${place.shown} is a binary file (${grouped(found.size)} bytes); read_file shows text only.`);
  }
  const firstLine = input.offset ?? 1;
  const linesMax = Math.min(input.limit ?? linesMaxPerCall, linesMaxPerCall);
  const window = await readLines(file, { firstLine, linesMax, bytesMax: bytesMaxPerCall }, signal);
  return tell(window, firstLine, place.shown, found.size);
}

function tell(window: LineWindow, firstLine: number, shown: string, fileBytes: number): ToolOutcome {
  if (window.kind === 'past-end') {
    if (window.linesTotal === 0) return { kind: 'finished', text: `[${shown} is empty]` };
    return failed(`${shown} has ${grouped(window.linesTotal)} lines; there is no line ${firstLine}.`);
  }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(window.bytes);
  if (firstLine === 1 && !window.hasMore) return { kind: 'finished', text };
  return { kind: 'finished', text: `[${header(window, firstLine, shown, fileBytes)}]\n${text}` };
}

function header(
  window: Extract<LineWindow, { kind: 'lines' }>,
  firstLine: number,
  shown: string,
  fileBytes: number,
): string {
  const next = firstLine + window.lines;
  if (window.isLineCut) {
    const long = `line ${firstLine} of ${shown} is longer than ${grouped(bytesMaxPerCall)} bytes, this is its beginning`;
    return `${long}; the next line is at offset ${next}`;
  }
  const range = window.lines === 1 ? `line ${firstLine}` : `lines ${firstLine} to ${next - 1}`;
  if (!window.hasMore) return `${range} of ${shown}, up to its end`;
  return `${range} of ${shown}, which has ${grouped(fileBytes)} bytes; go on with offset ${next}`;
}

async function looksBinary(file: FileHandle): Promise<boolean> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(sniffedBytes), 0, sniffedBytes, 0);
  return buffer.subarray(0, bytesRead).includes(0);
}

async function folderListing(path: string, shown: string): Promise<string> {
  const entries = await readdir(path, { withFileTypes: true });
  if (entries.length === 0) return `${shown} is a folder, and it is empty.`;
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const rest = names.length - namesShownMax;
  const tail = rest > 0 ? ` and ${grouped(rest)} more` : '';
  return `${shown} is a folder. In it: ${names.slice(0, namesShownMax).join(', ')}${tail}.`;
}

async function missing(path: string, shown: string): Promise<string> {
  const names = await readdir(dirname(path)).catch(() => null);
  if (names === null) return `${shown} does not exist, nor does the folder it would be in.`;
  const near = nearest(basename(path), names, suggestionsMax);
  const folder = shown.slice(0, shown.length - basename(shown).length);
  const meant = near.map((name) => `${folder}${name}`).join(' or ');
  return `${shown} does not exist.${meant === '' ? '' : ` Did you mean ${meant}?`}`;
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
