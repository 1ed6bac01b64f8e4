/**
 * Passes a gzip stream through and fails at its end if it is not whole. A connection can end politely in the middle
 * of a body; a backup that was cut so must never look like a good one.
 */
import { finished } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CliError } from './command.ts';

export async function* wholeGzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = createGunzip();
  // Only whether it can be read matters.
  reader.resume();
  const ended = finished(reader, { writable: false });
  // It is awaited below; until then a failure must not count as unhandled.
  ended.catch(() => {});
  try {
    for await (const chunk of chunks) {
      if (!reader.write(chunk)) await Promise.race([new Promise((resolve) => reader.once('drain', resolve)), ended]);
      yield chunk;
    }
    reader.end();
    await ended;
  } catch (error) {
    const isDamage = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
    if (!isDamage) throw error;
    throw new CliError('failed', 'the backup broke off in the middle and is not whole; run the command again', {
      cause: error,
    });
  } finally {
    reader.destroy();
  }
}
