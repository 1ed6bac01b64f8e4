/** The verbs about a model's answer and the tool calls in it: each is recorded before it starts and when it ends. */
import type { CallId, ModelCallId, SessionId, TurnId } from '../../protocol/ids.ts';
import { toolCallsOf } from '../../protocol/messages.ts';
import type { CallState, SessionWrite } from '../store.ts';
import { keepContents } from './contents.ts';
import { queueReply } from './deliveries.ts';
import type { Database } from './open-database.ts';
import type { CallPlan } from './rows.ts';
import { conflict, type SessionDraft } from './session-draft.ts';
import { requireNoUnsettledCalls } from './turn-writes.ts';

export function appendAnswer(draft: SessionDraft, write: SessionWrite & { verb: 'append-answer' }): void {
  const { turnId, modelCallId, message, calls, promptTokens } = write;
  draft.requireOpenTurn(turnId);
  requireNoUnsettledCalls(draft, turnId);
  const asked = toolCallsOf(message).map((part) => part.callId);
  if (asked.length !== calls.length || calls.some((call, index) => call.id !== asked[index])) {
    throw conflict(`the planned calls are not those that the message of ${modelCallId} asks for`);
  }
  const counted = promptTokens === undefined ? {} : { promptTokens };
  const seq = draft.append(turnId, { kind: 'message', message, modelCallId, ...counted });
  claimAnswer(draft, turnId, modelCallId, seq);
  calls.forEach(({ id, ...plan }, position) => planCall(draft, { id, turnId, seq, position, plan }));
}

export function appendNudge(draft: SessionDraft, write: SessionWrite & { verb: 'append-nudge' }): void {
  draft.requireOpenTurn(write.turnId);
  requireNoUnsettledCalls(draft, write.turnId);
  draft.append(write.turnId, { kind: 'message', message: write.message, inboxId: null });
}

/** A model call has one answer at most. */
function claimAnswer(draft: SessionDraft, turnId: TurnId, modelCallId: ModelCallId, seq: number): void {
  const claimed = draft.database.run(
    'UPDATE model_calls SET answer_seq = ? WHERE session_id = ? AND id = ? AND turn_id = ? AND answer_seq IS NULL',
    seq,
    draft.sessionId,
    modelCallId,
    turnId,
  );
  if (claimed === 0) throw conflict(`model call ${modelCallId} of turn ${turnId} is unknown or was answered before`);
}

interface NewCall {
  readonly id: CallId;
  readonly turnId: TurnId;
  readonly seq: number;
  readonly position: number;
  readonly plan: CallPlan;
}

function planCall(draft: SessionDraft, call: NewCall): void {
  draft.database.run(
    `INSERT INTO tool_calls (session_id, id, turn_id, seq, position, state, plan) VALUES (?, ?, ?, ?, ?, 'planned', ?)`,
    draft.sessionId,
    call.id,
    call.turnId,
    call.seq,
    call.position,
    JSON.stringify(call.plan),
  );
}

export function startCall(draft: SessionDraft, write: SessionWrite & { verb: 'start-call' }): void {
  draft.requireOpenTurn(write.turnId);
  const state = callState(draft, write.turnId, write.callId);
  if (state !== 'planned' && state !== 'waiting') {
    throw conflict(`call ${write.callId} is ${state}; only a planned or waiting one can start`);
  }
  setCallState(draft, write.callId, 'started');
}

export function ask(draft: SessionDraft, write: SessionWrite & { verb: 'ask' }): void {
  const { turnId, callId, question } = write;
  draft.requireOpenTurn(turnId);
  const state = callState(draft, turnId, callId);
  if (state !== 'started') throw conflict(`call ${callId} is ${state}; only a started one can ask`);
  draft.database.run(
    `UPDATE tool_calls SET state = 'waiting', question = ?, answer = NULL WHERE session_id = ? AND id = ?`,
    JSON.stringify(question),
    draft.sessionId,
    callId,
  );
  const { text, plan: _plan, ...open } = question;
  draft.append(turnId, { kind: 'notice', text, question: { callId, ...open } });
  if (write.reply !== null) queueReply(draft.database, draft.now, draft.sessionId, turnId, write.reply);
}

/** The first answer counts; whether it came in time is judged by whoever goes on with it. */
export function answerCall(
  database: Database,
  _now: number,
  sessionId: SessionId,
  callId: CallId,
  answer: string,
): boolean {
  const changed = database.run(
    `UPDATE tool_calls SET answer = ? WHERE session_id = ? AND id = ? AND state = 'waiting' AND answer IS NULL`,
    JSON.stringify(answer),
    sessionId,
    callId,
  );
  return changed > 0;
}

export function settleCall(draft: SessionDraft, write: SessionWrite & { verb: 'settle-call' }): void {
  const { turnId, callId, message, contents = [], replies = [] } = write;
  draft.requireOpenTurn(turnId);
  const [result] = message.parts;
  if (result.callId !== callId) throw conflict(`the result of ${result.callId} can't settle call ${callId}`);
  const state = callState(draft, turnId, callId);
  if (state !== 'planned' && state !== 'started' && state !== 'waiting') {
    throw conflict(`call ${callId} has its result already (${state})`);
  }
  setCallState(draft, callId, result.outcome);
  draft.append(turnId, { kind: 'message', message });
  keepContents(draft.database, draft.sessionId, contents);
  for (const reply of replies) queueReply(draft.database, draft.now, draft.sessionId, turnId, reply);
}

function callState(draft: SessionDraft, turnId: TurnId, callId: CallId): CallState {
  const row = draft.database.get<{ state: CallState }>(
    'SELECT state FROM tool_calls WHERE session_id = ? AND id = ? AND turn_id = ?',
    draft.sessionId,
    callId,
    turnId,
  );
  if (row === undefined) throw conflict(`turn ${turnId} has no call ${callId}`);
  return row.state;
}

function setCallState(draft: SessionDraft, callId: CallId, state: CallState): void {
  draft.database.run('UPDATE tool_calls SET state = ? WHERE session_id = ? AND id = ?', state, draft.sessionId, callId);
}
