/**
 * The tool `read_file`: the text of one file, or a window of its lines, or a picture. Whatever is neither, or not there,
 * is answered with a sentence that leads on.
 */
import { isUtf8 } from 'node:buffer';
import { constants, readdir, stat, type FileHandle } from 'node:fs/promises';
import * as z from 'zod/mini';
import { nearest } from '../../lib/nearest.ts';
import { defineTool } from '../define-tool.ts';
import { imageKind, imageSideMax, isShowable } from '../../lib/image-kind.ts';
import type { ImageKind } from '../../lib/image-size.ts';
import { grouped } from '../output-bound.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { fileProblem } from '../workspace-path.ts';
import { settleAnswer, type Approved } from './ask-first.ts';
import type { Located } from './confined-open.ts';
import { atPlace, failed, wholeFileBytesMax, type FileDeps } from './file-deps.ts';
import type { HeldEntry } from './held-folder.ts';
import { mayRead } from './may-read.ts';
import { readLines, type LineWindow } from './read-lines.ts';
import { readWhole, sha256Of } from './read-whole.ts';
import { workedOn } from './worked-on.ts';

export const linesMaxPerCall = 2_000;
export const bytesMaxPerCall = 100_000;
export const imageBytesMax = 5_000_000;
/** A NUL among the first bytes marks a binary file. */
const sniffedBytes = 8_192;
const namesShownMax = 100;
const suggestionsMax = 3;

const schema = z.strictObject({
  path: z.string(),
  offset: z.optional(z.int().check(z.gte(1))),
  limit: z.optional(z.int().check(z.gte(1))),
});

type ReadInput = z.output<typeof schema>;

export function createReadFileTool(deps: FileDeps): Tool<ReadInput> {
  const tool = defineTool({
    name: 'read_file',
    description: `Reads a text file or picture: limit lines (at most ${linesMaxPerCall}) from line offset on.`,
    effect: 'read',
    replay: 'safe',
    schema,
    run: (input, context) => readFile(deps, input, context, null),
    sideBySide: ({ path }) => workedOn(path),
    worksOn: ({ path }) => [path],
  });
  return {
    ...tool,
    answered: (input, answer, context, asked) =>
      settleAnswer(deps.gate, asked, answer, context, (approved) => readFile(deps, input, context, approved)),
  };
}

async function readFile(
  deps: FileDeps,
  input: ReadInput,
  context: ToolContext,
  approved: Approved,
): Promise<ToolOutcome> {
  return atPlace(deps, input.path, context, async (place) => {
    const { where } = place;
    if (where.kind === 'refused') return failed(where.problem);
    const { shown } = where;
    try {
      const stopped = await mayRead(deps, place, where, context, approved);
      if (stopped !== null) return stopped;
      if (where.name === '') return failed(await folderListing(where));
      if (where.entry === null) return failed(await missing(where));
      if (!where.entry.stats.isFile()) return failed(`${shown} is neither a file nor a folder and can't be read.`);
      const outcome = await readEntry(where.entry, shown, input, context.signal);
      if (outcome.kind === 'finished') await noteSeen(deps, where.path, where.entry, context);
      return outcome;
    } catch (error) {
      context.signal.throwIfAborted();
      return failed(`${shown} can't be read: ${fileProblem(error)}.`);
    }
  });
}

/** What changed while it was read was not seen: the next one to write it is told so. */
async function noteSeen(
  { seen }: FileDeps,
  path: string,
  entry: HeldEntry,
  { spoolFolder }: ToolContext,
): Promise<void> {
  const bytes = await readWhole(entry, wholeFileBytesMax);
  const { mtimeNs, size } = await stat(entry.way, { bigint: true });
  const isSame = mtimeNs === entry.stats.mtimeNs && size === entry.stats.size;
  if (bytes !== null && isSame) await seen.set(spoolFolder, path, sha256Of(bytes));
}

async function readEntry(entry: HeldEntry, shown: string, input: ReadInput, signal: AbortSignal): Promise<ToolOutcome> {
  const file = await entry.open(constants.O_RDONLY);
  try {
    const { size } = await file.stat();
    const start = await beginningOf(file);
    const mediaType = imageKind(start);
    if (mediaType !== null && start.includes(0)) return await picture(entry, shown, mediaType, size);
    if (start.includes(0)) {
      return failed(`${shown} is a binary file (${grouped(size)} bytes); read_file shows text and pictures only.`);
    }
    const firstLine = input.offset ?? 1;
    const linesMax = Math.min(input.limit ?? linesMaxPerCall, linesMaxPerCall);
    const window = await readLines(file, { firstLine, linesMax, bytesMax: bytesMaxPerCall }, signal);
    return tell(window, firstLine, shown, size);
  } finally {
    await file.close();
  }
}

async function picture(entry: HeldEntry, shown: string, mediaType: ImageKind, size: number): Promise<ToolOutcome> {
  const bytes = await readWhole(entry, imageBytesMax);
  if (bytes === null) {
    return failed(`${shown} is a picture of ${grouped(size)} bytes; at most ${grouped(imageBytesMax)} can be shown.`);
  }
  if (!isShowable(mediaType, bytes)) {
    const why = `it is broken, or a side has more than ${grouped(imageSideMax)} pixels`;
    return failed(`${shown} is a picture that can't be shown: ${why}.`);
  }
  const text = `[${shown} is a picture: ${mediaType}, ${grouped(bytes.length)} bytes]`;
  return { kind: 'finished', text, images: [{ mediaType, bytes }] };
}

function tell(window: LineWindow, firstLine: number, shown: string, fileBytes: number): ToolOutcome {
  if (window.kind === 'past-end') {
    if (window.linesTotal === 0) return { kind: 'finished', text: `[${shown} is empty]` };
    return failed(`${shown} has ${grouped(window.linesTotal)} lines; there is no line ${firstLine}.`);
  }
  const notes = [
    ...(firstLine === 1 && !window.hasMore ? [] : [header(window, firstLine, shown, fileBytes)]),
    ...(isUtf8(window.bytes) ? [] : [`${shown} is not in UTF-8; each \ufffd stands for what could not be read`]),
  ];
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(window.bytes);
  return { kind: 'finished', text: [...notes.map((note) => `[${note}]`), text].join('\n') };
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

async function beginningOf(file: FileHandle): Promise<Uint8Array> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(sniffedBytes), 0, sniffedBytes, 0);
  return buffer.subarray(0, bytesRead);
}

async function folderListing({ folder, shown }: Located): Promise<string> {
  const entries = await readdir(folder.way, { withFileTypes: true });
  if (entries.length === 0) return `${shown} is a folder, and it is empty.`;
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const rest = names.length - namesShownMax;
  const tail = rest > 0 ? ` and ${grouped(rest)} more` : '';
  return `${shown} is a folder. In it: ${names.slice(0, namesShownMax).join(', ')}${tail}.`;
}

async function missing({ folder, missingFolders, name, shown }: Located): Promise<string> {
  if (missingFolders.length > 0) return `${shown} does not exist, nor does the folder it would be in.`;
  const names = await readdir(folder.way).catch(() => []);
  const near = nearest(name, names, suggestionsMax);
  const before = shown.slice(0, shown.length - name.length);
  const meant = near.map((other) => `${before}${other}`).join(' or ');
  return `${shown} does not exist.${meant === '' ? '' : ` Did you mean ${meant}?`}`;
}
