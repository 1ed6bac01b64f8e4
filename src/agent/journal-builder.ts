/** Journals for tests, written as a conversation reads. Keeps to what the store promises; nothing here is stored. */
import { countingIdSource } from '../lib/ids.ts';
import type { CallOutcome, CompressionStep, Entry, EntryBody, Question, ToolCallPart } from '../protocol/messages.ts';
import type { CallRecord, CallState, InboxRecord, TurnRecord } from '../store/store.ts';
import type { Journal } from './journal.ts';

interface PlannedForTest {
  readonly state: CallState;
  readonly replay?: CallRecord['replay'];
  readonly mistake?: true;
  readonly question?: Question;
  readonly arguments?: string;
}

export class JournalBuilder {
  readonly #ids = countingIdSource();
  readonly #sessionId = this.#ids.next('ses');
  readonly #entries: Entry[] = [];
  readonly #calls: CallRecord[] = [];
  readonly #waiting: InboxRecord[] = [];
  #turn: TurnRecord | null = null;

  #append(body: EntryBody): void {
    const place = {
      seq: this.#entries.length + 1,
      at: 0,
      turnId: body.kind === 'head' ? null : (this.#turn?.id ?? null),
    };
    this.#entries.push({ ...body, ...place });
  }

  /** A message that has arrived and waits. */
  arrives(text: string): this {
    const id = this.#ids.next('inb');
    const message = { role: 'user', parts: [{ kind: 'text', text }] } as const;
    const place = {
      sessionId: this.#sessionId,
      channel: 'cli',
      externalId: id,
      sender: 's',
      target: 't',
      receivedAt: 0,
      joins: null,
    };
    this.#waiting.push({ id, message, state: 'waiting', ...place });
    return this;
  }

  /** A turn opens and takes all that waits. */
  opens(over: Partial<TurnRecord> = {}): this {
    if (this.#entries.length === 0)
      this.#append({ kind: 'head', reason: 'session-started', head: { systemPrompt: 'S', tools: [] } });
    const id = this.#ids.next('trn');
    const firstSeq = this.#entries.length + 1;
    const fresh = { crashes: 0, modelCalls: 0, stopRequested: false, openedAt: 0, state: 'open' } as const;
    this.#turn = { id, sessionId: this.#sessionId, firstSeq, ...fresh, ...over };
    this.#append({ kind: 'turn-opened' });
    for (const { id: inboxId, message } of this.#waiting.splice(0)) this.#append({ kind: 'message', message, inboxId });
    return this;
  }

  /** The model speaks, and asks for calls in these states; settled ones have their result. */
  answers(text: string, calls: PlannedForTest[] = []): this {
    const turnId = this.#turn?.id;
    if (turnId === undefined) throw new Error('no turn is open');
    const parts: ToolCallPart[] = calls.map((call) => ({
      kind: 'tool-call',
      callId: this.#ids.next('cal'),
      name: 'tool',
      arguments: call.arguments ?? '{}',
    }));
    const spoken = text === '' ? [] : [{ kind: 'text', text } as const];
    const modelCallId = this.#ids.next('mdl');
    this.#append({ kind: 'message', message: { role: 'assistant', parts: [...spoken, ...parts] }, modelCallId });
    // Results are stored as they come in: here in the opposite order of the calls.
    for (const [position, part] of [...parts.entries()].reverse()) {
      const { state = 'planned', replay = 'never', mistake, question = null } = calls[position] ?? {};
      const { callId: id, name, arguments: text } = part;
      this.#calls.unshift({
        id,
        turnId,
        position,
        name,
        arguments: text,
        effect: 'write',
        replay,
        state,
        question,
        answer: null,
      });
      if (state === 'planned' || state === 'started' || state === 'waiting') continue;
      this.#settle(part, state, mistake);
    }
    return this;
  }

  #settle(part: ToolCallPart, outcome: CallOutcome, mistake: true | undefined): void {
    const text = `result of ${part.callId}`;
    const result = { kind: 'tool-result', callId: part.callId, outcome, text, ...(mistake && { mistake }) } as const;
    this.#append({ kind: 'message', message: { role: 'tool', parts: [result] } });
  }

  /** The program tells the model something. */
  isNudged(): this {
    const message = { role: 'user', parts: [{ kind: 'text', text: 'sum up' }] } as const;
    this.#append({ kind: 'message', message, inboxId: null });
    return this;
  }

  closes(): this {
    this.#append({ kind: 'turn-closed', outcome: 'answered' });
    this.#turn = null;
    this.#calls.length = 0;
    return this;
  }

  compression(step: CompressionStep): this {
    this.#append({ kind: 'compression', step });
    return this;
  }

  /** Everything after this sequence is taken back. */
  isRewound(toSeq: number): this {
    this.#append({ kind: 'rewound', toSeq });
    return this;
  }

  build(): Journal {
    const unsettledCalls = this.#calls.filter(
      ({ state }) => state === 'planned' || state === 'started' || state === 'waiting',
    );
    const session = {
      id: this.#sessionId,
      key: 'cli:direct:x',
      name: 'x',
      title: '',
      titledBy: 'words',
      settings: { model: null, effort: null },
      owner: 'owner',
      isClosed: false,
      createdAt: 0,
      updatedAt: 0,
      lastSeq: this.#entries.length,
      messages: 0,
      turn: this.#turn === null ? 'none' : 'open',
    } as const;
    return { session, entries: this.#entries, openTurn: this.#turn, unsettledCalls, waiting: this.#waiting };
  }
}
