/**
 * The text of bytes from the web. A byte order mark says more than the server, the server more than the page; where nobody
 * has said anything it is UTF-8, or if it can not be that, what old pages in the West are written in. Pure.
 */
import { isUtf8 } from 'node:buffer';

/** `charset`: as somebody has named it; what nobody knows counts as not named. */
export function decodeText(bytes: Uint8Array, charset: string | null): string {
  const name = markedCharset(bytes) ?? charset;
  try {
    if (name !== null) return new TextDecoder(name).decode(bytes);
  } catch {
    // An unknown name.
  }
  return new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes);
}

function markedCharset([first, second, third]: Uint8Array): string | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : null;
}
