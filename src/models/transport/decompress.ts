/** Undoes an encoding that was not asked for: some gateways compress whatever passes. Bytes come out as they go in. */
import { ModelError } from '../model.ts';

/** What nobody here knows is left as it is: whoever reads it will see that it makes no sense. */
export function decompressed(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncIterable<Uint8Array> {
  const zlib = process.getBuiltinModule('node:zlib');
  const { Z_SYNC_FLUSH: flush, BROTLI_OPERATION_FLUSH: brotliFlush } = zlib.constants;
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return through(chunks, zlib.createGunzip({ flush, finishFlush: flush }));
    case 'deflate':
      return through(chunks, zlib.createInflate({ flush, finishFlush: flush }));
    case 'br':
      return through(chunks, zlib.createBrotliDecompress({ flush: brotliFlush, finishFlush: brotliFlush }));
    default:
      return chunks;
  }
}

async function* through(
  chunks: AsyncIterable<Uint8Array>,
  transform: NodeJS.ReadWriteStream & { destroy(): void },
): AsyncGenerator<Uint8Array> {
  const { pipeline, Readable } = process.getBuiltinModule('node:stream');
  // What goes wrong is thrown to the reader below; the callback only keeps it from being thrown twice.
  pipeline(Readable.from(chunks), transform, () => {});
  try {
    for await (const chunk of transform) yield chunk as unknown as Uint8Array;
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError('malformed-stream', 'The answer is compressed and can not be unpacked.', { cause: error });
  } finally {
    transform.destroy();
  }
}
