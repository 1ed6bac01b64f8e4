/**
 * What may become an entry: one line of text that can be seen, without anything that looks like a secret. Whatever is
 * remembered stands in the prompt of later sessions, so a line that gives orders is known as one. Pure.
 */
import { plainText } from '../output-bound.ts';

export const entryCharsMax = 500;

export type CleanedEntry =
  | { readonly kind: 'clean'; readonly text: string; readonly hadUnseen: boolean; readonly isOrder: boolean }
  | { readonly kind: 'refused'; readonly why: string };

/** What shows nothing, and can carry words that only a model reads. Joiners stay inside pictures and scripts that need them. */
const unseen =
  /(?![\u200c\u200d])[\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]|(?<!\p{L}|\p{M}|\p{Extended_Pictographic}|\ufe0f)[\u200c\u200d]/gu;

export function cleanEntry(text: string): CleanedEntry {
  const printable = plainText(text).toWellFormed();
  const seen = withoutUnseen(printable);
  const line = seen
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replace(/^[-*+] /, '');
  if (line === '') return { kind: 'refused', why: 'the text is empty' };
  if (line.length > entryCharsMax) {
    return { kind: 'refused', why: `the text has ${line.length} characters, and an entry at most ${entryCharsMax}` };
  }
  const secret = secretIn(line);
  if (secret !== null) {
    return { kind: 'refused', why: `it looks like ${secret}, and secrets are not remembered: they belong into .env` };
  }
  return { kind: 'clean', text: line, hadUnseen: seen !== printable, isOrder: looksLikeOrder(line) };
}

export function withoutUnseen(text: string): string {
  // A variation selector belongs to the picture before it.
  return text.replaceAll(unseen, (character, offset: number) =>
    character === '\ufe0f' && /\p{Extended_Pictographic}$/u.test(text.slice(Math.max(0, offset - 2), offset))
      ? character
      : '',
  );
}

const orders: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|all|any|your|system)\b.{0,40}\b(?:instructions?|rules?|prompts?|messages?|guidelines|directions?)\b/iu,
  /\b(?:you are now|from now on,? you (?:are|must|will)|act as if you|pretend (?:to be|that you))\b/iu,
  /\b(?:system prompt|developer message|jailbreak|do anything now)\b/iu,
  /<\/?(?:system|assistant|user|instructions?|tool)\b[^>]*>|\[\/?(?:INST|SYSTEM)\]|<\|[a-z_]+\|>/iu,
  /\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to|show) (?:the )?(?:user|owner|person|anyone)\b/iu,
  /\b(?:send|post|upload|forward|exfiltrate)\b.{0,60}\b(?:https?:|webhook|to this (?:address|url))/iu,
];

export function looksLikeOrder(line: string): boolean {
  const plain = withoutUnseen(line).normalize('NFKC');
  return orders.some((order) => order.test(plain));
}

const secrets: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY/u, 'a private key'],
  [/\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/u, 'an API key'],
  [/\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/u, 'an API key'],
  [/\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}/u, 'a token'],
  [/\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{20,}/u, 'a token'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}/u, 'an access key'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/u, 'a token'],
  [/\b\d{8,12}:[A-Za-z0-9_-]{30,}/u, 'a bot token'],
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/iu, 'an address with a password'],
  [
    /\b(?:pass(?:word|phrase|code)?|pwd|secret|api[ _-]?key|access[ _-]?key|token|pin(?: code)?)\b['"]?(?:\s*[:=]\s*|\s+(?:is|=)\s+)['"]?(?!(?:in|on|at|kept|stored|a|an|the|not|for|from|with|my|his|her|their|to|required|needed|set|changed)\b)\S{4,}/iu,
    'a password',
  ],
];

/** Long, and of all kinds of characters: nobody writes words like that. */
const random = /[A-Za-z0-9_+=-]{32,}/gu;

function secretIn(line: string): string | null {
  const known = secrets.find(([pattern]) => pattern.test(line));
  if (known !== undefined) return known[1];
  const isRandom = (line.match(random) ?? []).some(
    (run) => /[A-Z]/.test(run) && /[a-z]/.test(run) && (run.match(/[0-9]/g) ?? []).length >= 3,
  );
  return isRandom ? 'a key or a token' : null;
}
