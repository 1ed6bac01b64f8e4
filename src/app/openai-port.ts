/** The gateway as the OpenAI-compatible API needs it: sessions by user, messages in, events out. */
import { isDeepStrictEqual } from 'node:util';
import type { AskedSession, AskReceipt, AskRequest, OpenAiPort, TurnFacts } from '../channels/openai-api/port.ts';
import type { HardClose } from '../gateway/hard-close.ts';
import type { Intake } from '../gateway/intake.ts';
import type { LiveHub } from '../gateway/live-hub.ts';
import type { SessionDrain } from '../gateway/session-drain.ts';
import { followSession } from '../gateway/session-events.ts';
import { statelessKey, type StatelessSessions } from '../gateway/stateless-sessions.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import { sessionNameProblem, type InboxId, type SessionId, type TurnId } from '../protocol/ids.ts';
import type { Entry, EntryBody, Message, UserMessage } from '../protocol/messages.ts';
import { totalOfCalls } from '../protocol/usage-text.ts';
import { StoreError, type SessionRecord, type Store } from '../store/store.ts';
import { noSettings, type Agents } from './agents.ts';

export interface OpenAiPortDeps {
  readonly store: Store;
  readonly intake: Intake;
  readonly drain: SessionDrain;
  readonly hub: LiveHub;
  readonly agents: Agents;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly isLeaving: () => boolean;
  readonly hardClose: HardClose;
  /** Those that a request without a session begins. */
  readonly stateless: Pick<StatelessSessions, 'noteBegun'>;
}

const channel = 'api';
/** With what tells it from somebody else's behind it, it is still a session's name. */
const ownNameCharsMax = 55;
/** That may stand before and after the past that a session began with, as far as it is looked at. */
const entriesBesidesPastMax = 16;

export function createOpenAiPort(deps: OpenAiPortDeps): OpenAiPort {
  const { store, hub, drain, agents } = deps;
  return {
    ask: (request) => ask(deps, request),
    async waiting(user, id) {
      if ((await store.read.session(id))?.owner !== ownerOf(user)) return null;
      const journal = await store.read.journal(id, Number.MAX_SAFE_INTEGER);
      return journal?.waiting.map((record) => record.id) ?? null;
    },
    async externalId(user, inboxId) {
      const { sender, externalId } = (await store.read.inbox(inboxId)) ?? {};
      return sender === user ? (externalId?.slice(`${user}:`.length) ?? null) : null;
    },
    follow: (sessionId, after, signal) => followSession({ read: store.read, hub }, sessionId, after, signal),
    async stop(sessionId) {
      if (!deps.isLeaving()) await drain.stop(sessionId);
    },
    async close(sessionId) {
      await deps.hardClose(sessionId);
      await store.closeSession(sessionId);
    },
    async models() {
      const { chain } = await agents.runtimes(noSettings);
      return chain.map(({ provider, model }) => ({ id: `${provider}/${model}`, ownedBy: provider }));
    },
    facts: (sessionId, turnId) => factsOf(store, sessionId, turnId),
  };
}

/** The machine's own user owns what the terminal and the page own; everybody else has their own. */
const ownerOf = (user: string) => (user === 'owner' ? user : `${channel}:${user}`);

async function ask(deps: OpenAiPortDeps, request: AskRequest): Promise<AskReceipt> {
  const found = await sessionFor(deps, request);
  if (found.kind === 'refused') return found;
  const { session } = found;
  const { session: asked } = request;
  if (asked.kind === 'fresh' && !found.isNew && !(await beganWith(deps.store, session.id, pastIn(asked)))) {
    return askedOtherwise;
  }
  if (request.model !== null && session.settings.model !== request.model) {
    await deps.store.changeSettings(session.id, { ...session.settings, model: request.model });
  }
  const receipt = await deps.intake.admit(
    {
      channel,
      externalId: `${request.user}:${request.externalId}`,
      sender: { id: request.user, name: request.user },
      place: { kind: 'direct', chat: `${request.user}/${session.name}` },
      message: { ...request.message, hasOwnTurn: true },
      contents: request.contents,
    },
    // Joined to a turn of somebody else's, both would get one answer.
    { into: { existing: session.id }, mode: 'queue' },
  );
  if (receipt.kind === 'refused') return receipt;
  const { inboxId, duplicate } = receipt;
  if (duplicate && !(await wasAsked(deps.store, inboxId, request.message))) return askedOtherwise;
  const afterSeq = duplicate ? 0 : session.lastSeq;
  const sessionName = asked.kind === 'named' ? asked.name : session.name;
  return { kind: 'accepted', sessionId: receipt.sessionId, sessionName, inboxId, duplicate, afterSeq };
}

/** The answer to another question would be taken for the answer to this one. */
async function wasAsked({ read }: Store, inboxId: InboxId, { parts }: UserMessage): Promise<boolean> {
  const first = await read.inbox(inboxId);
  return first === null || isDeepStrictEqual(first.message.parts, parts);
}

/** Nor is the same last message after another past the same question. */
async function beganWith({ read }: Store, sessionId: SessionId, past: readonly Message[]): Promise<boolean> {
  const entries = await read.entries(sessionId, { after: 0, limit: past.length + entriesBesidesPastMax });
  const turnId = entries.find(({ kind }) => kind === 'turn-opened')?.turnId;
  const first = entries.filter((entry) => entry.kind === 'message' && entry.turnId === turnId);
  // The turn of a question that had no past.
  if (first.some((entry) => 'inboxId' in entry && entry.inboxId !== null)) return past.length === 0;
  return isDeepStrictEqual(
    first.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : [])),
    past,
  );
}

const askedOtherwise = {
  kind: 'refused',
  reason: 'asked-otherwise',
  text: 'Another question was asked under this Idempotency-Key; give each question a key of its own.',
} as const;

type Found =
  | { readonly kind: 'found'; readonly session: SessionRecord; readonly isNew: boolean }
  | Extract<AskReceipt, { kind: 'refused' }>;

async function sessionFor(deps: OpenAiPortDeps, request: AskRequest): Promise<Found> {
  const { read } = deps.store;
  const { session: asked, user } = request;
  if (asked.kind === 'existing') {
    const session = await read.session(asked.id);
    return session === null ? notAllowed : { kind: 'found', session, isNew: false };
  }
  const name = asked.kind === 'named' ? asked.name : freshName(request);
  const problem = sessionNameProblem(name);
  if (problem !== null) return { kind: 'refused', reason: 'not-allowed', text: problem };
  const known = await read.sessionByName(name);
  if (known?.owner === ownerOf(user)) return { kind: 'found', session: known, isNew: false };
  // Names are each user's own: that somebody else has a session of this name is nobody's business.
  const ownName = ownNameFor(user, name);
  const own = await read.sessionByName(ownName);
  if (own !== null) return own.owner === ownerOf(user) ? { kind: 'found', session: own, isNew: false } : notAllowed;
  const newName = known === null ? name : ownName;
  // With a past of its own, or under another owner than a message alone would give it, it is made first.
  try {
    return { kind: 'found', session: await makeSession(deps, newName, asked, user), isNew: true };
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason !== 'conflict') throw error;
    // Another request made it in the same moment, or took the name.
    const made = await read.sessionByName(newName);
    if (made?.owner === ownerOf(user)) return { kind: 'found', session: made, isNew: false };
    return newName === name ? sessionFor(deps, request) : notAllowed;
  }
}

/** What a session is called in the store whose name somebody else has. */
function ownNameFor(user: string, name: string): string {
  return `${name.slice(0, ownNameCharsMax).toWellFormed()}-${digestOf(user, name).slice(0, 8)}`;
}

async function makeSession(
  deps: OpenAiPortDeps,
  name: string,
  asked: Exclude<AskedSession, { kind: 'existing' }>,
  user: string,
): Promise<SessionRecord> {
  const id = deps.ids.next('ses');
  const entries = asked.kind === 'fresh' ? entriesOf(deps, pastIn(asked)) : [];
  const session = { name, title: '', createdAt: deps.clock.now(), entries };
  if (asked.kind === 'fresh') deps.stateless.noteBegun();
  const key = asked.kind === 'fresh' ? statelessKey(user, id) : `${channel}:direct:${encodeURIComponent(user)}:${id}`;
  return deps.store.importSession(id, key, ownerOf(user), session);
}

const notAllowed = {
  kind: 'refused',
  reason: 'not-allowed',
  text: 'There is no such session, or it belongs to somebody else.',
} as const;

/** The same request leads to the same session, also after a crash between making it and taking the message. */
function freshName({ user, externalId }: AskRequest): string {
  return `api-${digestOf(user, externalId).slice(0, 20)}`;
}

function digestOf(user: string, what: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', `${user}\n${what}`, 'hex');
}

type FreshSession = Extract<AskedSession, { kind: 'fresh' }>;

/** What the client says was said before; its instructions stand first, as a message to the model. */
function pastIn({ history, system }: FreshSession): readonly Message[] {
  if (system === null) return history;
  const text = `[Instructions of the client]\n${system}`;
  return [{ role: 'user', parts: [{ kind: 'text', text }] }, ...history];
}

/** All of it as one closed turn. */
function entriesOf(deps: OpenAiPortDeps, messages: readonly Message[]): Entry[] {
  if (messages.length === 0) return [];
  const turnId = deps.ids.next('trn');
  const at = deps.clock.now();
  const bodies = messages.flatMap((message): EntryBody[] => {
    if (message.role === 'user') return [{ kind: 'message', message, inboxId: null }];
    if (message.role === 'assistant') return [{ kind: 'message', message, modelCallId: deps.ids.next('mdl') }];
    return [];
  });
  const all: EntryBody[] = [{ kind: 'turn-opened' }, ...bodies, { kind: 'turn-closed', outcome: 'answered' }];
  return all.map((body, index) => ({ ...body, seq: index + 1, at, turnId }));
}

async function factsOf(store: Store, sessionId: SessionId, turnId: TurnId): Promise<TurnFacts> {
  return { usage: totalOfCalls(await store.read.modelCalls(sessionId, turnId)) };
}
