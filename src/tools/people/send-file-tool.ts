/**
 * The tool `send_file`: gives the person a file, as it is at this moment. It sends nothing itself: the file is part of its
 * result, and goes out with it once that is stored, so that running it again after a crash sends nothing twice.
 */
import * as z from 'zod/mini';
import { mediaTypeOf } from '../../lib/media-type.ts';
import { defineTool } from '../define-tool.ts';
import type { OpenForReading } from '../opened-file.ts';
import type { Tool } from '../tool.ts';

/** As much as a result may send. */
const fileBytesMax = 20_000_000;
const captionCharsMax = 1_000;

const schema = z.strictObject({
  path: z.string(),
  caption: z.optional(z.string().check(z.maxLength(captionCharsMax))),
});

export function createSendFileTool({
  openForReading,
}: {
  readonly openForReading: OpenForReading;
}): Tool<z.output<typeof schema>> {
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
