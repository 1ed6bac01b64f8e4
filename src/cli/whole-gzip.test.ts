import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { wholeGzip } from './whole-gzip.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function passed(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of wholeGzip(chunks)) all.push(chunk);
  return Buffer.concat(all);
}

describe('a gzip stream', () => {
  const packed = gzipSync(randomBytes(3_000_000));

  test('that is whole passes unchanged', async () => {
    assert.deepEqual(await passed(pieces(packed, 50_000)), packed);
  });

  test('that ends early, or is none, is refused', async () => {
    const refused = { name: 'CliError', message: /broke off in the middle/, exitCode: 1 };
    await assert.rejects(passed(pieces(packed.subarray(0, 1_000_000), 50_000)), refused);
    await assert.rejects(passed(pieces(packed.subarray(0, -4), 50_000)), refused);
    await assert.rejects(passed(pieces(Buffer.from('hello'), 2)), refused);
    await assert.rejects(passed(pieces(Buffer.alloc(0), 1)), refused);
  });

  test('that fails passes its own failure on', async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield packed.subarray(0, 1_000);
      throw new Error('the gateway died');
    }
    await assert.rejects(passed(failing()), /the gateway died/);
  });
});
