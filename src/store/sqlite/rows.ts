/** How rows become records. Columns are selected under the records' field names; JSON columns are decoded here only. */
import type { SessionSettings } from '../../protocol/api.ts';
import type { Entry, EntryBody, Question, SentFile, UserMessage } from '../../protocol/messages.ts';
import type { TurnId } from '../../protocol/ids.ts';
import type {
  CallRecord,
  InboxRecord,
  OutboxRecord,
  PlannedCall,
  ReplyButton,
  SessionRecord,
  TurnRecord,
} from '../store.ts';

export const sessionColumns = `id, key, name, title, titled_by AS titledBy, settings, owner, is_closed AS isClosed,
  created_at AS createdAt, updated_at AS updatedAt, last_seq AS lastSeq, messages, turn`;
export type SessionRow = Omit<SessionRecord, 'settings' | 'isClosed'> & {
  readonly settings: string;
  readonly isClosed: number;
};

export const turnColumns = `id, session_id AS sessionId, state, opened_at AS openedAt, crashes,
  model_calls AS modelCalls, stop_requested AS stopRequested, first_seq AS firstSeq`;
export type TurnRow = Omit<TurnRecord, 'stopRequested'> & { readonly stopRequested: number };

export const callColumns = 'id, turn_id AS turnId, position, state, plan, question, answer';
export type CallRow = Pick<CallRecord, 'id' | 'turnId' | 'position' | 'state'> & {
  readonly plan: string;
  readonly question: string | null;
  readonly answer: string | null;
};
export type CallPlan = Omit<PlannedCall, 'id'>;

export const inboxColumns = `id, session_id AS sessionId, channel, external_id AS externalId, sender, message, target,
  received_at AS receivedAt, joins, state`;
export type InboxRow = Omit<InboxRecord, 'message' | 'joins'> & {
  readonly message: string;
  readonly joins: number | null;
};

export const outboxColumns = `id, session_id AS sessionId, turn_id AS turnId, channel, target, text, buttons, file,
  state, attempts, parts_sent AS partsSent, maybe_sent AS maybeSent`;
export type OutboxRow = Omit<OutboxRecord, 'buttons' | 'file' | 'draftId' | 'maybeSent'> & {
  readonly buttons: string;
  readonly file: string | null;
  readonly maybeSent: number;
};

export const entryColumns = 'seq, at, turn_id AS turnId, body';
export interface EntryRow {
  readonly seq: number;
  readonly at: number;
  readonly turnId: TurnId | null;
  readonly body: string;
}

// Rows come without a prototype; records are ordinary objects, whichever thread read them.

export function toSession(row: SessionRow): SessionRecord {
  return {
    ...row,
    settings: JSON.parse(row.settings) as SessionSettings,
    owner: JSON.parse(row.owner) as string,
    isClosed: row.isClosed === 1,
  };
}

export function toTurn(row: TurnRow): TurnRecord {
  return { ...row, stopRequested: row.stopRequested === 1 };
}

export function toCall({ plan, question, answer, ...row }: CallRow): CallRecord {
  return {
    ...row,
    ...(JSON.parse(plan) as CallPlan),
    question: question === null ? null : (JSON.parse(question) as Question),
    answer: answer === null ? null : (JSON.parse(answer) as string),
  };
}

export function toInbox(row: InboxRow): InboxRecord {
  return {
    ...row,
    externalId: JSON.parse(row.externalId) as string,
    sender: JSON.parse(row.sender) as string,
    message: JSON.parse(row.message) as UserMessage,
    target: JSON.parse(row.target) as string,
    joins: row.joins === null ? null : row.joins === 1,
  };
}

export function toOutbox(row: OutboxRow, draftId: string | null): OutboxRecord {
  return {
    ...row,
    target: JSON.parse(row.target) as string,
    text: JSON.parse(row.text) as string,
    buttons: JSON.parse(row.buttons) as ReplyButton[],
    file: row.file === null ? null : (JSON.parse(row.file) as SentFile),
    draftId,
    maybeSent: row.maybeSent === 1,
  };
}

export function toEntry(row: EntryRow): Entry {
  return { ...(JSON.parse(row.body) as EntryBody), seq: row.seq, at: row.at, turnId: row.turnId };
}
