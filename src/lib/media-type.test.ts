import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaTypeOf } from './media-type.ts';

test('a kind of file is known by the ending of its name, in any case; what is not known is bytes', () => {
  assert.deepEqual(['a.PDF', 'b.tar.gz', 'c', '.png', 'd.constructor', 'e.', 'f.unknown', 'g.jpeg '].map(mediaTypeOf), [
    'application/pdf',
    'application/gzip',
    'application/octet-stream',
    'image/png',
    'application/octet-stream',
    'application/octet-stream',
    'application/octet-stream',
    'application/octet-stream',
  ]);
});
