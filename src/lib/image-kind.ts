/**
 * Which pictures can be shown, by their bytes. What a stranger calls them does not count: a provider that was sent something
 * else, or something larger, refuses the whole conversation from then on.
 */
import { imageSize, type ImageKind } from './image-size.ts';

/** In pixels; no provider takes a longer one. */
export const imageSideMax = 8_000;

/** By how they begin; null if they are no picture of a kind that models know. */
export function imageKind(bytes: Uint8Array): ImageKind | null {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  if (/^RIFF[^]{4}WEBP/.test(start)) return 'image/webp';
  return null;
}

/** Of a whole picture. */
export function isShowable(kind: ImageKind, bytes: Uint8Array): boolean {
  return imageSize(kind, bytes).every((side) => side >= 1 && side <= imageSideMax);
}
