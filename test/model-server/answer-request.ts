/**
 * From a request that was read to the steps of its answer: checked as the provider would, answered by what was ordered or
 * by the script, counted against the cache, and spoilt if a fault strikes.
 */
import type { Answer, Dialect, Memory, Prompt } from './dialect.ts';
import { followsResults, type AskedCall, type Dialogue, type Reply, type TokenFigures } from './dialogue.ts';
import { head, send, type Step } from './faults/fault.ts';
import type { FaultQueue, Struck } from './faults/fault-queue.ts';
import { answerWith } from './faults/instead-of-answers.ts';
import { textOf, type Json } from './json.ts';
import { inputTokens, type PromptCache } from './prompt-cache.ts';
import type { Problem } from './problem.ts';
import { signsCalls } from './dialects/chat-completions-vendors.ts';
import { answerTo } from './script.ts';
import { fingerprint } from './seal.ts';
import { tokensOf } from './tokens.ts';

export interface Received {
  readonly dialect: Dialect;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string;
  readonly raw: string;
  readonly body: Json;
  readonly now: number;
}

export interface AnswerDeps {
  readonly faults: FaultQueue;
  readonly cache: PromptCache;
  readonly memory: Memory & { remember(model: string, call: AskedCall): void };
  /** A reply that was ordered; null if none waits. */
  readonly nextReply: (received: Received) => Reply | null;
  readonly isKeyValid: (key: string) => boolean;
  readonly isModelKnown: (model: string) => boolean;
  readonly windowTokens: number;
}

export interface Outcome {
  readonly steps: readonly Step[];
  readonly tokens: TokenFigures | null;
  readonly possible: number;
  readonly before: number;
  readonly fault: string | null;
  readonly problem: string | null;
}

export function answerRequest(received: Received, deps: AnswerDeps): Outcome {
  const { dialect, body, key } = received;
  const model = textOf(body['model']);
  const prompt = dialect.prompt(body);
  const problem = problemOf(received, deps, prompt);
  if (problem !== null) return turnedDown(dialect, problem);

  const dialogue = dialect.dialogue(body);
  const scripted = deps.nextReply(received) ?? answerTo(dialogue);
  const struck = deps.faults.take({
    protocol: dialect.protocol,
    model,
    key,
    followsResults: followsResults(dialogue),
    callsTools: (scripted.calls ?? []).length > 0,
  });
  if (struck?.fault.effect.kind === 'instead') {
    const steps = struck.fault.effect.steps(dialect, struck.options);
    return { steps, tokens: null, possible: 0, before: 0, fault: struck.fault.name, problem: null };
  }

  const reply = struck?.fault.effect.kind === 'content' ? struck.fault.effect.change(scripted) : scripted;
  const isThought = reply.reasoning !== undefined || signsCalls.test(model);
  if (isThought) for (const call of reply.calls ?? []) deps.memory.remember(model, call);
  const { possible, before, ...tokens } = count(received, deps, dialogue, prompt, reply);
  const answer = answerOf(received, reply, { ...tokens, ...reply.usage });
  const steps = stepsOf(dialect, answer, struck);
  return { steps, tokens: answer.tokens, possible, before, fault: struck?.fault.name ?? null, problem: null };
}

function turnedDown(dialect: Dialect, problem: Problem): Outcome {
  const { status, body } = dialect.rejection(problem);
  return {
    steps: answerWith(status, body),
    tokens: null,
    possible: 0,
    before: 0,
    fault: null,
    problem: JSON.stringify(body),
  };
}

function problemOf({ dialect, body, headers, key }: Received, deps: AnswerDeps, prompt: Prompt): Problem | null {
  const model = textOf(body['model']);
  if (!deps.isKeyValid(key)) return { kind: 'auth' };
  if (!deps.isModelKnown(model)) {
    const isAnthropic = dialect.protocol === 'anthropic_messages';
    const openai = `The model \`${model}\` does not exist or you do not have access to it.`;
    return { kind: 'not-found', message: isAnthropic ? `model: ${model}` : openai };
  }
  const problem = dialect.check(body, headers, deps.memory);
  if (problem !== null) return problem;
  const input = inputTokens(prompt);
  return input > deps.windowTokens ? dialect.overflow(input, deps.windowTokens) : null;
}

function count(
  { dialect, body, key, now }: Received,
  deps: AnswerDeps,
  dialogue: Dialogue,
  prompt: Prompt,
  reply: Reply,
): TokenFigures & { possible: number; before: number } {
  const first = dialogue.utterances.find((utterance) => utterance.role === 'user')?.text ?? '';
  const conversation = prompt.cacheKey === '' ? fingerprint(first) : prompt.cacheKey;
  const scope = { keyId: fingerprint(key), model: dialogue.model, protocol: dialect.protocol, conversation };
  const figures = deps.cache.use(scope, prompt, now);
  const reasoning = tokensOf(reply.reasoning ?? '');
  const calls = (reply.calls ?? []).map((call) => tokensOf(call.name + call.arguments));
  const output = reasoning + tokensOf(reply.text ?? '') + calls.reduce((sum, tokens) => sum + tokens, 0);
  const most = dialect.outputTokensMax(body) ?? output;
  return { ...figures, output: Math.max(1, Math.min(output, most)), reasoning: Math.min(reasoning, most) };
}

function answerOf({ body, raw, now }: Received, reply: Reply, tokens: TokenFigures): Answer {
  return {
    id: fingerprint(raw),
    model: textOf(body['model']),
    createdS: Math.floor(now / 1_000),
    reply,
    tokens,
    body,
  };
}

function stepsOf(dialect: Dialect, answer: Answer, struck: Struck | null): readonly Step[] {
  if (answer.body['stream'] !== true) return answerWith(200, dialect.whole(answer));
  const frames = dialect.frames(answer);
  if (struck?.fault.effect.kind === 'line') {
    const struckAt = strikeAt(frames, struck.phase);
    return struck.fault.effect.steps({ dialect, answer, frames, struckAt }, struck.options);
  }
  const paceMs = answer.reply.paceMs ?? 0;
  const sent =
    paceMs === 0 ? send(frames) : send(frames).flatMap((step): Step[] => [step, { kind: 'wait', ms: paceMs }]);
  return [head(), ...sent, { kind: 'end' }];
}

/** How many frames are sent before the fault strikes: none, half of the content, or all of the first call. */
function strikeAt(frames: ReturnType<Dialect['frames']>, phase: Struck['phase']): number {
  switch (phase) {
    case 'before-first-byte':
      return 0;
    case 'mid-stream': {
      const content = frames.flatMap(({ place }, index) =>
        place === 'content' || place === 'call-end' ? [index] : [],
      );
      return (content[Math.floor((content.length - 1) / 2)] ?? 0) + 1;
    }
    case 'after-tool-call':
      return frames.findIndex(({ place }) => place === 'call-end') + 1;
  }
}
