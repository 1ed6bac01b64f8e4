/** Puts the bytes that were fetched into a message; for those that could not be had, the words instead. Pure but for hashing. */
import { createHash } from 'node:crypto';
import type { FilePart, ImagePart, TextPart } from '../../protocol/messages.ts';
import type { InboundMessage } from '../channel.ts';
import type { WantedFile } from './describe-content.ts';

export interface FetchedFile {
  readonly file: WantedFile;
  readonly bytes: Uint8Array | null;
}

export function withContents(inbound: InboundMessage, fetched: readonly FetchedFile[]): InboundMessage {
  if (fetched.length === 0) return inbound;
  const missing = fetched.filter(({ bytes }) => bytes === null).map(({ file }) => file.instead);
  const [text] = inbound.message.parts;
  const said = text?.kind === 'text' ? [text.text] : [];
  // A command is one only at the beginning.
  const lines = said[0]?.startsWith('/') === true ? [...said, ...missing] : [...missing, ...said];
  const words: TextPart[] = lines.length === 0 ? [] : [{ kind: 'text', text: lines.join('\n') }];
  const parts: (ImagePart | FilePart)[] = [];
  const contents: { sha256: string; bytes: Uint8Array }[] = [];
  for (const { file, bytes } of fetched) {
    if (bytes === null) continue;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const content = { sha256, bytes: bytes.byteLength, mediaType: file.mediaType };
    parts.push(file.kind === 'image' ? { kind: 'image', content } : { kind: 'file', name: file.name, content });
    contents.push({ sha256, bytes });
  }
  return { ...inbound, message: { ...inbound.message, parts: [...words, ...parts] }, contents };
}
