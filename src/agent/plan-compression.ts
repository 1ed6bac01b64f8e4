/**
 * What shortening a prompt would do, before any model is asked: which messages stay, which results become one line,
 * what there is to summarise, and whether it is worth it. A call and its results are never parted; what a person asked
 * for and nobody has answered stays word for word. Pure.
 */
import type { CallId } from '../protocol/ids.ts';
import { toolCallsOf, type CompressedPrompt, type Entry } from '../protocol/messages.ts';
import { digestOf, summaryPreface } from './compression-words.ts';
import type { CompressionReason } from './compression-due.ts';
import { headSize, messagesSize } from './prompt-size.ts';
import { messagesOfView, promptView, summaryMessage, withDigest, type PromptView } from './prompt-view.ts';
import type { MessageEntry } from './rewind.ts';

/** What must be won, as a part of the prompt. */
export const leastWin = 0.1;
/** Digests alone are enough if the prompt has no more than this part of the threshold then. */
const digestsEnoughShare = 0.6;
/** Shorter results stay as they are. */
const digestedCharsMin = 400;

export interface CompressionBounds {
  readonly thresholdTokens: number;
  readonly targetRatio: number;
  readonly protectLastN: number;
  /** Nothing but the newest step is protected: a provider has refused the prompt before. */
  readonly isPressed: boolean;
}

type Digests = CompressedPrompt['digests'];

export type CompressionPlan =
  | { readonly kind: 'too-little'; readonly tokensBefore: number }
  | { readonly kind: 'digests'; readonly done: CompressedPrompt }
  | {
      readonly kind: 'summarise';
      /** Empty if there is none yet. */
      readonly earlier: string;
      /** What the new summary must tell besides, in the order of the log. */
      readonly middle: readonly MessageEntry[];
      /** The prompt with this summary in it; null if it would win too little. */
      readonly finish: (summary: string, by: CompressedPrompt['by']) => CompressedPrompt | null;
      readonly tokensBefore: number;
    };

export function planCompression(
  entries: readonly Entry[],
  why: CompressionReason,
  bounds: CompressionBounds,
): CompressionPlan {
  const view = promptView(entries);
  const head = entries.findLast((entry) => entry.kind === 'head') ?? null;
  const headTokens = headSize(head?.head ?? null);
  const tokensBefore = headTokens + messagesSize(messagesOfView(view));
  const isWorthIt = (tokens: number) => tokens <= (1 - leastWin) * tokensBefore;
  const units = unitsOf(view.rest);
  const firstOfTail = tailStart(units, view.digests, bounds, tokensBefore);
  const older = units.slice(0, firstOfTail).flat();
  const { compressed } = view;
  const base = { why, headSeq: head?.seq ?? 0, tokensBefore };

  const digests = [...view.digests].map(([callId, text]) => ({ callId, text }));
  const withDigests = (of: readonly MessageEntry[], tokensMax: number): CompressionPlan | null => {
    const more = digestsOf(of, view.digests);
    const both = [...digests, ...more];
    const tokensAfter = headTokens + messagesSize(messagesOfView(digested(view, both)));
    if (more.length === 0 || !isWorthIt(tokensAfter) || tokensAfter > tokensMax) return null;
    const { toSeq = 0, preface = '', summary = '', by = 'rules', keeps = [] } = compressed ?? {};
    return { kind: 'digests', done: { ...base, toSeq, preface, summary, by, keeps, digests: both, tokensAfter } };
  };
  const enough = why === 'threshold' ? withDigests(older, digestsEnoughShare * bounds.thresholdTokens) : null;
  if (enough !== null) return enough;

  const toSeq = older.at(-1)?.seq ?? 0;
  const told = [...view.kept, ...older];
  const open = unanswered(entries, told);
  const middle = told.filter((entry) => !open.includes(entry));
  const winnable = messagesSize(middle.map(({ message }) => withDigest(message, view.digests)));
  if (toSeq === 0 || !isWorthIt(tokensBefore - winnable)) {
    // Results that came at once may be too long together: in one line each, the model can ask for less of them.
    const newest = bounds.isPressed ? withDigests(view.rest, Infinity) : null;
    return newest ?? { kind: 'too-little', tokensBefore };
  }
  const tail = units.slice(firstOfTail).flat();
  const inTail = digests.filter(({ callId }) => hasResult(tail, callId));
  return {
    kind: 'summarise',
    earlier: compressed?.summary ?? '',
    middle,
    tokensBefore,
    finish(summary, by) {
      const rest = [...open, ...tail].map(({ message }) => withDigest(message, view.digests));
      const tokensAfter = headTokens + messagesSize([summaryMessage({ preface: summaryPreface, summary }), ...rest]);
      if (summary === '' || !isWorthIt(tokensAfter)) return null;
      const keeps = open.map(({ seq }) => seq);
      return { ...base, toSeq, preface: summaryPreface, summary, by, keeps, digests: inTail, tokensAfter };
    },
  };
}

/** What must stay together: a person's message, or an answer with the results of its calls. */
export function unitsOf(entries: readonly MessageEntry[]): MessageEntry[][] {
  const units: MessageEntry[][] = [];
  for (const entry of entries) {
    const last = units.at(-1);
    if (entry.message.role === 'tool' && last !== undefined) last.push(entry);
    else units.push([entry]);
  }
  return units;
}

/** The first unit of those that stay: the newest ones within both limits, and the very newest in any case. */
function tailStart(
  units: readonly (readonly MessageEntry[])[],
  digests: PromptView['digests'],
  { thresholdTokens, targetRatio, protectLastN, isPressed }: CompressionBounds,
  tokensBefore: number,
): number {
  const tokensMax = targetRatio * Math.min(thresholdTokens, tokensBefore);
  let tokens = 0;
  let messages = 0;
  let start = units.length;
  for (const unit of units.toReversed()) {
    tokens += messagesSize(unit.map(({ message }) => withDigest(message, digests)));
    messages += unit.length;
    const isNewest = start === units.length;
    if (!isNewest && (isPressed || tokens > tokensMax || messages > protectLastN)) break;
    start -= 1;
  }
  return start;
}

function digestsOf(entries: readonly MessageEntry[], known: PromptView['digests']): Digests {
  const calls = new Map<CallId, { readonly name: string; readonly arguments: string }>();
  const digests: Digests[number][] = [];
  for (const { message } of entries) {
    if (message.role === 'assistant') for (const call of toolCallsOf(message)) calls.set(call.callId, call);
    if (message.role !== 'tool') continue;
    const [result] = message.parts;
    const isLong = result.text.length >= digestedCharsMin || (result.images?.length ?? 0) > 0;
    if (!isLong || known.has(result.callId)) continue;
    digests.push({ callId: result.callId, text: digestOf(calls.get(result.callId) ?? null, result) });
  }
  return digests;
}

function digested(view: PromptView, digests: Digests): PromptView {
  return { ...view, digests: new Map(digests.map(({ callId, text }) => [callId, text])) };
}

function hasResult(entries: readonly MessageEntry[], callId: CallId): boolean {
  return entries.some(({ message }) => message.role === 'tool' && message.parts[0].callId === callId);
}

/** What people wrote since a turn was last answered. */
function unanswered(entries: readonly Entry[], told: readonly MessageEntry[]): MessageEntry[] {
  const answered = entries.findLast((entry) => entry.kind === 'turn-closed' && entry.outcome === 'answered');
  const isOpen = (entry: MessageEntry) =>
    entry.seq > (answered?.seq ?? 0) && 'inboxId' in entry && entry.inboxId !== null;
  return told.filter(isOpen);
}
