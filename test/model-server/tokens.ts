/** How long a text is in tokens: four bytes each. Simple, the same everywhere, and close enough. */
const bytesPerToken = 4;

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

export function tokensOf(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}

/** Of a beginning: only whole tokens are shared. */
export function sharedTokens(bytes: number): number {
  return Math.floor(bytes / bytesPerToken);
}
