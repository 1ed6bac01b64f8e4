/**
 * What the model answers when nothing else was ordered: a small language in the newest words of the user. A pure function
 * of the conversation, so that a server, or a client, that was started anew goes on where the other was. How far a plan
 * has come is read from the answers that stand after the words.
 *
 *   say WORDS · run COMMAND · read PATH · write PATH: TEXT · remember TEXT · call NAME {JSON} · ask TEXT · mistake
 *   A then B            one after the other, a round each
 *   both A and B        in one answer
 *   times N A           A in N rounds · many N A: N times in one answer
 *   slowly A            in many small pieces · think A: with reasoning · long N: N characters · refuse · nothing
 *
 * Asked for the record of a conversation, it writes a short one.
 */
import type { AskedCall, Dialogue, Reply, Utterance } from './dialogue.ts';

/** How what a record is made of begins. */
const recordMaterial = /^(?:THE RECORD SO FAR|WHAT WAS SAID AND DONE SINCE):/;
const recordCharsMax = 300;
const slowPieceChars = 4;
const slowPaceMs = 20;
const repeatMax = 500;
const quotedCharsMax = 2_000;

const verbs = 'say|run|read|write|remember|call|ask|mistake|both|times|many|slowly|think|long|refuse|nothing';
const border = new RegExp(`,?\\s+(?:and\\s+)?then\\s+(?=(?:${verbs})\\b)`, 'i');
const pairBorder = new RegExp(`\\s+and\\s+(?=(?:${verbs})\\b)`, 'i');

type Step =
  | { readonly kind: 'calls'; readonly calls: readonly AskedCall[] }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'refuse' };

interface Plan {
  readonly steps: readonly Step[];
  readonly isSlow: boolean;
  readonly thoughts: string | null;
}

export function answerTo(dialogue: Dialogue): Reply {
  const { utterances, thinking } = dialogue;
  const lastWords = utterances.findLastIndex((utterance) => utterance.role === 'user');
  const words = newestWords(utterances, lastWords);
  const [first = ''] = words;
  if (recordMaterial.test(first)) return { text: `## Goal\n${first.slice(0, recordCharsMax)}` };
  const plan = planOf(words, dialogue.toolNames);
  const since = utterances.slice(lastWords + 1);
  const rounds = since.filter((utterance) => utterance.role === 'assistant' && utterance.calls.length > 0).length;
  const next = plan.steps.filter((step) => step.kind === 'calls')[rounds];

  const about = plan.thoughts ?? (thinking === 'yes' ? 'the next step' : null);
  const manner = {
    ...(about === null || thinking === 'no' ? {} : { reasoning: `I think about ${about}, after ${rounds} rounds.` }),
    ...(plan.isSlow ? { pieceChars: slowPieceChars, paceMs: slowPaceMs } : {}),
  };
  if (next !== undefined) return { ...manner, calls: next.calls };
  if (plan.steps.some((step) => step.kind === 'refuse')) {
    return { ...manner, text: 'I can’t help with that.', stop: 'refused' };
  }
  return { ...manner, text: finalText(plan, since) };
}

/** Several messages in a row are answered together. */
function newestWords(utterances: readonly Utterance[], last: number): string[] {
  const words: string[] = [];
  for (let index = last; index >= 0; index--) {
    const utterance = utterances[index];
    if (utterance?.role !== 'user') break;
    words.unshift(utterance.text);
  }
  return words;
}

function planOf(messages: readonly string[], toolNames: ReadonlySet<string>): Plan {
  const manner = { isSlow: false, thoughts: null as string | null };
  const steps = messages.flatMap((message) =>
    message
      .trim()
      .split(border)
      .flatMap((piece) => stepsOf(piece.trim(), toolNames, manner)),
  );
  return { steps, ...manner };
}

function stepsOf(
  piece: string,
  tools: ReadonlySet<string>,
  manner: { isSlow: boolean; thoughts: string | null },
): Step[] {
  const [, verb = '', rest = ''] = /^([a-z]+)\b[ :]*([^]*)$/i.exec(piece) ?? [];
  const inner = (text: string) => stepsOf(text, tools, manner);
  switch (verb.toLowerCase()) {
    case 'slowly':
      manner.isSlow = true;
      return inner(rest);
    case 'think':
      manner.thoughts = rest;
      return new RegExp(`^(?:${verbs})\\b`, 'i').test(rest) ? inner(rest) : [say(`I thought about ${rest}.`)];
    case 'both':
      return [together(rest.split(pairBorder).flatMap(inner))];
    case 'times':
      return repeated(rest).flatMap(inner);
    case 'many':
      return [together(repeated(rest).flatMap(inner))];
    case 'refuse':
      return [{ kind: 'refuse' }];
    default:
      return [wordStep(verb.toLowerCase(), rest, piece, tools)];
  }
}

function wordStep(verb: string, rest: string, piece: string, tools: ReadonlySet<string>): Step {
  switch (verb) {
    case 'say':
      return say(rest);
    case 'run':
      return call('terminal', { command: rest });
    case 'read':
      return call('read_file', { path: rest });
    case 'write': {
      const [path = '', ...content] = rest.split(': ');
      return call('write_file', { path, content: content.join(': ') });
    }
    case 'remember':
      return call('memory', { action: 'add', text: rest });
    case 'call': {
      const [, name = '', json = '{}'] = /^(\S+)\s*([^]*)$/.exec(rest) ?? [];
      return { kind: 'calls', calls: [{ name, arguments: json }] };
    }
    case 'ask': {
      const name = ['ask', 'ask_user', 'clarify'].find((tool) => tools.has(tool));
      return name === undefined ? say('There is no tool to ask with.') : call(name, { question: rest });
    }
    case 'mistake':
      return { kind: 'calls', calls: [{ name: 'terminal', arguments: '{"command": "echo' }] };
    case 'long':
      return say(longText(Number(rest)));
    case 'nothing':
      return say('');
    default:
      return say(`You said: ${piece}`);
  }
}

function call(name: string, input: object): Step {
  return { kind: 'calls', calls: [{ name, arguments: JSON.stringify(input) }] };
}

function say(text: string): Step {
  return { kind: 'say', text };
}

function together(steps: readonly Step[]): Step {
  return { kind: 'calls', calls: steps.flatMap((step) => (step.kind === 'calls' ? step.calls : [])) };
}

function repeated(text: string): string[] {
  const [, count = '1', what = ''] = /^(\d+)\s+([^]*)$/.exec(text) ?? [];
  return Array.from({ length: Math.min(Number(count), repeatMax) }, (_, index) =>
    what.replaceAll('#', String(index + 1)),
  );
}

/** Exactly so many characters, in numbered words: a part that was lost or doubled shows. */
function longText(chars: number): string {
  let text = '';
  for (let word = 1; text.length < chars; word++) text += `word${word} `;
  return text.slice(0, chars).replace(/ $/, '.');
}

/** What was to be said, and what the calls gave, in the order of the steps. */
function finalText(plan: Plan, since: readonly Utterance[]): string {
  const results = new Map(
    since.flatMap((utterance) => (utterance.role === 'result' ? [[utterance.callId, utterance.text] as const] : [])),
  );
  const rounds = since.flatMap((utterance) =>
    utterance.role === 'assistant' && utterance.calls.length > 0 ? [utterance.calls] : [],
  );
  let round = 0;
  const sentences = plan.steps.flatMap((step) => {
    if (step.kind === 'say') return [step.text];
    if (step.kind === 'refuse') return [];
    return (rounds[round++] ?? []).map(({ id = '', name }) => `${name} gave: ${quoted(results.get(id) ?? 'nothing')}`);
  });
  return sentences.join('\n\n');
}

function quoted(text: string): string {
  return text.length <= quotedCharsMax ? text : `${text.slice(0, quotedCharsMax).replace(/[\ud800-\udbff]$/, '')} …`;
}
