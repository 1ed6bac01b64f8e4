/** How wide and high a picture says that it is, of the kinds that models can be shown. Pure. */
export type ImageKind = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

export type ImageSize = readonly [width: number, height: number];

/** `bytes` are all of it. What is not there is no number, or 0. */
export function imageSize(kind: ImageKind, bytes: Uint8Array): ImageSize {
  switch (kind) {
    case 'image/png':
      return textAt(bytes, 12) === 'IHDR' ? [big(bytes, 16, 4), big(bytes, 20, 4)] : nothing;
    case 'image/gif':
      return [little(bytes, 6, 2), little(bytes, 8, 2)];
    case 'image/jpeg':
      return jpegSize(bytes);
    case 'image/webp':
      return webpSize(bytes);
  }
}

const nothing: ImageSize = [0, 0];

/** Markers whose segment begins with the size of the picture. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Segment after segment, each with its length, up to the one that tells. */
function jpegSize(bytes: Uint8Array): ImageSize {
  for (let at = 2; at < bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker)) return [big(bytes, at + 7, 2), big(bytes, at + 5, 2)];
    // Any number of these may stand before a marker.
    if (marker === 0xff) at += 1;
    else at += 2 + Math.max(2, big(bytes, at + 2, 2));
  }
  return nothing;
}

function webpSize(bytes: Uint8Array): ImageSize {
  switch (textAt(bytes, 12)) {
    case 'VP8 ':
      return [little(bytes, 26, 2) & 0x3fff, little(bytes, 28, 2) & 0x3fff];
    case 'VP8L': {
      const bits = little(bytes, 21, 4);
      return bytes[20] === 0x2f ? [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1] : nothing;
    }
    case 'VP8X':
      return [little(bytes, 24, 3) + 1, little(bytes, 27, 3) + 1];
    default:
      return nothing;
  }
}

function textAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, at + 4)).toString('latin1');
}

function big(bytes: Uint8Array, at: number, count: number): number {
  if (at + count > bytes.length) return Number.NaN;
  return bytes.subarray(at, at + count).reduce((sum, byte) => sum * 256 + byte, 0);
}

function little(bytes: Uint8Array, at: number, count: number): number {
  return big(bytes.slice(at, at + count).reverse(), 0, count);
}
