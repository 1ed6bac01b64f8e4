/**
 * Tells whether JSON is too much before it is parsed. Nested too deeply, the parser would manage, but whatever walks the
 * value afterwards runs out of stack. Of too many values: 32 MB of `{}` become 700 MB of objects and seconds of standstill.
 * Looks at brackets and commas outside of strings only and says nothing about validity. Pure.
 */
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

export interface JsonLimits {
  readonly depthMax: number;
  /** Values in lists and objects, all together. */
  readonly valuesMax: number;
}

export function isDeeperThan(bytes: Uint8Array, depthMax: number): boolean {
  return jsonExcess(bytes, { depthMax, valuesMax: Infinity }) === 'depth';
}

/** Which limit it is beyond; null if none. */
export function jsonExcess(bytes: Uint8Array, { depthMax, valuesMax }: JsonLimits): 'depth' | 'values' | null {
  if (bytes.byteLength <= depthMax && bytes.byteLength <= valuesMax) return null;
  let depth = 0;
  let values = 0;
  for (let index = 0; index < bytes.byteLength; index++) {
    switch (bytes[index]) {
      case quote:
        index = endOfString(bytes, index);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        values += 1;
        if (depth > depthMax) return 'depth';
        if (values > valuesMax) return 'values';
        break;
      case comma:
        values += 1;
        if (values > valuesMax) return 'values';
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      default:
    }
  }
  return null;
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
