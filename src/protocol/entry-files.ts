/** The files and pictures in an entry of a session's log, each under the name by which people ask for it. Pure. */
import type { Entry, StoredContent } from './messages.ts';

export interface EntryFile {
  readonly name: string;
  readonly content: StoredContent;
  /** `sent`: to the person. `received`: from them. `seen`: shown to the model by a tool. */
  readonly way: 'sent' | 'received' | 'seen';
}

export function filesOf(entry: Entry): EntryFile[] {
  if (entry.kind !== 'message') return [];
  const files: EntryFile[] = [];
  let pictures = 0;
  // Pictures have no names: their place in the log is one.
  const nameOf = ({ mediaType }: StoredContent) => {
    pictures += 1;
    const ending = /^image\/([a-z]+)$/.exec(mediaType)?.[1] ?? 'bin';
    return `image-${entry.seq}${pictures === 1 ? '' : `-${pictures}`}.${ending}`;
  };
  for (const part of entry.message.parts) {
    if (part.kind === 'image') files.push({ name: nameOf(part.content), content: part.content, way: 'received' });
    if (part.kind === 'file') files.push({ name: part.name, content: part.content, way: 'received' });
    if (part.kind !== 'tool-result') continue;
    for (const content of part.images ?? []) files.push({ name: nameOf(content), content, way: 'seen' });
    for (const { name, content } of part.files ?? []) files.push({ name, content, way: 'sent' });
  }
  return files;
}

export function fileSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Where the local API gives the bytes out. */
export function contentPath(sha256: string, name: string): string {
  // Half a character has no place in an address.
  const whole = name.replaceAll(/\p{Cs}/gu, '\ufffd');
  return `/api/contents/${encodeURIComponent(sha256)}?name=${encodeURIComponent(whole)}`;
}
