/**
 * What may become an entry: one line of text that can be seen, without anything that looks like a secret. Whatever is
 * remembered stands in the prompt of later sessions, so a line that gives orders is known as one. Pure.
 */
import { withoutInvisible } from '../invisible.ts';
import { defiantWords } from '../order-words.ts';
import { plainText } from '../output-bound.ts';

export const entryCharsMax = 500;

export type CleanedEntry =
  | { readonly kind: 'clean'; readonly text: string; readonly hadUnseen: boolean; readonly isOrder: boolean }
  | { readonly kind: 'refused'; readonly why: string };

export function cleanEntry(text: string): CleanedEntry {
  const seen = withoutInvisible(plainText(text).toWellFormed());
  const line = seen.text
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
  return { kind: 'clean', text: line, hadUnseen: seen.count > 0, isOrder: looksLikeOrder(line) };
}

const orders: readonly RegExp[] = [
  /\b(?:you are now|from now on,? you (?:are|must|will)|act as if you|pretend (?:to be|that you))\b/iu,
  /\b(?:system prompt|developer message|jailbreak|do anything now)\b/iu,
  /<\/?(?:system|assistant|user|instructions?|tool)\b[^>]*>|\[\/?(?:INST|SYSTEM)\]|<\|[a-z_]+\|>/iu,
  /\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to|show) (?:the )?(?:user|owner|person|anyone)\b/iu,
  /\b(?:send|post|upload|forward|exfiltrate)\b.{0,60}\b(?:https?:|webhook|to this (?:address|url))/iu,
];

export function looksLikeOrder(line: string): boolean {
  const seen = withoutInvisible(line).text;
  const plain = seen.normalize('NFKC');
  return defiantWords(seen, { loose: false }) !== null || orders.some((order) => order.test(plain));
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
