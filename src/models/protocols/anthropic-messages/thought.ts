/**
 * A thought between two calls of the same model. Beside its words the API gives a signature, or, for words that nobody
 * may read, only a sealed block; both must come back exactly. They are kept as JSON in a reasoning part's `opaque`.
 */
import type { ReasoningPart } from '../../../protocol/messages.ts';
import { jsonText } from '../message-parts.ts';

export function signedThought(signature: string): string {
  return `{"type":"thinking","signature":${JSON.stringify(signature)}}`;
}

export function sealedThought(data: string): string {
  return `{"type":"redacted_thinking","data":${JSON.stringify(data)}}`;
}

/** The content block that it came from; null if it can't be sent back. */
export function thoughtBlock({ text, opaque }: ReasoningPart): string | null {
  const kept = opaque === undefined ? null : readKept(opaque);
  if (kept === null) return null;
  const seal = jsonText(kept.seal);
  if (kept.type === 'redacted_thinking') return `{"type":"redacted_thinking","data":${seal}}`;
  return `{"type":"thinking","thinking":${jsonText(text)},"signature":${seal}}`;
}

function readKept(opaque: string): { readonly type: string; readonly seal: string } | null {
  try {
    const { type, signature, data } = JSON.parse(opaque) as Record<string, unknown>;
    const seal = type === 'thinking' ? signature : type === 'redacted_thinking' ? data : null;
    return typeof type === 'string' && typeof seal === 'string' && seal !== '' ? { type, seal } : null;
  } catch {
    // Another dialect's, or damaged: it is left out like any other model's.
    return null;
  }
}
