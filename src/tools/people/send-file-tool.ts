/**
 * The tool `send_file`: gives the person a file, as it is at this moment. It sends nothing itself: the file is part of its
 * result, and goes out with it once that is stored, so that running it again after a crash sends nothing twice.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import * as z from 'zod/mini';
import { mediaTypeOf } from '../../lib/media-type.ts';
import { defineTool } from '../define-tool.ts';
import type { Tool, ToolContext } from '../tool.ts';
import { fileProblem, hasCode, placeInWorkspace } from '../workspace-path.ts';

/** As much as a result may send. */
const fileBytesMax = 20_000_000;
const captionCharsMax = 1_000;

export type OpenedFile =
  | { readonly kind: 'opened'; readonly name: string; readonly shown: string; readonly bytes: Uint8Array }
  /** `problem` is a sentence. */
  | { readonly kind: 'refused'; readonly problem: string };

/** A file that may be read, whole. Does not throw. */
export type OpenForReading = (
  path: string,
  context: Pick<ToolContext, 'workspace' | 'spoolFolder'>,
  bytesMax: number,
) => Promise<OpenedFile>;

const schema = z.strictObject({
  path: z.string(),
  caption: z.optional(z.string().check(z.maxLength(captionCharsMax))),
});

export function createSendFileTool(
  deps: { readonly openForReading?: OpenForReading } = {},
): Tool<z.output<typeof schema>> {
  const { openForReading = openInWorkspace } = deps;
  return defineTool({
    name: 'send_file',
    description: 'Sends a file to the user.',
    effect: 'write',
    replay: 'safe',
    schema,
    sideBySide: () => 'any',
    async run({ path, caption }, context) {
      const opened = await openForReading(path, context, fileBytesMax);
      if (opened.kind === 'refused') return { kind: 'failed', text: opened.problem };
      const { name, shown, bytes } = opened;
      if (bytes.byteLength === 0) return { kind: 'failed', text: `${shown} is empty: there is nothing to send.` };
      const file = { name, mediaType: mediaTypeOf(name), bytes };
      const files = [caption === undefined ? file : { ...file, caption }];
      return { kind: 'finished', text: `Sent ${shown} (${sizeOf(bytes.byteLength)}).`, files };
    },
  });
}

function sizeOf(bytes: number): string {
  return bytes < 1_000
    ? `${bytes} B`
    : bytes < 1e6
      ? `${Math.round(bytes / 1e3)} KB`
      : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Inside the workspace and nowhere else. */
const openInWorkspace: OpenForReading = async (path, { workspace }, bytesMax) => {
  const refused = (problem: string): OpenedFile => ({ kind: 'refused', problem });
  const place = await placeInWorkspace(workspace, path);
  if (place.kind === 'refused') return refused(place.problem);
  const { shown } = place;
  try {
    // Neither a link that was put there since nor a pipe that nobody writes to.
    const file = await open(place.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return refused(`${shown} is not a regular file.`);
      if (stats.size > bytesMax)
        return refused(`${shown} has ${sizeOf(stats.size)}; at most ${sizeOf(bytesMax)} can be sent.`);
      const bytes = await file.readFile();
      return { kind: 'opened', name: basename(place.path), shown, bytes };
    } finally {
      await file.close();
    }
  } catch (error) {
    return refused(
      hasCode(error, 'ENOENT') ? `${shown} does not exist.` : `${shown} can't be read: ${fileProblem(error)}.`,
    );
  }
};
