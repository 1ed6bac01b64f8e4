/**
 * What a server answered, as an outcome that a model can read: text as it is, pictures as pictures, everything else named.
 * All of it is a stranger's text and is marked so, also what the server calls an error.
 */
import type { ToolImage, ToolOutcome } from '../tool.ts';
import { imageKind, isShowable } from '../../lib/image-kind.ts';
import { boundText, grouped } from '../output-bound.ts';
import { isMap } from './clean-schema.ts';
import type { ServerResult } from './open-connection.ts';

const resultCharsMax = 1_000_000;
const blocksMax = 1_000;
const imagesMax = 4;
const imageBytesMax = 5_000_000;

export function resultOutcome(result: ServerResult): ToolOutcome {
  const images: ToolImage[] = [];
  const blocks = Array.isArray(result.content) ? result.content.slice(0, blocksMax) : [];
  const texts = blocks.map((block) => blockText(block, images));
  const left = (result.content?.length ?? 0) - blocks.length;
  if (left > 0) texts.push(`[… ${grouped(left)} more parts left out …]`);
  // Servers say the same in text, for those who do not know the other form.
  if (!blocks.some((block) => block.type === 'text') && result.structuredContent !== undefined) {
    texts.push(JSON.stringify(result.structuredContent));
  }
  const text = boundText(texts.join('\n').toWellFormed(), resultCharsMax);
  const shown = text === '' ? '(nothing)' : text;
  if (result.isError === true) return reportedFailure(shown);
  return { kind: 'finished', text: shown, untrusted: 'mcp', ...(images.length === 0 ? {} : { images }) };
}

/** A failure in the server's words, which are a stranger's like all others. */
export function reportedFailure(words: string): ToolOutcome {
  return { kind: 'failed', text: `The tool failed. Its server says:\n${boundText(words)}`, untrusted: 'mcp' };
}

type Block = NonNullable<ServerResult['content']>[number];

function blockText(block: Block, images: ToolImage[]): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return pictureText(block.data, block.mimeType, images);
    case 'audio':
      return `[sound, ${block.mimeType}, ${sizeOf(block.data)} bytes: can not be shown]`;
    case 'resource_link':
      return `[link to ${block.name}: ${block.uri}${block.description === undefined ? '' : ` (${block.description})`}]`;
    case 'resource':
      return resourceText(block.resource, images);
    default:
      return `[a part of an unknown kind: ${isMap(block) ? String(block['type']) : typeof block}]`;
  }
}

function resourceText(resource: Extract<Block, { type: 'resource' }>['resource'], images: ToolImage[]): string {
  if ('text' in resource) return `[${resource.uri}]\n${resource.text}`;
  const type = resource.mimeType ?? 'application/octet-stream';
  if (type.startsWith('image/')) return `[${resource.uri}] ${pictureText(resource.blob, type, images)}`.trim();
  return `[${resource.uri}, ${type}, ${sizeOf(resource.blob)} bytes: can not be shown]`;
}

function pictureText(data: string, mediaType: string, images: ToolImage[]): string {
  const size = sizeOf(data);
  const bytes = size > imageBytesMax ? new Uint8Array() : new Uint8Array(Buffer.from(data, 'base64'));
  const kind = imageKind(bytes);
  if (kind === null || !isShowable(kind, bytes) || images.length >= imagesMax) {
    return `[picture, ${mediaType}, ${size} bytes: can not be shown]`;
  }
  images.push({ mediaType: kind, bytes });
  return `[picture ${images.length}]`;
}

function sizeOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
