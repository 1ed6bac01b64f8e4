/**
 * A session with a cached agent and one whose agent is built anew from the store before every turn behave the same: the
 * same bytes go to the model, the same log is stored, the same is shown. Held over random conversations: tools, several at
 * once and mistaken ones, failing models and fallbacks, changes of effort, messages that wait for the next turn, pauses.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ModelError, type ModelErrorReason, type Runtime } from '../models/model.ts';
import { scriptedRuntime, type ScriptedEvents } from '../models/scripted-model.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { Effort } from '../protocol/usage.ts';
import type { Tool } from '../tools/tool.ts';
import { CachedSessions } from './test-cached-sessions.ts';

interface Turn {
  /** All but the first wait while it is answered. */
  readonly messages: readonly string[];
  readonly answers: readonly ScriptedEvents[];
  readonly effort: Effort | null;
  readonly pauseMs: number;
}

interface Conversation {
  readonly apiMode: Exclude<Runtime['apiMode'], 'offline'>;
  readonly turns: readonly Turn[];
}

const tools: Tool[] = ['look', 'break'].map((name) => ({
  definition: { name, description: `To ${name}.`, parameters: { type: 'object', properties: {} } },
  effect: name === 'look' ? 'read' : 'write',
  replay: 'safe',
  parse: (value) => ({ ok: true, value }),
  run: async (input, { onOutput }) => {
    onOutput('working');
    const text = JSON.stringify(input);
    return name === 'look' ? { kind: 'finished', text } : { kind: 'failed', text };
  },
}));

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });

const calls = fc.array(
  fc.record({
    kind: fc.constant('tool-call' as const),
    providerCallId: fc.constantFrom('call_1', 'call_2'),
    name: fc.constantFrom('look', 'look', 'break', 'no_such_tool'),
    arguments: fc.oneof(
      fc.dictionary(fc.constantFrom('a', 'b'), words).map((value) => JSON.stringify(value)),
      fc.constantFrom('', '{"a": 1', ' { "spaced" : 1 } '),
    ),
  }),
  { maxLength: 3 },
);

const speech: fc.Arbitrary<ScriptedEvents> = fc
  .record({ thought: fc.option(words), opaque: fc.option(words), text: fc.option(words), calls })
  .map(({ thought, opaque, text, calls: asked }) => [
    ...(thought === null
      ? []
      : [
          { kind: 'reasoning-delta' as const, text: thought },
          { kind: 'reasoning-end' as const, ...(opaque === null ? {} : { opaque }) },
        ]),
    ...(text === null ? [] : [{ kind: 'text-delta' as const, text }]),
    ...asked,
  ]);

const failure: fc.Arbitrary<ScriptedEvents> = fc
  .constantFrom<ModelErrorReason>('overloaded', 'server', 'rate-limit', 'bad-request', 'malformed-stream')
  .map((reason) => [{ kind: 'failed', error: new ModelError(reason, `The model says ${reason}.`) }]);

const conversations: fc.Arbitrary<Conversation> = fc.record({
  apiMode: fc.constantFrom('chat_completions', 'responses', 'anthropic_messages'),
  turns: fc.array(
    fc.record({
      messages: fc.array(words, { minLength: 1, maxLength: 3 }),
      answers: fc.array(fc.oneof({ weight: 5, arbitrary: speech }, { weight: 1, arbitrary: failure }), {
        maxLength: 5,
      }),
      effort: fc.constantFrom<Effort | null>(null, null, 'low', 'high'),
      pauseMs: fc.constantFrom(0, 1_000, 120_000),
    }),
    { minLength: 1, maxLength: 5 },
  ),
});

/** Both think as they like, also not at all. */
const models = ['claude-sonnet-5', 'claude-opus-5'] as const;

/** Everything that can be told from outside. */
async function livedThrough({ apiMode, turns }: Conversation, how: 'kept' | 'rebuilt') {
  const caching = apiMode === 'anthropic_messages' ? 'breakpoints' : 'automatic';
  const [first, second] = models.map((model) => scriptedRuntime({ apiMode, model, reasons: true, caching }));
  assert.ok(first !== undefined && second !== undefined);
  const sessions = await CachedSessions.open({ runtimes: [first, second], tools });
  try {
    const sessionId = sessions.newSession();
    const shown: SessionEvent[] = [];
    const agents = new Set();
    for (const { messages, answers, effort, pauseMs } of turns) {
      if (how === 'rebuilt') sessions.cache.drop(sessionId);
      sessions.script = [...answers, ...messages.map((): ScriptedEvents => [{ kind: 'text-delta', text: 'done' }])];
      for (const text of messages) await sessions.hears(sessionId, text);
      const publish = (event: SessionEvent) => void shown.push(event);
      for (const agent of await sessions.run(sessionId, { effort, publish })) agents.add(agent);
      await sessions.clock.advance(pauseMs);
    }
    const { read } = sessions.store;
    return {
      agents: agents.size,
      seen: {
        bodies: sessions.bodies,
        entries: await read.entries(sessionId, { after: 0, limit: 10_000 }),
        modelCalls: await read.modelCalls(sessionId),
        shown,
        deliveries: await sessions.store.claimDeliveries(sessions.ids.next('nod'), 100),
      },
    };
  } finally {
    await sessions.close();
  }
}

test('a cached agent and one rebuilt before every turn behave the same and send the same bytes', async () => {
  const totals = { bodies: 0, fallbacks: 0, tools: 0 };
  await fc.assert(
    fc.asyncProperty(conversations, async (conversation) => {
      const kept = await livedThrough(conversation, 'kept');
      const rebuilt = await livedThrough(conversation, 'rebuilt');
      assert.deepEqual([kept.agents, rebuilt.agents], [1, conversation.turns.length]);
      assert.deepEqual(rebuilt.seen.bodies, kept.seen.bodies);
      assert.deepEqual(rebuilt.seen, kept.seen);
      assert.deepEqual(
        kept.seen.modelCalls.filter(({ prefixBreak }) => prefixBreak === 'unexplained'),
        [],
      );
      totals.bodies += kept.seen.bodies.length;
      totals.fallbacks += kept.seen.modelCalls.filter(({ model }) => model === models[1]).length;
      totals.tools += kept.seen.entries.filter(
        (entry) => entry.kind === 'message' && entry.message.role === 'tool',
      ).length;
    }),
    { numRuns: 120 },
  );
  // It is about something only if there was something.
  assert.ok(totals.bodies > 400 && totals.fallbacks > 20 && totals.tools > 50, JSON.stringify(totals));
});
