/** The local API, called directly: what the HTTP routes and a program that runs by itself both use. */
import type { IdSource } from '../lib/ids.ts';
import { isId } from '../lib/ids.ts';
import {
  ApiError,
  messageBytesMax,
  type ApiErrorReason,
  type ParkedAction,
  type PromptReport,
  type SendRequest,
  type SessionSettings,
  type SessionSummary,
  type SettingsQuote,
  type TalariaApi,
} from '../protocol/api.ts';
import { sessionNameProblem, type SessionId } from '../protocol/ids.ts';
import { StoreError, type SessionRecord, type Store } from '../store/store.ts';
import type { Receipt } from '../channels/channel.ts';
import type { Intake } from './intake.ts';
import { listConversations } from './list-conversations.ts';
import type { LiveHub } from './live-hub.ts';
import type { LocalAdmin } from './local-admin.ts';
import { machineOwner } from './route-session.ts';
import { followSession } from './session-events.ts';
import { sessionFinder } from './session-finder.ts';
import type { SessionDrain } from './session-drain.ts';

const sessionsPageMax = 500;
const searchHitsMax = 100;
/** More than the verbs about parked turns write. */
const parkedEntriesMax = 16;

export interface LocalApiDeps {
  readonly store: Store;
  readonly intake: Intake;
  readonly drain: SessionDrain;
  readonly hub: LiveHub;
  readonly ids: IdSource;
  readonly status: TalariaApi['status'];
  /** What these settings would mean for the session. Throws an `ApiError` if there is no such model. */
  readonly quote: (session: SessionRecord, settings: SessionSettings) => Promise<SettingsQuote>;
  readonly prompt: (session: SessionRecord | null) => Promise<PromptReport>;
  readonly backup: TalariaApi['backup'];
  readonly admin: LocalAdmin;
  /** The channels of the front ends: what is typed there goes through them. */
  readonly frontEnds: Readonly<Record<SendRequest['channel'], Pick<TalariaApi, 'say' | 'press'>>>;
  /** Called once a session is gone: what is kept of it outside the store can go too. */
  readonly onDeleted?: (sessionId: SessionId) => Promise<void>;
}

export function createLocalApi(deps: LocalApiDeps): TalariaApi {
  const { read } = deps.store;
  const find = sessionFinder(read);
  const get = async (ref: string): Promise<SessionRecord> => {
    const record = await find(ref);
    if (record === null) throw new ApiError('not-found', `There is no session named ${JSON.stringify(ref)}.`);
    return record;
  };

  return {
    ...deps.admin,
    status: deps.status,
    backup: deps.backup,
    async sessions({ limit, before }) {
      const page = { limit: Math.min(limit, sessionsPageMax), ...(before === undefined ? {} : { before }) };
      return (await listConversations(read, page)).map(summaryOf);
    },
    async session(ref) {
      const record = await find(ref);
      return record === null ? null : summaryOf(record);
    },
    send: (request) => send(deps, find, request),
    say: (request) => translated(() => deps.frontEnds[request.channel].say(request)),
    press: (ref, value, externalId) => translated(() => deps.frontEnds.web.press(ref, value, externalId)),
    async *events(ref, after, signal) {
      const record = await get(ref);
      yield* followSession({ read, hub: deps.hub }, record.id, after, signal);
    },
    async stop(ref) {
      return deps.drain.stop((await get(ref)).id);
    },
    async answer(ref, callId, text) {
      const { id } = await get(ref);
      if (Buffer.byteLength(text) > messageBytesMax) throw new ApiError('too-large', 'The answer is too long.');
      const asked = (await read.journal(id, Number.MAX_SAFE_INTEGER))?.unsettledCalls.find(
        (call) => call.id === callId,
      );
      const choices = asked?.question?.choices ?? null;
      if (choices !== null && !choices.includes(text)) {
        throw new ApiError('bad-request', `The answer must be one of: ${choices.join(', ')}.`);
      }
      const answered = await translated(() => deps.store.answerCall(id, callId, text.toWellFormed()));
      if (answered) deps.drain.wake(id);
      return answered;
    },
    async parked(ref, action) {
      return settleParked(deps, await get(ref), action);
    },
    async settings(ref, change, dryRun) {
      const session = await get(ref);
      const settings = { ...session.settings, ...change };
      const quote = await deps.quote(session, settings);
      if (!dryRun) await translated(() => deps.store.changeSettings(session.id, settings));
      return quote;
    },
    async modelCalls(ref) {
      return read.modelCalls((await get(ref)).id);
    },
    prompt: async (ref) => deps.prompt(ref === null ? null : await get(ref)),
    usage: (sinceDay) => read.usageSums(sinceDay),
    async delete(ref) {
      const { id } = await get(ref);
      await deps.drain.stop(id);
      await deps.drain.whenIdle(id);
      const isDeleted = await translated(() => deps.store.deleteSession(id));
      if (isDeleted) await deps.onDeleted?.(id);
      return isDeleted;
    },
    search: (query, limit, span) => deps.store.search(query, Math.min(limit, searchHitsMax), span),
    rebuildSearch: () => translated(() => deps.store.rebuildSearch()),
    content: (sha256) => read.content(sha256),
    async *export(ref) {
      const { exportLines } = await import('./portable-session.ts');
      yield* exportLines(read, await get(ref));
    },
    async import(lines, name) {
      const { parseExport } = await import('./portable-session.ts');
      const session = await parseExport(lines);
      const wanted = name ?? session.name;
      const problem = sessionNameProblem(wanted);
      if (problem !== null) throw new ApiError('bad-request', problem);
      const id = deps.ids.next('ses');
      const key = `cli:direct:${id}`;
      const portable = { ...session, name: wanted };
      return summaryOf(await translated(() => deps.store.importSession(id, key, machineOwner, portable)));
    },
  };
}

async function settleParked(deps: LocalApiDeps, session: SessionRecord, action: ParkedAction): Promise<boolean> {
  const { store, hub, drain } = deps;
  const { id } = session;
  // Who has just seen the turn end may be quicker than the run that ended it is with giving up its lease.
  if (session.turn !== 'open') await drain.whenIdle(id);
  const isDone = await translated(() => (action === 'retry' ? store.retryParked(id) : store.dropParked(id)));
  if (!isDone) return false;
  // No run of the session wrote these, so none shows them.
  const written = await store.read.entries(id, { after: session.lastSeq, limit: parkedEntriesMax });
  for (const entry of written) hub.publish(id, { kind: 'entry', entry });
  if (action === 'retry') drain.wake(id);
  return true;
}

async function send(
  deps: LocalApiDeps,
  find: (ref: string) => Promise<SessionRecord | null>,
  request: SendRequest,
): ReturnType<TalariaApi['send']> {
  const { channel, externalId, text, isUnattended } = request;
  const existing = request.session === null ? null : await find(request.session);
  if (request.session !== null && existing === null) {
    const problem = isId('ses', request.session) ? 'There is no such session.' : sessionNameProblem(request.session);
    if (problem !== null) throw new ApiError('bad-request', problem);
  }
  // A new chat without a name is a place of its own; sending it again must lead to the same place.
  const chat = request.session ?? `new-${externalId}`;
  const receipt = await translated(() =>
    deps.intake.admit(
      {
        channel,
        externalId,
        sender: { id: 'owner', name: 'owner' },
        place: { kind: 'direct', chat },
        message: {
          role: 'user',
          parts: [{ kind: 'text', text }],
          ...(isUnattended === undefined ? {} : { isUnattended }),
        },
      },
      existing === null ? namedOrNot(request.session) : { into: { existing: existing.id } },
    ),
  );
  if (receipt.kind === 'refused') throw new ApiError(reasonOfRefusal[receipt.reason], receipt.text);
  const { session, inboxId, duplicate } = receipt;
  const afterSeq = duplicate ? 0 : session.lastSeq;
  return { sessionId: session.id, sessionName: session.name, inboxId, duplicate, afterSeq };
}

const namedOrNot = (name: string | null) => (name === null ? {} : { into: { name } });

const reasonOfRefusal: Record<Extract<Receipt, { kind: 'refused' }>['reason'], ApiErrorReason> = {
  'too-large': 'too-large',
  'queue-full': 'busy',
  'not-allowed': 'forbidden',
  draining: 'draining',
  empty: 'bad-request',
};

export function summaryOf(record: SessionRecord): SessionSummary {
  const { turn, titledBy: _titledBy, owner: _owner, isClosed: _isClosed, ...rest } = record;
  return { ...rest, state: turn === 'open' ? 'running' : turn === 'parked' ? 'parked' : 'idle' };
}

async function translated<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof StoreError)
      throw new ApiError(error.reason === 'conflict' ? 'busy' : 'failed', error.message, { cause: error });
    throw error;
  }
}
