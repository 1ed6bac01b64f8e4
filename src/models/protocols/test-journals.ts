/**
 * Conversations as the agent asks about them, for properties: turns of people's messages, answers with thoughts, words
 * and calls, every call followed by its result, people speaking in between, turns that ended without an answer; and
 * everything in it that providers are known to choke on.
 */
import * as fc from 'fast-check';
import { countingIdSource } from '../../lib/ids.ts';
import type { AssistantMessage, Message, ReasoningPart, TextPart, UserMessage } from '../../protocol/messages.ts';

const words = fc.oneof(
  { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', '\n\n', 'trailing \n', '\ud800', 'a\udc00b', '\u0000', '"\\') },
);
const textPart = words.map((text): TextPart => ({ kind: 'text', text }));

const content = fc.record({
  sha256: fc.constantFrom('known', 'lost'),
  bytes: fc.nat(),
  mediaType: fc.constantFrom('image/png', 'image/tiff', 'application/pdf'),
});
const userMessage: fc.Arbitrary<UserMessage> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: textPart },
      { weight: 1, arbitrary: content.map((image) => ({ kind: 'image', content: image }) as const) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('file' as const), name: words, content }) },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => ({ role: 'user', parts }));

const thought: fc.Arbitrary<ReasoningPart> = fc.record(
  {
    kind: fc.constant('reasoning'),
    text: words,
    opaque: fc.constantFrom(
      '{"type":"thinking","signature":"S"}',
      '{"type":"redacted_thinking","data":"D"}',
      '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"}',
      'damaged',
    ),
    origin: fc.constantFrom('test/model', 'test/other'),
  },
  { requiredKeys: ['kind', 'text'] },
);

const call = fc.record({
  name: fc.constantFrom('echo', 'echo', 'a.b', '', 'é'.repeat(80)),
  arguments: fc.constantFrom(
    '{"text":"a"}',
    '{}',
    '',
    'no json',
    '[1]',
    'null',
    '{"a":"\\ud800"}',
    '{"n":1234567890123456789}',
  ),
  outcome: fc.constantFrom('finished' as const, 'failed' as const, 'unknown' as const, 'skipped' as const),
  result: words,
  images: fc.array(content, { maxLength: 2 }),
});

const calls = fc.oneof(
  { weight: 5, arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(call, { minLength: 20, maxLength: 30 }) },
);
const round = fc.record({
  before: fc.array(fc.oneof(thought, textPart), { maxLength: 3 }),
  calls,
  after: fc.option(thought),
  steering: fc.option(userMessage, { freq: 5 }),
});
const turn = fc.record({
  asked: fc.array(userMessage, { minLength: 1, maxLength: 2 }),
  rounds: fc.array(round, { maxLength: 3 }),
  answer: fc.option(fc.record({ thoughts: fc.array(thought, { maxLength: 2 }), said: words }), { freq: 4 }),
});

/** The newest message need not be one that a model is asked about. */
export const conversations: fc.Arbitrary<Message[]> = fc.array(turn, { minLength: 1, maxLength: 3 }).map((turns) => {
  const ids = countingIdSource();
  return turns.flatMap(({ asked, rounds, answer }): Message[] => {
    const worked = rounds.flatMap(({ before, calls: made, after, steering }): Message[] => {
      const numbered = made.map((one) => ({ ...one, callId: ids.next('cal') }));
      const parts: AssistantMessage['parts'] = [
        ...before,
        ...numbered.map(({ callId, name, arguments: args }) => ({
          kind: 'tool-call' as const,
          callId,
          name,
          arguments: args,
        })),
        ...(after === null ? [] : [after]),
      ];
      const results = numbered.map(({ callId, outcome, result: text, images }): Message => ({
        role: 'tool',
        // Only what finished has anything to show.
        parts: [{ kind: 'tool-result', callId, outcome, text, ...(outcome === 'finished' ? { images } : {}) }],
      }));
      return [{ role: 'assistant', parts }, ...results, ...(steering === null ? [] : [steering])];
    });
    const said: Message[] =
      answer === null
        ? []
        : [{ role: 'assistant', parts: [...answer.thoughts, { kind: 'text', text: `.${answer.said}` }] }];
    return [...asked, ...worked, ...said];
  });
});

/** Every beginning of a conversation that could have been a request: no call in it is without its result. */
export function requestsOf(messages: readonly Message[]): Message[][] {
  const open = new Set<string>();
  return messages.flatMap((message, index) => {
    for (const part of message.parts) {
      if (part.kind === 'tool-call') open.add(part.callId);
      if (part.kind === 'tool-result') open.delete(part.callId);
    }
    return open.size === 0 ? [messages.slice(0, index + 1)] : [];
  });
}
