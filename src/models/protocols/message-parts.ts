/**
 * What parts of messages become on any wire, before a dialect gives them its shape: text that every JSON parser takes,
 * arguments that are a JSON object, names that providers accept, and words for what can't be shown. Pure, never throws.
 */
import type {
  CallOutcome,
  FilePart,
  ImagePart,
  StoredContent,
  ToolDefinition,
  ToolResultPart,
} from '../../protocol/messages.ts';
import type { ModelRequest, Runtime } from '../model.ts';

/** The formats that all providers with eyes can read. */
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const toolNameCharsMax = 64;

/** Half a surrogate pair is a string here and an error in other parsers. */
export function jsonText(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** Providers refuse text without a visible character; what counts as space differs between their languages. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Cc}]*$/u.test(text);
}

/** The arguments as the model wrote them if they are a JSON object, otherwise `{}`: their result names the mistake. */
export function argumentsObject(text: string): string {
  const trimmed = text.trim().toWellFormed();
  try {
    const decoded: unknown = JSON.parse(trimmed);
    if (typeof decoded !== 'object' || decoded === null || Array.isArray(decoded)) return '{}';
    // The model's own text keeps numbers that no double holds; only an escaped half of a pair has to go.
    return /\\u[dD][89a-fA-F]/.test(trimmed) ? JSON.stringify(wellFormed(decoded)) : trimmed;
  } catch {
    return '{}';
  }
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]));
}

/** A model may call what has never had that name; providers refuse to be sent such a name back. */
export function toolName(name: string): string {
  const clean = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, toolNameCharsMax);
  return clean === '' ? 'unnamed' : clean;
}

export function toolParameters(tool: ToolDefinition): string {
  const { type = 'object', ...rest } = tool.parameters;
  return JSON.stringify(wellFormed({ type, ...rest }));
}

const saidNothing: Readonly<Record<CallOutcome, string>> = {
  finished: '(It finished and said nothing.)',
  failed: '(It failed and said nothing.)',
  unknown: '(Whether it finished is not known.)',
  skipped: '(It was not run.)',
};

const outcomeWords: Readonly<Record<CallOutcome, string>> = {
  finished: '',
  failed: '[failed] ',
  unknown: '[outcome unknown] ',
  skipped: '[not run] ',
};

/** `isFlagged`: the dialect itself says that a call failed. */
export function resultText(result: ToolResultPart, isFlagged: boolean): string {
  const words = isFlagged && result.outcome === 'failed' ? '' : outcomeWords[result.outcome];
  return words + (isBlank(result.text) ? saidNothing[result.outcome] : result.text);
}

export interface ToldResult {
  /** With a word for each picture that can't be shown. */
  readonly text: string;
  readonly pictures: readonly { readonly mediaType: string; readonly data: string }[];
}

export function toldResult(
  runtime: Runtime,
  request: ModelRequest,
  result: ToolResultPart,
  isFlagged: boolean,
): ToldResult {
  const lines = [resultText(result, isFlagged)];
  const pictures: { mediaType: string; data: string }[] = [];
  for (const content of result.images ?? []) {
    const part = { kind: 'image', content } as const;
    const data = imageBytes(runtime, request, part);
    if (data === null) lines.push(contentWords(part));
    else pictures.push({ mediaType: content.mediaType, data });
  }
  return { text: lines.join('\n'), pictures };
}

/** Null if the model can't be shown it. */
export function imageBytes(
  runtime: Runtime,
  request: ModelRequest,
  { content }: { readonly content: StoredContent },
): string | null {
  if (!runtime.seesImages || !imageTypes.has(content.mediaType)) return null;
  const bytes = request.contents.get(content.sha256);
  return bytes === undefined || bytes.length === 0 ? null : Buffer.from(bytes).toString('base64');
}

/** Names what was attached where the thing itself can't be sent. */
export function contentWords(part: ImagePart | FilePart): string {
  const { mediaType, bytes } = part.content;
  const what = part.kind === 'image' ? 'An image' : `A file named ${JSON.stringify(part.name)}`;
  const where =
    part.kind === 'file' && part.path !== undefined
      ? `: it is in the workspace as ${JSON.stringify(part.path)}`
      : "; you can't see it here";
  return `[${what} (${mediaType}, ${bytes} bytes) was attached${where}.]`;
}

export const emptyMessageWords = '(an empty message)';
