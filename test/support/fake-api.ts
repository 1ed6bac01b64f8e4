/** A Talaria for tests of its clients: sessions in memory, and events that the test itself lets happen. */
import { countingIdSource, type IdSource } from '../../src/lib/ids.ts';
import { BoundedQueue } from '../../src/lib/bounded-queue.ts';
import {
  ApiError,
  type GrantSummary,
  type PeopleReport,
  type PromptReport,
  type PersonRole,
  type PressReceipt,
  type SayReceipt,
  type SendReceipt,
  type SendRequest,
  type SessionSettings,
  type SessionSummary,
  type SettingsQuote,
  type StatusReport,
  type TalariaApi,
  type ToolSummary,
} from '../../src/protocol/api.ts';
import type { LiveTurn, SessionEvent } from '../../src/protocol/events.ts';
import type { CallId, InboxId, SessionId, TurnId } from '../../src/protocol/ids.ts';
import type { CallOutcome, Entry, EntryBody, Question, TurnOutcome } from '../../src/protocol/messages.ts';
import type { ModelCallRecord, UsageSum } from '../../src/protocol/usage.ts';

export interface FakeSession {
  readonly id: SessionId;
  readonly name: string;
  readonly entries: Entry[];
  readonly streams: Set<BoundedQueue<SessionEvent>>;
  readonly modelCalls: ModelCallRecord[];
  settings: SessionSettings;
  /** What a reader who comes now is told to be going on. */
  live: LiveTurn | null;
}

/** What is stored. It outlives the fake processes that serve it, as a home does. */
export class FakeHome {
  readonly ids: IdSource = countingIdSource();
  readonly sessions: FakeSession[] = [];
  readonly admitted = new Map<string, { inboxId: InboxId; session: FakeSession; text: string }>();
  readonly usageSums: UsageSum[] = [];
  people: PeopleReport = { people: [], pending: [], refused: [] };
  readonly apiKeys: string[] = [];
  readonly grants: GrantSummary[] = [];

  session(ref: string): FakeSession | null {
    return this.sessions.find((session) => session.id === ref || session.name === ref) ?? null;
  }

  create(name: string): FakeSession {
    const session: FakeSession = {
      id: this.ids.next('ses'),
      name,
      entries: [],
      streams: new Set(),
      modelCalls: [],
      settings: { model: null, effort: null },
      live: null,
    };
    this.sessions.unshift(session);
    return session;
  }

  append(session: FakeSession, turnId: TurnId | null, body: EntryBody): void {
    const entry: Entry = { ...body, seq: session.entries.length + 1, at: 1_000 + session.entries.length, turnId };
    session.entries.push(entry);
    this.show(session, { kind: 'entry', entry });
  }

  show(session: FakeSession, event: SessionEvent): void {
    for (const stream of session.streams) stream.offer(event);
  }

  /** A message becomes part of a turn, as promotion does. */
  openTurn(session: FakeSession, inboxId: InboxId): TurnId {
    const turnId = this.ids.next('trn');
    this.append(session, turnId, { kind: 'turn-opened' });
    this.promote(session, turnId, inboxId);
    return turnId;
  }

  promote(session: FakeSession, turnId: TurnId, inboxId: InboxId): void {
    const text = [...this.admitted.values()].find((one) => one.inboxId === inboxId)?.text ?? '';
    const message = { role: 'user', parts: [{ kind: 'text', text }] } as const;
    this.append(session, turnId, { kind: 'message', message, inboxId });
  }

  say(session: FakeSession, turnId: TurnId, text: string): void {
    const message = { role: 'assistant', parts: [{ kind: 'text', text }] } as const;
    this.append(session, turnId, { kind: 'message', message, modelCallId: this.ids.next('mdl') });
  }

  /** A call begins to wait for a person. */
  ask(session: FakeSession, turnId: TurnId, { text, ...question }: Question): CallId {
    const callId = this.ids.next('cal');
    this.append(session, turnId, { kind: 'notice', text, question: { callId, ...question } });
    return callId;
  }

  settle(session: FakeSession, turnId: TurnId, callId: CallId, text: string, outcome: CallOutcome = 'finished'): void {
    const message = { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome, text }] } as const;
    this.append(session, turnId, { kind: 'message', message });
  }

  close(session: FakeSession, turnId: TurnId, outcome: TurnOutcome): void {
    this.append(session, turnId, { kind: 'turn-closed', outcome });
  }
}

export interface FakeApiHooks {
  /** Called for every message that arrives, a repeated one too, after it is stored. */
  readonly onSend?: (session: FakeSession, inboxId: InboxId, request: SendRequest) => void;
  readonly onStop?: (session: FakeSession) => void;
  /** What becomes of an answer; without it no call waits. */
  readonly onAnswer?: (session: FakeSession, callId: CallId, text: string) => boolean;
  /** What a change of settings costs; nothing without it. */
  readonly quote?: (change: Partial<SessionSettings>) => Pick<SettingsQuote, 'uncachedTokens' | 'usd'>;
  readonly status?: Partial<StatusReport>;
}

export class FakeApi implements TalariaApi {
  readonly home: FakeHome;
  readonly calls: string[] = [];
  readonly #hooks: FakeApiHooks;
  #dead = false;

  constructor(home: FakeHome, hooks: FakeApiHooks = {}) {
    this.home = home;
    this.#hooks = hooks;
  }

  /** As if the process behind it was killed: streams break, nothing answers any more. */
  die(): void {
    this.#dead = true;
    for (const session of this.home.sessions) for (const stream of session.streams) stream.close();
  }

  #alive(): void {
    if (this.#dead) throw new ApiError('unreachable', 'the connection failed');
  }

  #get(ref: string): FakeSession {
    const session = this.home.session(ref);
    if (session === null) throw new ApiError('not-found', 'no such session');
    return session;
  }

  async send(request: SendRequest): Promise<SendReceipt> {
    this.#alive();
    this.calls.push(`send ${request.session ?? '(new)'}`);
    const { home } = this;
    const known = home.admitted.get(request.externalId);
    const session =
      known?.session ??
      (request.session === null ? null : home.session(request.session)) ??
      home.create(request.session ?? `chat-${home.sessions.length + 1}`);
    const afterSeq = known === undefined ? session.entries.length : 0;
    const inboxId = known?.inboxId ?? home.ids.next('inb');
    home.admitted.set(request.externalId, { inboxId, session, text: request.text });
    this.#hooks.onSend?.(session, inboxId, request);
    this.#alive();
    return { sessionId: session.id, sessionName: session.name, inboxId, duplicate: known !== undefined, afterSeq };
  }

  /** Lines that begin with a slash are commands, of which nothing is known but that they were given. */
  async say(request: SendRequest): Promise<SayReceipt> {
    if (!/^\/[\w-]+(?=\s|$)/.test(request.text)) return { kind: 'message', ...(await this.send(request)) };
    this.#alive();
    this.calls.push(`command ${request.text}`);
    const { session } = request;
    const known = session === null ? null : this.home.session(session);
    if (known === null) return { kind: 'command', session: null, text: `did ${request.text}` };
    const delivery = { id: request.externalId, buttons: [] };
    this.home.append(known, null, { kind: 'notice', text: `did ${request.text}`, delivery });
    return { kind: 'command', session: known.name, text: null };
  }

  async content(): Promise<Uint8Array | null> {
    this.#alive();
    return null;
  }

  async press(ref: string, value: string): Promise<PressReceipt> {
    this.#alive();
    this.calls.push(`press ${value}`);
    return { word: 'Done.', session: this.#get(ref).name };
  }

  async *events(ref: string, after: number, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    this.#alive();
    this.calls.push(`events after ${after}`);
    const session = this.#get(ref);
    const stream = new BoundedQueue<SessionEvent>(1_000);
    session.streams.add(stream);
    const close = () => stream.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      for (const entry of session.entries.slice(after)) yield { kind: 'entry', entry };
      yield { kind: 'live-state', turn: session.live };
      if (!signal.aborted) yield* stream;
      if (!signal.aborted) this.#alive();
    } finally {
      session.streams.delete(stream);
    }
  }

  async stop(ref: string): Promise<boolean> {
    this.#alive();
    this.calls.push('stop');
    const session = this.home.session(ref);
    if (session === null) return false;
    this.#hooks.onStop?.(session);
    return true;
  }

  async sessions({ limit, before = Infinity }: { limit: number; before?: number }): Promise<SessionSummary[]> {
    this.#alive();
    const summaries = this.home.sessions.map(summaryOf).sort((a, b) => b.updatedAt - a.updatedAt);
    return summaries.filter((session) => session.updatedAt < before).slice(0, limit);
  }

  async session(ref: string): Promise<SessionSummary | null> {
    this.#alive();
    const session = this.home.session(ref);
    return session === null ? null : summaryOf(session);
  }

  async status(): Promise<StatusReport> {
    return {
      version: '0.0.0',
      pid: 1,
      uptime_s: 1,
      sessions: this.home.sessions.length,
      agent_cache: { size: 0, cap: 0, active: 0, hits: 0, misses: 0, evictions: 0, sweeps: 0, releases: 0 },
      turns: { running: 0, queued: 0, done: 0, failed: 0, parked: 0 },
      outbox: { pending: 0 },
      held: [],
      mcp_servers: [],
      sandbox: 'none',
      store: 'memory',
      usage: {
        input_tokens: 0,
        cached_tokens: 0,
        output_tokens: 0,
        reasoning_tokens: 0,
        usd: null,
        unpriced_calls: 0,
        today_usd: 0,
      },
      model: { provider: 'offline', name: 'rehearsal' },
      fallback: [],
      keys: [],
      prefix_breaks: 0,
      config: { path: 'config.yaml', loaded_at: 0, problems: [] },
      ...this.#hooks.status,
    };
  }

  async answer(ref: string, callId: CallId, text: string): Promise<boolean> {
    this.#alive();
    this.calls.push(`answer ${callId} ${text}`);
    return this.#hooks.onAnswer?.(this.#get(ref), callId, text) ?? false;
  }

  async settings(ref: string, change: Partial<SessionSettings>, dryRun: boolean): Promise<SettingsQuote> {
    this.#alive();
    const session = this.#get(ref);
    this.calls.push(`settings ${JSON.stringify(change)}${dryRun ? ' dry' : ''}`);
    const settings = { ...session.settings, ...change };
    if (!dryRun) session.settings = settings;
    const cost = this.#hooks.quote?.(change) ?? { uncachedTokens: 0, usd: 0 };
    return { settings, model: settings.model ?? 'offline/rehearsal', ...cost };
  }

  async modelCalls(ref: string): Promise<readonly ModelCallRecord[]> {
    this.#alive();
    return this.#get(ref).modelCalls;
  }

  async people(): Promise<PeopleReport> {
    this.#alive();
    return this.home.people;
  }

  async approve(code: string, role: PersonRole): Promise<PeopleReport['people'][number]> {
    this.#alive();
    this.calls.push(`approve ${code} ${role}`);
    const [asking] = this.home.people.pending;
    if (asking === undefined) throw new ApiError('not-found', 'Nobody was given this code. 4 tries are left.');
    return { channel: asking.channel, userId: asking.userId, name: asking.name, role, addedAt: 0 };
  }

  async revoke(channel: string, userId: string): Promise<boolean> {
    this.#alive();
    this.calls.push(`revoke ${channel} ${userId}`);
    return this.home.people.people.some((one) => one.channel === channel && one.userId === userId);
  }

  async sendTo(target: string, text: string): Promise<void> {
    this.#alive();
    this.calls.push(`send to ${target}: ${text}`);
  }

  async tools(): Promise<readonly ToolSummary[]> {
    this.#alive();
    return [{ name: 'read_file', toolsets: ['files', 'safe'], effect: 'read', bytes: 321 }];
  }

  async prompt(): Promise<PromptReport> {
    this.#alive();
    return { session: null, frozen: null, fresh: { sections: [], tools: [] } };
  }

  async grants(): Promise<readonly GrantSummary[]> {
    this.#alive();
    return this.home.grants;
  }

  async revokeGrant(id: number): Promise<boolean> {
    this.#alive();
    this.calls.push(`revoke grant ${id}`);
    const index = this.home.grants.findIndex((grant) => grant.id === id);
    if (index !== -1) this.home.grants.splice(index, 1);
    return index !== -1;
  }

  async rebuildSearch(): Promise<void> {
    this.#alive();
    this.calls.push('rebuild search');
  }

  async apiKeys(): Promise<readonly { name: string; createdAt: number }[]> {
    this.#alive();
    return this.home.apiKeys.map((name) => ({ name, createdAt: 0 }));
  }

  async addApiKey(name: string): Promise<string> {
    this.#alive();
    this.home.apiKeys.push(name);
    return `key of ${name}`;
  }

  async removeApiKey(name: string): Promise<boolean> {
    this.#alive();
    const index = this.home.apiKeys.indexOf(name);
    if (index !== -1) this.home.apiKeys.splice(index, 1);
    return index !== -1;
  }

  async usage(sinceDay: string): Promise<readonly UsageSum[]> {
    this.#alive();
    this.calls.push(`usage ${sinceDay}`);
    return this.home.usageSums.filter(({ day }) => day >= sinceDay);
  }

  parked(): Promise<boolean> {
    return Promise.reject(new Error('not in this fake'));
  }
  delete(): Promise<boolean> {
    return Promise.reject(new Error('not in this fake'));
  }
  search(): Promise<never[]> {
    return Promise.reject(new Error('not in this fake'));
  }
  async *export(): AsyncGenerator<string> {
    yield '{}';
  }
  import(): Promise<SessionSummary> {
    return Promise.reject(new Error('not in this fake'));
  }
  async *backup(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array();
  }
}

function summaryOf(session: FakeSession): SessionSummary {
  const messages = session.entries.filter((entry) => entry.kind === 'message').length;
  const { id, name, entries, settings } = session;
  const updatedAt = entries.at(-1)?.at ?? 0;
  const newestTurn = entries.findLast((entry) => entry.kind === 'turn-opened' || entry.kind === 'turn-closed');
  return {
    id,
    name,
    key: `cli:direct:${name}`,
    title: '',
    createdAt: 0,
    updatedAt,
    state: newestTurn?.kind === 'turn-opened' ? 'running' : 'idle',
    messages,
    lastSeq: entries.length,
    settings,
  };
}
