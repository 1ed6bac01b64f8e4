/**
 * Tells whether JSON is nested too deeply before it is parsed: the parser would manage, but whatever walks the value
 * afterwards runs out of stack. Looks at brackets outside of strings only and says nothing about validity. Pure.
 */
const quote = 0x22;
const backslash = 0x5c;

export function isDeeperThan(bytes: Uint8Array, depthMax: number): boolean {
  if (bytes.byteLength <= depthMax) return false;
  let depth = 0;
  for (let index = 0; index < bytes.byteLength; index++) {
    switch (bytes[index]) {
      case quote:
        index = endOfString(bytes, index);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > depthMax) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      default:
    }
  }
  return false;
}

/** Where the quote is that ends the string. Most of a large body is text, and this skips it at the speed of memory. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.byteLength;
}
