/**
 * What has to go back with an answer besides its words: the reasoning details of one provider, the signatures of
 * another. Kept as the opaque text of a reasoning part: written here, read here, nobody else looks into it.
 */
import type { ReasoningPart } from '../../../protocol/messages.ts';

export type ReasoningDetail = Readonly<Record<string, unknown>>;

export interface Thoughts {
  readonly text: string;
  readonly details: readonly ReasoningDetail[];
  /** By the number of the call in its answer. */
  readonly signatures: readonly (string | null)[];
}

/** What Google takes for a call that another model made, instead of the signature that it wants otherwise. */
export const unsignedCall = 'skip_thought_signature_validator';

/** Undefined if there is nothing to keep. */
export function sealThoughts(
  details: readonly ReasoningDetail[],
  signatures: readonly (string | null)[],
): string | undefined {
  const isSigned = signatures.some((signature) => signature !== null);
  if (details.length === 0 && !isSigned) return undefined;
  return JSON.stringify({ ...(details.length > 0 ? { details } : {}), ...(isSigned ? { signatures } : {}) });
}

export function openThoughts(parts: readonly ReasoningPart[]): Thoughts {
  const sealed = parts.flatMap((part) => (part.opaque === undefined ? [] : [parsed(part.opaque)]));
  return {
    text: parts.map((part) => part.text).join(''),
    details: sealed.flatMap(({ details }) => (Array.isArray(details) ? details.filter(isDetail) : [])),
    signatures: sealed.flatMap(({ signatures }) =>
      Array.isArray(signatures) ? signatures.map((each) => (typeof each === 'string' ? each : null)) : [],
    ),
  };
}

/** Pieces of one block, as a stream brings them, are one block again; blocks stay apart and in their order. */
export function addDetail(details: ReasoningDetail[], piece: ReasoningDetail): void {
  const last = details.at(-1);
  const field = piece['type'] === 'reasoning.text' ? 'text' : piece['type'] === 'reasoning.summary' ? 'summary' : null;
  const isSame = last !== undefined && last['type'] === piece['type'] && last['index'] === piece['index'];
  if (field === null || !isSame) {
    details.push(piece);
    return;
  }
  const told = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null && value !== undefined));
  details[details.length - 1] = { ...last, ...told, [field]: stringOf(last?.[field]) + stringOf(piece[field]) };
}

export function isDetail(value: unknown): value is ReasoningDetail {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function parsed(opaque: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(opaque);
    return isDetail(value) ? value : {};
  } catch {
    return {};
  }
}
