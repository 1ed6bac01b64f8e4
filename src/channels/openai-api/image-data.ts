/**
 * Images that come inside a request, as data URLs. Addresses elsewhere are refused: fetching them would let whoever may
 * talk reach whatever this machine can reach. What an image is, its first bytes say, not its label. Pure.
 */
import { createHash } from 'node:crypto';
import { imageKind } from '../../lib/image-kind.ts';
import type { ImagePart } from '../../protocol/messages.ts';
import { badRequest } from './api-error.ts';
import type { Content } from './port.ts';

export const imageBytesMax = 10_000_000;

const labelCharsMax = 200;

export interface ReceivedImage {
  readonly part: ImagePart;
  readonly content: Content;
}

export function imageFrom(url: unknown, param: string): ReceivedImage {
  if (typeof url !== 'string') throw badRequest(`\`${param}\` must be a data URL.`, param, 'invalid_image_url');
  const comma = url.slice(0, labelCharsMax).indexOf(',');
  if (!/^data:/i.test(url) || comma === -1 || !/;base64$/i.test(url.slice(0, comma))) {
    const text = 'Send the image itself as a data URL (data:image/png;base64,…); addresses are not fetched.';
    throw badRequest(text, param, 'invalid_image_url');
  }
  const encoded = url.slice(comma + 1);
  if (encoded === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) {
    throw badRequest('The image is not valid base64.', param, 'invalid_base64_image');
  }
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.byteLength > imageBytesMax) {
    throw badRequest(`An image may have ${imageBytesMax / 1e6} MB at most.`, param, 'image_too_large');
  }
  const mediaType = imageKind(bytes);
  if (mediaType === null) {
    throw badRequest('The image must be a PNG, JPEG, GIF or WebP.', param, 'invalid_image_format');
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const part: ImagePart = { kind: 'image', content: { sha256, bytes: bytes.byteLength, mediaType } };
  return { part, content: { sha256, bytes } };
}
