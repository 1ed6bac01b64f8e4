/** The bytes of a response, unpacked, up to a limit. What unpacks to more than that is never held whole. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { EgressError } from '../egress.ts';

const unpackers: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};
const layersMax = 2;

/** Throws an `EgressError`, or what the connection failed with. */
export async function readBody(response: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of unpacked(response) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      response.destroy();
      throw new EgressError('too-large', `The answer is larger than ${(bytesMax / 1e6).toFixed(1)} MB.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unpacked(response: IncomingMessage): Readable | NodeJS.ReadWriteStream {
  const names = (response.headers['content-encoding'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > layersMax) throw new EgressError('unreachable', 'The answer is packed too many times.');
  const steps = names.reverse().map((name) => {
    const unpack = unpackers[name];
    if (unpack === undefined) throw new EgressError('unreachable', `The answer is packed in an unknown way (${name}).`);
    return unpack();
  });
  const last = steps.at(-1);
  if (last === undefined) return response;
  // The failure of any part shows at the last one, which is being read.
  pipeline([response, ...steps], () => {});
  return last;
}
