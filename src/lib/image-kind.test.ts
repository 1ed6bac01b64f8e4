import assert from 'node:assert/strict';
import test from 'node:test';
import { imageKind, imageSideMax, isShowable } from './image-kind.ts';
import { imageSize } from './image-size.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');
const two = (value: number) => [value >> 8, value & 255];
const twoBack = (value: number) => [value & 255, value >> 8];

function png(width: number, height: number): Uint8Array {
  const header = [0, 0, 0, 13, ...latin('IHDR'), 0, 0, ...two(width), 0, 0, ...two(height)];
  return Uint8Array.of(...latin('\x89PNG\r\n\x1a\n'), ...header);
}
const gif = (width: number, height: number) => Uint8Array.of(...latin('GIF89a'), ...twoBack(width), ...twoBack(height));
/** With a thumbnail's worth of other things before the size, and a filler. */
const jpeg = (width: number, height: number) =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe1, ...two(40_002)]),
    Buffer.alloc(40_000),
    Buffer.from([0xff, 0xff, 0xc2, ...two(11), 8, ...two(height), ...two(width), 1, 1, 0x11, 0]),
  ]);
const webp = (kind: string, ...rest: number[]) => Uint8Array.of(...latin(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`), ...rest);
const lossless = (width: number, height: number) => {
  const bits = (width - 1) | ((height - 1) << 14);
  return webp('VP8L', 0x2f, bits & 255, (bits >> 8) & 255, (bits >> 16) & 255, bits >>> 24);
};
const lossy = (width: number, height: number) =>
  webp('VP8 ', 0, 0, 0, 0x9d, 1, 0x2a, ...twoBack(width), ...twoBack(height));
const extended = (width: number, height: number) =>
  webp('VP8X', 0, 0, 0, 0, ...twoBack(width - 1), 0, ...twoBack(height - 1), 0);

for (const [name, make] of Object.entries({ png, gif, jpeg, lossless, lossy, extended })) {
  test(`the size of a picture is read: ${name}`, () => {
    const kind = imageKind(make(1, 1));
    assert.ok(kind !== null);
    assert.deepEqual(imageSize(kind, make(1_234, 567)), [1_234, 567]);
    assert.deepEqual(
      [make(imageSideMax, 1), make(1, imageSideMax), make(imageSideMax + 1, 1), make(1, imageSideMax + 1)].map(
        (bytes) => isShowable(kind, bytes),
      ),
      [true, true, false, false],
    );
    // Whatever is missing at the end is no size.
    assert.equal(isShowable(kind, make(9, 9).subarray(0, -8)), false);
  });
}

test('what is no picture is none, and one without an end is not looked through for ever', () => {
  assert.deepEqual(
    ['', '<html>', 'GIF90a', 'RIFF1234WAVE'].map((text) => imageKind(latin(text))),
    [null, null, null, null],
  );
  assert.equal(isShowable('image/jpeg', latin('\xff\xd8\xff\xff\xff')), false);
  assert.equal(isShowable('image/jpeg', latin('\xff\xd8\xff\xe0\0\0')), false);
});
