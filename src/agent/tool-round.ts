/**
 * Runs the calls of one answer, one after the other: start stored, tool run, result stored, then the next. Whatever
 * a call asks for, it ends in exactly one stored result; a mistake of the model becomes a result that names it.
 */
import type { SessionId } from '../protocol/ids.ts';
import type { CallOutcome } from '../protocol/messages.ts';
import type { CallRecord, SessionWrite } from '../store/store.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Returns early, with calls left planned, when the signal aborts: what to do with those is decided anew. */
export async function runTools(
  deps: TurnDeps,
  sessionId: SessionId,
  calls: readonly CallRecord[],
  signal: AbortSignal,
): Promise<void> {
  for (const call of calls) {
    if (signal.aborted) return;
    // A call that may be replayed can be found as started already.
    if (call.state === 'planned') await deps.commit([{ verb: 'start-call', turnId: call.turnId, callId: call.id }]);
    const { turnId, id: callId, name } = call;
    deps.sink({ kind: 'call-started', turnId, callId, name, arguments: call.arguments });
    const outcome = await runOne(deps, sessionId, call, signal);
    await deps.commit([settled(call, outcome.kind, outcome.text)]);
    deps.sink({ kind: 'call-ended', turnId, callId, outcome: outcome.kind });
  }
}

/** The write that ends a call with this result. */
export function settled(call: CallRecord, outcome: CallOutcome, text: string): SessionWrite {
  const part = { kind: 'tool-result', callId: call.id, outcome, text } as const;
  return { verb: 'settle-call', turnId: call.turnId, callId: call.id, message: { role: 'tool', parts: [part] } };
}

async function runOne(
  deps: TurnDeps,
  sessionId: SessionId,
  call: CallRecord,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const tool = deps.agent.tools.get(call.name);
  if (tool === undefined) return { kind: 'failed', text: `There is no tool named ${JSON.stringify(call.name)}.` };
  const input = parseArguments(tool, call.arguments);
  if (!input.ok) return { kind: 'failed', text: `The arguments of ${call.name} can't be used: ${input.problem}` };
  try {
    return await tool.run(input.value, {
      sessionId,
      callId: call.id,
      workspace: deps.agent.workspace,
      signal,
      onOutput: (text) => deps.sink({ kind: 'call-output', turnId: call.turnId, callId: call.id, text }),
    });
  } catch (error) {
    // A tool reports its own failures; what it throws is an abort or a bug. The model is told, and the turn goes on.
    if (!signal.aborted) deps.log.error('tool threw', { tool: call.name, error });
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', text: signal.aborted ? 'It was interrupted.' : `The tool failed unexpectedly: ${reason}` };
  }
}

function parseArguments(tool: Tool, text: string): ReturnType<Tool['parse']> {
  let decoded: unknown;
  try {
    // Models leave the text empty for a call without arguments.
    decoded = text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: `they are not valid JSON (${error instanceof Error ? error.message : 'unknown'}).` };
  }
  return tool.parse(decoded);
}
