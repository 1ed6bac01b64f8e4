/** Watches a run while it goes on and notes what must never be: bad requests, wrong starts of tools, gaps in what is seen. */
import type { ModelRequest } from '../../src/models/model.ts';
import type { InboxId, SessionId, TurnId } from '../../src/protocol/ids.ts';
import { textOf, toolCallsOf, type Entry, type Message } from '../../src/protocol/messages.ts';
import type { ToolRun } from './ledger.ts';
import type { PlannedMessage } from './scenario.ts';
import type { ActiveRun, Life, Watch, World } from './world.ts';

const runsAtOnceMax = 8;

export class Observer implements Watch {
  readonly #world: World;
  readonly #requests = new Map<SessionId, { readonly request: ModelRequest; readonly shortenings: number }>();
  readonly #asking = new Map<SessionId, Life>();
  readonly #receipts = new Map<string, InboxId>();
  readonly lastSeqSeen = new Map<SessionId, number>();

  constructor(world: World) {
    this.#world = world;
  }

  #breach(text: string): void {
    this.#world.breach(text);
  }

  acknowledged({ externalId }: PlannedMessage, inboxId: InboxId): void {
    const before = this.#receipts.get(externalId) ?? inboxId;
    if (before !== inboxId) this.#breach(`message ${externalId} was taken for two: ${before} and ${inboxId}`);
    this.#receipts.set(externalId, inboxId);
  }

  // --- the model -----------------------------------------------------------------------------------------------------

  modelAsked(process: Life, sessionId: SessionId, request: ModelRequest): void {
    this.#world.count('model calls');
    this.#world.trace(`p${process.number} ${sessionId}: model asked, ${request.messages.length} messages`);
    // One that was replaced may ask with what it knew; what it is told can't be stored.
    if (process.isReplaced) return;
    if (this.#asking.get(sessionId) === process) this.#breach(`${sessionId}: two model calls at once`);
    this.#asking.set(sessionId, process);
    const problem = transcriptProblem(request.messages);
    if (problem !== null) this.#breach(`${sessionId}: the transcript is not valid: ${problem}`);
    // A side job has a prompt of its own.
    if (request.cacheKey !== sessionId) return;
    const before = this.#requests.get(sessionId);
    const entries = this.#world.data.sessions.get(sessionId)?.entries ?? [];
    const shortenings = entries.filter((entry) => entry.kind === 'compression' && entry.step.kind === 'done').length;
    if (before?.shortenings === shortenings) {
      const change = prefixProblem(before.request, request);
      if (change !== null) this.#breach(`${sessionId}: the prefix changed: ${change}`);
    }
    const lost = requestsOf(entries).filter((asked) => !request.messages.some((message) => textOf(message) === asked));
    for (const asked of lost) this.#breach(`${sessionId}: the prompt has lost ${JSON.stringify(asked)}`);
    this.#requests.set(sessionId, { request: structuredClone(request), shortenings });
  }

  modelEnded(process: Life, sessionId: SessionId): void {
    if (this.#asking.get(sessionId) === process) this.#asking.delete(sessionId);
  }

  // --- tools ---------------------------------------------------------------------------------------------------------

  toolBegins(process: Life, run: ToolRun, besideOthers: boolean, active: readonly ActiveRun[]): void {
    this.#world.count('tool runs');
    this.#world.trace(`p${process.number} ${run.sessionId}: ${run.tool} ${run.way}s for ${run.callId}`);
    const call = this.#world.data.sessions.get(run.sessionId)?.calls.get(run.callId);
    if (call === undefined) this.#breach(`${run.callId} runs and was never stored`);
    else if (!process.isReplaced && call.state !== 'started') {
      this.#breach(`${run.callId} runs while it is stored as ${call.state}`);
    }
    const beside = active.filter((other) => other.sessionId === run.sessionId);
    if (beside.length >= runsAtOnceMax) this.#breach(`${run.sessionId}: more than ${runsAtOnceMax} tools at once`);
    if (beside.length > 0 && !(besideOthers && beside.every((other) => other.besideOthers === true))) {
      this.#breach(`${run.callId} (${run.tool}) runs beside ${beside.map((other) => other.tool).join(', ')}`);
    }
  }

  // --- whoever looks on ----------------------------------------------------------------------------------------------

  /** Follows a session through all lives of the gateway, as a browser does. */
  follow(sessionId: SessionId): void {
    this.lastSeqSeen.set(sessionId, 0);
    const connect = () => {
      const { process } = this.#world;
      const later = () => this.#world.clock.setTimer(1_000, connect);
      if (process === null) return void later();
      let isOver = false;
      const once = () => {
        if (!isOver) later();
        isOver = true;
      };
      this.#world.whenEnded(process, once);
      void this.#watch(process, sessionId, () => isOver).then(once, once);
    };
    connect();
  }

  async #watch(process: Life, sessionId: SessionId, isOver: () => boolean): Promise<void> {
    const ended = new Set<TurnId>();
    const after = this.lastSeqSeen.get(sessionId) ?? 0;
    for await (const event of process.api.events(sessionId, after, new AbortController().signal)) {
      if (isOver() || process.isReplaced) return;
      if (event.kind === 'turn-ended') {
        if (ended.has(event.turnId)) this.#breach(`${event.turnId} was seen to end twice`);
        ended.add(event.turnId);
      }
      if (event.kind !== 'entry') continue;
      // A parked turn can be opened again.
      if (event.entry.kind === 'turn-opened' && event.entry.turnId !== null) ended.delete(event.entry.turnId);
      const expected = (this.lastSeqSeen.get(sessionId) ?? 0) + 1;
      if (event.entry.seq !== expected) {
        this.#breach(`${sessionId}: a follower saw entry ${event.entry.seq} where ${expected} comes next`);
      }
      this.lastSeqSeen.set(sessionId, event.entry.seq);
    }
  }
}

/** What people have asked for in the turn that is open. */
function requestsOf(entries: readonly Entry[]): string[] {
  const opened = entries.findLast((entry) => entry.kind === 'turn-opened');
  return entries.flatMap((entry) =>
    entry.turnId === opened?.turnId && 'inboxId' in entry && entry.inboxId !== null ? [textOf(entry.message)] : [],
  );
}

/** What a strict provider would refuse; null if nothing. */
export function transcriptProblem(messages: readonly Message[]): string | null {
  let open: string[] = [];
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const { callId } = message.parts[0];
      if (open[0] !== callId) return `message ${index} is the result of ${callId}, where ${open[0]} comes next`;
      open = open.slice(1);
      continue;
    }
    if (open.length > 0) return `message ${index} comes before the result of ${open[0]}`;
    if (message.parts.length === 0) return `message ${index} (${message.role}) is empty`;
    if (message.role === 'user') continue;
    open = toolCallsOf(message).map((call) => call.callId);
    for (const callId of open) {
      if (seen.has(callId)) return `call ${callId} is there twice`;
      seen.add(callId);
    }
  }
  if (open.length > 0) return `the result of ${open[0]} is missing`;
  return messages.at(-1)?.role === 'assistant' ? 'it ends with an assistant message' : null;
}

export function prefixProblem(before: ModelRequest, after: ModelRequest): string | null {
  if (before.systemPrompt !== after.systemPrompt) return 'another system prompt';
  if (JSON.stringify(before.tools) !== JSON.stringify(after.tools)) return 'other tools';
  for (const [index, message] of before.messages.entries()) {
    const now = after.messages[index];
    if (JSON.stringify(message) !== JSON.stringify(now)) return `message ${index} was ${JSON.stringify(message)}`;
  }
  return null;
}
