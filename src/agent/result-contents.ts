/**
 * What a finished call made besides text: pictures for the model and files for the person, checked against the limits
 * and named by their hashes. Pure but for hashing.
 */
import { hash } from 'node:crypto';
import type { SentFile, StoredContent, ToolResultPart } from '../protocol/messages.ts';
import type { Content } from '../store/store.ts';
import type { OutgoingFile, ToolImage, ToolOutcome } from '../tools/tool.ts';

export const filesPerCallMax = 10;
export const fileBytesMax = 20_000_000;
export const imagesPerCallMax = 4;
export const imageBytesMax = 5_000_000;

export interface ResultContents {
  /** Of the result, as it is stored. */
  readonly fields: Pick<ToolResultPart, 'images' | 'files' | 'untrusted' | 'projectFiles'>;
  readonly contents: readonly Content[];
  readonly sent: readonly { readonly file: SentFile; readonly caption: string }[];
}

export const noContents: ResultContents = { fields: {}, contents: [], sent: [] };

/** What is too much, as a sentence for the model; null if nothing is. */
export function contentsProblem(outcome: ToolOutcome): string | null {
  if (outcome.kind !== 'finished') return null;
  const { files = [], images = [] } = outcome;
  if (files.length > filesPerCallMax)
    return `Nothing was sent: one call may send at most ${filesPerCallMax} files, not ${files.length}.`;
  const large = files.find(({ bytes }) => bytes.byteLength > fileBytesMax);
  if (large !== undefined)
    return `Nothing was sent: ${JSON.stringify(large.name)} has ${megabytes(large.bytes)} MB, at most ${fileBytesMax / 1e6} MB can be sent.`;
  if (images.length > imagesPerCallMax)
    return `One call may show at most ${imagesPerCallMax} pictures, not ${images.length}.`;
  const heavy = images.find(({ bytes }) => bytes.byteLength > imageBytesMax);
  if (heavy !== undefined)
    return `A picture has ${megabytes(heavy.bytes)} MB, at most ${imageBytesMax / 1e6} MB can be shown. Make it smaller.`;
  return null;
}

function megabytes({ byteLength }: Uint8Array): string {
  return (byteLength / 1e6).toFixed(1);
}

export function resultContents(outcome: ToolOutcome): ResultContents {
  if (outcome.kind === 'failed' && outcome.untrusted !== undefined) {
    return { ...noContents, fields: { untrusted: outcome.untrusted } };
  }
  if (outcome.kind !== 'finished') return noContents;
  const { images = [], files = [], untrusted } = outcome;
  const contents: Content[] = [];
  const keep = ({ bytes, mediaType }: ToolImage | OutgoingFile): StoredContent => {
    const sha256 = hash('sha256', bytes);
    contents.push({ sha256, bytes });
    return { sha256, bytes: bytes.byteLength, mediaType };
  };
  const shown = images.map(keep);
  const sent = files.map((file) => {
    return { file: { name: file.name, content: keep(file) }, caption: file.caption ?? '' };
  });
  return {
    fields: {
      ...(shown.length === 0 ? {} : { images: shown }),
      ...(sent.length === 0 ? {} : { files: sent.map(({ file }) => file) }),
      ...(untrusted === undefined ? {} : { untrusted }),
    },
    contents,
    sent,
  };
}
