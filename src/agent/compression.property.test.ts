import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countingIdSource } from '../lib/ids.ts';
import { anthropicMessages } from '../models/protocols/anthropic-messages/anthropic-messages.ts';
import { anthropicProblems } from '../models/protocols/anthropic-messages/test-anthropic-rules.ts';
import { chatCompletions } from '../models/protocols/chat-completions/chat-completions.ts';
import { responses } from '../models/protocols/responses/responses.ts';
import { responsesProblems } from '../models/protocols/responses/test-responses-rules.ts';
import { conversations } from '../models/protocols/test-journals.ts';
import { echoTool, testRequest, testRuntime } from '../models/protocols/test-runtime.ts';
import type { CallId } from '../protocol/ids.ts';
import { toolCallsOf, type Entry, type EntryBody, type Message } from '../protocol/messages.ts';
import type { SessionRecord, StoreReader } from '../store/store.ts';
import { plainSummary } from './compression-words.ts';
import { loadJournal, type Journal } from './journal.ts';
import { modelRequest } from './model-request.ts';
import { promptView } from './prompt-view.ts';
import { planCompression, type CompressionBounds } from './plan-compression.ts';
import { renumbered } from '../store/renumbered.ts';

const runs = { numRuns: 200 };
const contents = new Map([['known', Uint8Array.of(1, 2, 3)]]);
const manner = { effort: null, cachePace: 'short', contents } as const;
const session: SessionRecord = {
  id: 'ses_1' as SessionRecord['id'],
  key: 'cli:direct:x',
  name: 'x',
  title: '',
  titledBy: 'words',
  settings: { model: null, effort: null },
  owner: 'owner',
  isClosed: false,
  createdAt: 0,
  updatedAt: 0,
  lastSeq: 0,
  messages: 0,
  turn: 'none',
};

/** What happens after a message, where it may. */
type Event = 'nothing' | 'fails' | 'undo' | { readonly bounds: CompressionBounds; readonly byModel: boolean };

const bounds = fc.record<CompressionBounds>({
  thresholdTokens: fc.constantFrom(1, 50, 400, 100_000),
  targetRatio: fc.constantFrom(0.05, 0.2, 0.95),
  protectLastN: fc.constantFrom(0, 1, 3, 20),
  isPressed: fc.boolean(),
});
const compresses: fc.Arbitrary<Event> = fc.record({ bounds, byModel: fc.boolean() });
const lives = fc.record({
  messages: fc.array(conversations, { minLength: 1, maxLength: 4 }).map(renamed),
  events: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant<Event>('nothing') },
      { weight: 1, arbitrary: fc.constantFrom<Event>('fails', 'undo') },
      { weight: 3, arbitrary: compresses },
    ),
    { maxLength: 60 },
  ),
});

/** Several conversations as one: calls are told apart. */
function renamed(parts: readonly (readonly Message[])[]): Message[] {
  const ids = countingIdSource();
  return parts.flatMap((messages) => {
    const known = new Map<CallId, CallId>();
    const idOf = (callId: CallId): CallId => {
      const id = known.get(callId) ?? ids.next('cal');
      known.set(callId, id);
      return id;
    };
    return messages.map((message): Message => {
      if (message.role === 'tool') {
        return { role: 'tool', parts: [{ ...message.parts[0], callId: idOf(message.parts[0].callId) }] };
      }
      if (message.role === 'user') return message;
      const named = message.parts.map((part) =>
        part.kind === 'tool-call' ? { ...part, callId: idOf(part.callId) } : part,
      );
      return { role: 'assistant', parts: named };
    });
  });
}

class Log {
  readonly entries: Entry[] = [];
  readonly #ids = countingIdSource();
  #turnId: Entry['turnId'] = null;
  #open = new Set<string>();

  constructor() {
    this.append({ kind: 'head', reason: 'session-started', head: { systemPrompt: 'Be kind.', tools: [echoTool] } });
  }

  append(body: EntryBody): void {
    const turnId = body.kind === 'head' || body.kind === 'compression' || body.kind === 'rewound' ? null : this.#turnId;
    this.entries.push({ ...body, seq: this.entries.length + 1, at: 0, turnId });
  }

  get isSettled(): boolean {
    return this.#open.size === 0;
  }

  say(message: Message): void {
    if (this.#turnId === null) {
      this.#turnId = this.#ids.next('trn');
      this.append({ kind: 'turn-opened' });
    }
    if (message.role === 'user') return this.append({ kind: 'message', message, inboxId: this.#ids.next('inb') });
    if (message.role === 'tool') {
      this.#open.delete(message.parts[0].callId);
      return this.append({ kind: 'message', message });
    }
    for (const { callId } of toolCallsOf(message)) this.#open.add(callId);
    this.append({ kind: 'message', message, modelCallId: this.#ids.next('mdl') });
    if (this.isSettled) this.close('answered');
  }

  close(outcome: 'answered' | 'failed'): void {
    if (this.#turnId === null) return;
    this.append({ kind: 'turn-closed', outcome });
    this.#turnId = null;
  }

  undo(): void {
    const ends = this.entries.flatMap((entry) => (entry.kind === 'turn-closed' ? [entry.seq] : []));
    if (this.#turnId === null && ends.length > 0) this.append({ kind: 'rewound', toSeq: ends.at(-2) ?? 0 });
  }

  compress({ bounds, byModel }: Exclude<Event, string>): void {
    const plan = planCompression(this.entries, 'threshold', bounds);
    if (plan.kind === 'too-little') return;
    if (plan.kind === 'digests') return this.append({ kind: 'compression', step: { kind: 'done', ...plan.done } });
    const middle = plan.middle.map(({ message }) => message);
    const summary = byModel ? 'the summary' : plainSummary(plan.earlier, middle, (text) => text, 2_000);
    const done = plan.finish(summary, byModel ? 'model' : 'rules');
    if (done !== null) this.append({ kind: 'compression', step: { kind: 'done', ...done } });
  }

  journal(): Journal {
    const entries = [...this.entries];
    return {
      session: { ...session, lastSeq: entries.length },
      entries,
      openTurn: null,
      unsettledCalls: [],
      waiting: [],
    };
  }
}

/** Lives through it, and shows the log wherever a model may be called. */
function live(life: { messages: Message[]; events: Event[] }, look: (log: Log) => void): void {
  const log = new Log();
  for (const [index, message] of life.messages.entries()) {
    log.say(message);
    if (!log.isSettled) continue;
    const event = life.events[index] ?? 'nothing';
    if (event === 'fails') log.close('failed');
    else if (event === 'undo') log.undo();
    else if (event !== 'nothing') log.compress(event);
    look(log);
  }
}

const runtime = (apiMode: 'responses' | 'anthropic_messages' | 'chat_completions') =>
  testRuntime({ provider: 'test', model: 'model', apiMode });

test('whatever is shortened and taken back, all three protocols accept the prompt', () => {
  fc.assert(
    fc.property(lives, (life) => {
      live(life, (log) => {
        const { messages } = modelRequest(log.journal(), manner);
        const request = testRequest(messages, { contents });
        assert.deepEqual(anthropicProblems(anthropicMessages.encode(runtime('anthropic_messages'), request).body), []);
        assert.deepEqual(responsesProblems(responses.encode(runtime('responses'), request).body), []);
        assert.deepEqual(pairingProblems(messages), []);
        // No result is left behind without its call: neither told nor sent.
        const isResult = ({ role }: Message) => role === 'tool';
        const results = promptView(log.entries).rest.filter(({ message }) => isResult(message));
        assert.equal(messages.filter(isResult).length, results.length);
        chatCompletions.encode(runtime('chat_completions'), request);
      });
    }),
    runs,
  );
});

test('what people asked since the last answer is in the prompt word for word', () => {
  fc.assert(
    fc.property(lives, (life) => {
      live(life, (log) => {
        const { entries } = log;
        const answered =
          entries.findLast((entry) => entry.kind === 'turn-closed' && entry.outcome === 'answered')?.seq ?? 0;
        const rewound = entries.findLast((entry) => entry.kind === 'rewound')?.seq ?? 0;
        const { messages } = modelRequest(log.journal(), manner);
        for (const entry of entries) {
          if (entry.seq <= Math.max(answered, rewound) || !('inboxId' in entry)) continue;
          assert.ok(messages.includes(entry.message), `${entry.seq} is missing`);
        }
      });
    }),
    runs,
  );
});

test('C85 the same log gives the same bytes: read again, read from its end, and brought in elsewhere', async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const logs: Journal[] = [];
      live(life, (log) => void logs.push(log.journal()));
      const journal = logs.at(-1);
      if (journal === undefined) return;
      const whole = JSON.stringify(modelRequest(journal, manner));
      const copy = structuredClone(journal);
      assert.equal(JSON.stringify(modelRequest(copy, manner)), whole);
      const moved = { ...copy, entries: renumbered(copy.entries.map((entry) => ({ ...entry }))) };
      assert.equal(JSON.stringify(modelRequest(moved, manner)), whole);
      const short = await loadJournal(readerOf(journal), session.id, 3);
      assert.equal(JSON.stringify(modelRequest(short ?? assert.fail(), manner)), whole);
    }),
    runs,
  );
});

function readerOf(journal: Journal): StoreReader {
  const reader: Partial<StoreReader> = {
    entries: async (_id, { after, limit }) => journal.entries.slice(after, after + limit),
    journal: async (_id, after) => ({ ...journal, entries: journal.entries.slice(after) }),
  };
  return reader as StoreReader;
}

/** Every call is followed by its result, and every result follows its call. */
function pairingProblems(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  let waiting: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (waiting.shift() !== message.parts[0].callId) problems.push('a result out of place');
      continue;
    }
    if (waiting.length > 0) problems.push('a call without its result');
    waiting = message.role === 'assistant' ? toolCallsOf(message).map(({ callId }) => callId) : [];
  }
  return waiting.length > 0 ? [...problems, 'a call without its result'] : problems;
}
