/**
 * Runs the calls of one answer: start stored, tool run, result stored, for each. Side by side where every call of the
 * round allows it, otherwise one after the other. Whatever a call asks for, it ends in exactly one stored result; each
 * is stored the moment it is there, so that a crash loses none that had finished.
 */
import type { TurnId } from '../protocol/ids.ts';
import type { CallOutcome } from '../protocol/messages.ts';
import type { CallRecord, Reply, SessionWrite } from '../store/store.ts';
import type { ToolContext, ToolOutcome } from '../tools/tool.ts';
import { callHistory, sameFailureWarnedAt, type CallHistory } from './call-history.ts';
import type { Journal } from './journal.ts';
import { prepareCall, type PreparedCall } from './prepare-call.ts';
import { ProjectNotes, type AddedNotes } from './project-notes.ts';
import { questionButtons, questionText } from './questions.ts';
import { replyTo } from './reply-to.ts';
import { boundedResult } from './result-bound.ts';
import { contentsProblem, noContents, resultContents, type ResultContents } from './result-contents.ts';
import { sideCall } from './side-call.ts';
import { ActionCut, type TurnDeps } from './turn-deps.ts';
import { turnMarks, wasShown } from './turn-marks.ts';

const callsAtOnceMax = 8;

/** Returns early, with calls left planned, when the signal aborts: what to do with those is decided anew. */
export async function runTools(
  deps: TurnDeps,
  journal: Journal,
  calls: readonly CallRecord[],
  signal: AbortSignal,
): Promise<void> {
  const round = roundOf(deps, journal);
  const prepared = calls.map((call) => prepareCall(deps.agent.tools, call));
  const lanes = mayRunSideBySide(prepared) ? callsAtOnceMax : 1;

  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const waiting = prepared.values();
  const lane = async () => {
    for (const call of waiting) {
      if (either.aborted) return;
      await runOne(round, call, either);
    }
  };
  const results = await Promise.allSettled(
    Array.from({ length: Math.min(lanes, prepared.length) }, () =>
      lane().catch((error: unknown) => {
        // A result that can't be stored ends the round: the others are cut short, and all have ended before it is told.
        failure.abort(error);
        throw error;
      }),
    ),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Takes up calls that live on by themselves, and ends them; each gets its result. */
export async function endCalls(deps: TurnDeps, journal: Journal, calls: readonly CallRecord[]): Promise<void> {
  const round = roundOf(deps, journal);
  const stopped = AbortSignal.abort(new ActionCut('stop'));
  for (const call of calls) await runOne(round, prepareCall(deps.agent.tools, call), stopped);
}

function mayRunSideBySide(round: readonly PreparedCall[]): boolean {
  const taken = new Set<string>();
  for (const { sideBySide } of round) {
    if (sideBySide === 'any') continue;
    if (sideBySide === 'alone') return round.length === 1;
    for (const thing of sideBySide) {
      if (taken.has(thing)) return false;
      taken.add(thing);
    }
  }
  return true;
}

interface Round {
  readonly deps: TurnDeps;
  readonly journal: Journal;
  readonly history: CallHistory;
  readonly project: ProjectNotes | null;
}

function roundOf(deps: TurnDeps, journal: Journal): Round {
  const { workspace, folderNote } = deps.agent;
  const project = folderNote === undefined ? null : new ProjectNotes(journal, workspace, folderNote);
  return { deps, journal, history: callHistory(journal), project };
}

async function runOne(
  { deps, journal, history, project }: Round,
  prepared: PreparedCall,
  signal: AbortSignal,
): Promise<void> {
  const sessionId = journal.session.id;
  const { record } = prepared;
  const { turnId, id: callId, name } = record;
  // One that may be repeated or taken up again can be found as started already.
  if (record.state !== 'started') await deps.commit([{ verb: 'start-call', turnId, callId }]);
  deps.sink({ kind: 'call-started', turnId, callId, name, arguments: record.arguments });
  const used = prepared.kind === 'ready' ? await useTool(deps, journal, prepared, signal) : mistakeOf(prepared);
  if (used === 'left') return;
  const outcome = withinLimits(used);
  if (outcome.kind === 'ask') {
    const { kind: _ask, ...question } = outcome;
    const words = { text: questionText(question), buttons: questionButtons(callId, question) };
    const reply = await replyTo(deps, journal, turnId, words);
    await deps.commit([{ verb: 'ask', turnId, callId, question, reply }]);
    return;
  }
  const text = await boundedResult(outcome.text, (whole) => deps.agent.keepResult(sessionId, callId, whole));
  const told = outcome.kind === 'failed' ? text + warningAfter(history.failures(name, record.arguments) + 1) : text;
  const notes = outcome.kind === 'finished' && project !== null ? await project.after(pathsOf(prepared)) : null;
  const contents = withNotes(resultContents(outcome), notes);
  const replies = await repliesWith(deps, journal, record, contents);
  const write = settled(record, outcome.kind, told + (notes?.text ?? ''), {
    isMistake: prepared.kind === 'mistaken',
    contents,
    replies,
  });
  await deps.commit([write]);
  deps.sink({ kind: 'call-ended', turnId, callId, outcome: outcome.kind });
}

function pathsOf(prepared: PreparedCall): readonly string[] {
  return prepared.kind === 'ready' ? (prepared.tool.worksOn?.(prepared.input) ?? []) : [];
}

/** Words of a project that give orders in secret are as good as a stranger's. */
function withNotes(contents: ResultContents, notes: AddedNotes | null): ResultContents {
  if (notes === null || notes.files.length === 0) return contents;
  const { fields } = contents;
  const untrusted = fields.untrusted ?? (notes.isSuspicious ? ('stranger' as const) : undefined);
  return {
    ...contents,
    fields: { ...fields, ...(untrusted === undefined ? {} : { untrusted }), projectFiles: notes.files },
  };
}

/** A call that started was right then; if its tool is gone now, nobody can tell what became of it. */
function mistakeOf({ record, problem }: PreparedCall & { kind: 'mistaken' }): ToolOutcome {
  return record.state === 'started' ? { kind: 'unknown', text: lostText } : { kind: 'failed', text: problem };
}

export const lostText =
  'Talaria was interrupted while this ran. Whether it finished is not known: check before doing it again.';

function warningAfter(failures: number): string {
  if (failures < sameFailureWarnedAt) return '';
  return `\n[This very call has failed ${failures} times in this turn. Do something else.]`;
}

function withinLimits(outcome: ToolOutcome): ToolOutcome {
  const problem = contentsProblem(outcome);
  return problem === null ? outcome : { kind: 'failed', text: problem };
}

/** One for each file, in their order, to where the turn's newest message came from. */
async function repliesWith(
  deps: TurnDeps,
  journal: Journal,
  { turnId }: CallRecord,
  { sent }: ResultContents,
): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (const { file, caption } of sent) {
    const reply = await replyTo(deps, journal, turnId, { text: caption.toWellFormed(), file });
    if (reply !== null) replies.push(reply);
  }
  return replies;
}

interface Besides {
  readonly isMistake?: boolean;
  readonly contents?: ResultContents;
  readonly replies?: readonly Reply[];
}

/** The write that ends a call with this result; what it made and sends is stored with it. */
export function settled(call: CallRecord, outcome: CallOutcome, text: string, besides: Besides = {}): SessionWrite {
  const { isMistake = false, contents: made = noContents, replies = [] } = besides;
  const mistake = isMistake ? { mistake: true as const } : {};
  const part = { kind: 'tool-result', callId: call.id, outcome, text, ...made.fields, ...mistake } as const;
  return {
    verb: 'settle-call',
    turnId: call.turnId,
    callId: call.id,
    message: { role: 'tool', parts: [part] },
    ...(made.contents.length === 0 ? {} : { contents: made.contents }),
    ...(replies.length === 0 ? {} : { replies }),
  };
}

/** A second call of a session beside one under way would count the first as lost, so they wait for each other. */
function consultant(deps: TurnDeps, turnId: TurnId, signal: AbortSignal): ToolContext['consult'] {
  const { judge: runtime } = deps.agent;
  let last: Promise<unknown> = Promise.resolve();
  return async (instructions, text) => {
    if (runtime === null) return null;
    const call = last.then(() => sideCall(deps, { purpose: 'approval', runtime, turnId, instructions, text }, signal));
    last = call.catch(() => null);
    return call;
  };
}

/** `left`: the program is leaving, and what the call began goes on without it; the call stays started. */
async function useTool(
  deps: TurnDeps,
  { session: { id: sessionId }, entries }: Journal,
  prepared: PreparedCall & { kind: 'ready' },
  signal: AbortSignal,
): Promise<ToolOutcome | 'left'> {
  const { record, tool } = prepared;
  const cut = tool.attach === undefined ? { signal, left: null } : stopOnly(signal);
  const context = {
    sessionId,
    callId: record.id,
    workspace: deps.agent.workspace,
    spoolFolder: deps.agent.spoolFolder(sessionId),
    signal: cut.signal,
    onOutput: (text: string) => deps.sink({ kind: 'call-output', turnId: record.turnId, callId: record.id, text }),
    ...turnMarks(entries, record.turnId),
    wasShown: (text: string) => wasShown(entries, text),
    consult: consultant(deps, record.turnId, cut.signal),
  };
  const using = begin(prepared, context).catch((error: unknown): ToolOutcome => {
    // A tool reports its own failures; what it throws is an abort or a bug. The model is told, and the turn goes on.
    if (signal.aborted) return { kind: 'failed', text: 'It was interrupted.' };
    deps.log.error('tool threw', { tool: record.name, error });
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', text: `The tool failed unexpectedly: ${reason}` };
  });
  return cut.left === null ? using : Promise.race([using, cut.left]);
}

async function begin(
  { record, tool, input }: PreparedCall & { kind: 'ready' },
  context: ToolContext,
): Promise<ToolOutcome> {
  if (record.state === 'waiting') {
    const noAnswer: ToolOutcome = { kind: 'failed', text: 'The tool that asked can not take an answer any more.' };
    if (record.question === null) return noAnswer;
    return (await tool.answered?.(input, record.answer, context, record.question)) ?? noAnswer;
  }
  if (record.state === 'planned' || record.replay !== 'attach') return tool.run(input, context);
  const settled = record.question === null ? undefined : { asked: record.question, answer: record.answer };
  return (await tool.attach?.(input, context, settled)) ?? { kind: 'unknown', text: lostText };
}

/** What can be taken up again is ended by a stop, but not because the program leaves. */
function stopOnly(signal: AbortSignal): { signal: AbortSignal; left: Promise<'left'> } {
  const stopping = new AbortController();
  const { promise: left, resolve: leave } = Promise.withResolvers<'left'>();
  const listen = () => {
    if (signal.reason instanceof ActionCut && signal.reason.why === 'leave') leave('left');
    else stopping.abort(signal.reason);
  };
  if (signal.aborted) listen();
  else signal.addEventListener('abort', listen, { once: true });
  return { signal: stopping.signal, left };
}
