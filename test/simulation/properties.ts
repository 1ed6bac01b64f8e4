/** What must hold when a run is over, whatever happened in it. Each finding is a sentence; none is the proof. */
import { questionText } from '../../src/agent/questions.ts';
import { attemptsMax, repetitionMark } from '../../src/gateway/delivery/deliver.ts';
import { textOf, type Entry, type ToolResultPart, type TurnOutcome } from '../../src/protocol/messages.ts';
import { pair, type CallRow, type SessionRows, type TurnRow } from './memory-data.ts';
import type { SimulatedWorld } from './simulated-world.ts';

const crashesMax = 3;
const stopMsMax = 1_000;

export function checkProperties(world: SimulatedWorld): string[] {
  return [
    ...checkAcknowledged(world),
    ...[...world.data.sessions.values()].flatMap((session) => [
      ...checkLog(world, session),
      ...checkTurns(world, session),
      ...checkCalls(world, session),
      ...checkModelCalls(world, session),
      ...checkFollower(world, session),
    ]),
    ...checkStops(world),
    ...checkBudget(world),
    ...checkDeliveries(world),
  ];
}

/** Every acknowledged message is in its log once, its turn is closed, and nothing else is in there. */
function checkAcknowledged(world: SimulatedWorld): string[] {
  const problems: string[] = [];
  const placed = new Map<string, number>();
  for (const session of world.data.sessions.values()) {
    for (const entry of session.entries) {
      if ('inboxId' in entry && entry.inboxId !== null) placed.set(entry.inboxId, (placed.get(entry.inboxId) ?? 0) + 1);
    }
  }
  for (const { message, inboxId } of world.platform.acknowledged) {
    const times = placed.get(inboxId) ?? 0;
    if (times !== 1) problems.push(`${message.externalId} is ${times} times in the log`);
    const state = world.data.inbox.get(inboxId)?.state;
    if (state !== 'answered') problems.push(`${message.externalId} was acknowledged and is ${state ?? 'gone'}`);
  }
  const written = world.scenario.messages.length;
  if (placed.size > written) problems.push(`${placed.size} messages in the logs, but only ${written} were written`);
  return problems;
}

/** No gaps, messages in the order of admission. */
function checkLog(world: SimulatedWorld, { record, entries, inbox }: SessionRows): string[] {
  for (const entry of entries) if (entry.kind === 'compression') world.count(`shortening ${entry.step.kind}`);
  const problems: string[] = [];
  entries.forEach((entry, index) => {
    if (entry.seq !== index + 1) problems.push(`${record.id}: entry ${index + 1} has the sequence ${entry.seq}`);
  });
  const numbers = new Map(inbox.map((row) => [row.id, row.number]));
  let last = 0;
  for (const entry of entries) {
    if (!('inboxId' in entry) || entry.inboxId === null) continue;
    const number = numbers.get(entry.inboxId) ?? 0;
    if (number <= last) problems.push(`${record.id}: ${entry.inboxId} overtook another message`);
    last = number;
  }
  return problems;
}

/** Opened once, closed once, with a word to whoever asked; parked only after crashes, and then surely. */
function checkTurns(world: SimulatedWorld, { record, entries, turns }: SessionRows): string[] {
  const problems: string[] = [];
  // A lease that could not be given back looks like a crash to whoever comes next.
  const keptLeases = world.counts.get('leases not given back') ?? 0;
  for (const turn of turns.values()) {
    const own = entries.filter((entry) => entry.turnId === turn.id);
    const closings = own.filter((entry) => entry.kind === 'turn-closed');
    const openings = own.filter((entry) => entry.kind === 'turn-opened').length;
    if (closings.length !== openings) {
      problems.push(`${turn.id} was opened ${openings} times and closed ${closings.length} times`);
    }
    if (openings > 1 && closings.slice(0, -1).some((entry) => entry.outcome !== 'parked')) {
      problems.push(`${turn.id} was opened again although it was not parked`);
    }
    // A parked turn that was given up is closed as failed; its log still says how it ended.
    const isParked = closings.at(-1)?.outcome === 'parked';
    if (isParked && world.scenario.weather === 'poison' && !world.isPoisoned(record.id)) {
      problems.push(`${turn.id} is parked although another session took the process down`);
    }
    const crashes = world.crashesOfTurn.get(turn.id) ?? 0;
    if (isParked && crashes + keptLeases < crashesMax) problems.push(`${turn.id} is parked after ${crashes} crashes`);
    if (!isParked && turn.crashes >= crashesMax) {
      problems.push(`${turn.id} saw ${turn.crashes} crashes and is not parked`);
    }
    // A turn that is tried again begins to count anew.
    if (openings === 1 && (turn.crashes < crashes || turn.crashes > crashes + keptLeases)) {
      problems.push(`${turn.id} counts ${turn.crashes} crashes, but saw ${crashes}`);
    }
    if (isParked) world.count('parked turns');
    problems.push(...checkReplies(world, turn, closings.length, { own, words: wordsBeside(entries, turn.id) }));
  }
  if (record.turn === 'open') problems.push(`${record.id} has an open turn`);
  return problems;
}

/** What a turn says besides its reply: that the conversation was shortened, or could not be, right after that. */
function wordsBeside(entries: readonly Entry[], turnId: string): string[] {
  return entries.flatMap((entry, index) => {
    const before = entries[index - 1];
    const isAboutIt = before?.kind === 'compression' && ['done', 'declined'].includes(before.step.kind);
    return entry.kind === 'notice' && entry.turnId === turnId && isAboutIt ? [entry.text] : [];
  });
}

function checkReplies(
  world: SimulatedWorld,
  turn: TurnRow,
  closings: number,
  { own, words }: { readonly own: readonly Entry[]; readonly words: readonly string[] },
): string[] {
  const { id: turnId, outcome } = turn;
  const questions = own.flatMap((entry) =>
    entry.kind === 'notice' && entry.question !== undefined
      ? [questionText({ text: entry.text, choices: entry.question.choices, deadline: entry.question.deadline })]
      : [],
  );
  const rows = [...world.data.outbox.values()].filter((row) => row.turnId === turnId);
  const files = rows.flatMap((row) => row.file ?? []);
  const made = own.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'tool' ? (entry.message.parts[0].files ?? []) : [],
  );
  if (JSON.stringify(files) !== JSON.stringify(made))
    return [`${turnId} sends ${files.length} of ${made.length} files`];
  const lost = files.filter(({ content }) => !world.data.contents.has(content.sha256));
  if (lost.length > 0) return [`${turnId} has lost the bytes of ${lost.length} files`];
  world.count('files', files.length);
  const asked = rows.filter((row) => questions.includes(row.text));
  if (asked.length !== questions.length) return [`${turnId} put ${asked.length} of ${questions.length} questions`];
  const beside = rows.filter((row) => words.includes(row.text));
  if (beside.length > words.length)
    return [`${turnId} says ${beside.length} times what happened ${words.length} times`];
  world.count('words beside replies', beside.length);
  const replies = rows.filter((row) => !asked.includes(row) && !beside.includes(row) && row.file === null);
  if (replies.length > closings) return [`${turnId} has ${replies.length} replies`];
  if (outcome === 'stopped') return [];
  const reply = replies.at(-1);
  if (reply === undefined) return [`${turnId} (${outcome}) has no reply`];
  const said = own.some((entry) => textIn(entry) === reply.text);
  return said ? [] : [`${turnId} replied ${JSON.stringify(reply.text.slice(0, 80))}, which its log does not have`];
}

function textIn(entry: Entry): string | null {
  if (entry.kind === 'notice') return entry.text;
  return entry.kind === 'message' && entry.message.role === 'assistant' ? textOf(entry.message) : null;
}

/** Nothing is done twice, nothing is claimed that did not happen, nothing goes on that nobody knows of. */
function checkCalls(world: SimulatedWorld, { entries, calls }: SessionRows): string[] {
  const results = new Map<string, { part: ToolResultPart; at: number }>();
  for (const entry of entries) {
    if (entry.kind !== 'message' || entry.message.role !== 'tool') continue;
    results.set(entry.message.parts[0].callId, { part: entry.message.parts[0], at: entry.at });
  }
  return [...calls.values()].flatMap((call) => {
    const result = results.get(call.id);
    if (result === undefined) return [`${call.id} (${call.name}) has no result`];
    return checkCall(world, call, result.part, result.at).map((problem) => `${call.id} (${call.name}) ${problem}`);
  });
}

function checkCall(world: SimulatedWorld, call: CallRow, result: ToolResultPart, at: number): string[] {
  const { ledger } = world;
  const runs = ledger.runsOf(call.id);
  const { outcome } = result;
  world.count(`results ${outcome}`);
  const problems: string[] = [];
  const effects = ledger.effectsOf(call.id);
  if (call.replay !== 'safe' && effects > 1) problems.push(`took effect ${effects} times`);
  const ways = new Set(runs.map((run) => run.way));
  if (call.replay === 'never' && runs.length > ways.size) problems.push(`ran ${runs.length} times`);
  // One that has only asked has not run.
  const isBegun = runs.some((run) => run.hadEffect || typeof run.outcome !== 'object' || run.outcome?.kind !== 'ask');
  if (outcome === 'skipped' && isBegun) problems.push('ran and is told as skipped');
  const last = runs.at(-1);
  if (call.replay === 'never' && last !== undefined && last.outcome === null) {
    const isTold = outcome === 'unknown' || (call.effect === 'self' && outcome === 'finished');
    if (!isTold) problems.push(`was cut off by a crash and is told as ${outcome}`);
  }
  if (outcome === 'finished' && call.effect !== 'self') {
    const isTrue = runs.some((run) => typeof run.outcome === 'object' && run.outcome?.kind === 'finished');
    if (!isTrue) problems.push('is told as finished and did not finish');
  }
  const wasCut = closingsOf(world, call).some((outcomeThen) => outcomeThen === 'stopped' || outcomeThen === 'parked');
  if (outcome === 'unknown' && !wasCut && ledger.commandsOf(call.id).length > 0) {
    problems.push('is told as unknown although it can be taken up again');
  }
  if (outcome === 'unknown' && isFair(world)) problems.push('is unknown although nothing went wrong');
  for (const command of ledger.commandsOf(call.id)) {
    if (command.killedAt === null && command.endsAt > at) problems.push('went on after its result: nobody knows of it');
  }
  return problems;
}

/** Every prompt began like the one before it, every call has ended, and none is lost without a reason. */
function checkModelCalls(world: SimulatedWorld, { record, modelCalls, lease }: SessionRows): string[] {
  return [...modelCalls.values()].flatMap(({ id, state, provider, prefixBreak }) => {
    world.count(`model calls ${state}`);
    world.count(`model calls of ${provider}`);
    const problems: string[] = [];
    if (prefixBreak === 'unexplained') problems.push(`${id} broke its prefix, and nothing explains it`);
    // A lease that could not be given back keeps its call until somebody else takes the session.
    const isOwned = record.turn === 'open' || lease?.state === 'held';
    if (state === 'started' && !isOwned) problems.push(`${id} is under way, but ${record.id} has no owner`);
    if (state === 'lost' && isFair(world)) problems.push(`${id} is lost although nothing went wrong`);
    return problems;
  });
}

/** Nothing costs more than was reserved for it here, so that no budget is overrun, not even by calls that were lost. */
function checkBudget({ data, scenario }: SimulatedWorld): string[] {
  const { sessionUsd, dayUsd } = scenario.models.budget;
  const days = Map.groupBy(data.usageSums.values(), (sum) => sum.day);
  const spent = [
    ...[...data.sessions.values()].map(({ record, modelCalls }) => ({
      whose: record.id,
      usd: total([...modelCalls.values()].map((call) => call.usage?.usd ?? 0)),
      limitUsd: sessionUsd,
    })),
    ...[...days].map(([day, sums]) => ({ whose: day, usd: total(sums.map((sum) => sum.usd)), limitUsd: dayUsd })),
  ];
  return spent.flatMap(({ whose, usd, limitUsd }) =>
    limitUsd > 0 && usd > limitUsd + 1e-6 ? [`${whose} cost $${usd}, more than its budget of $${limitUsd}`] : [],
  );
}

function total(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

/** Where nothing else takes time, a stop ends the turn at once; tools that don't listen take their own time. */
function checkStops(world: SimulatedWorld): string[] {
  const { weather, writeDelayMaxMs, restartsAtMs } = world.scenario;
  if (weather !== 'calm' || writeDelayMaxMs > 0 || !isFair(world)) return [];
  if (restartsAtMs.length > 0 || world.counts.has('clean restarts')) return [];
  return world.people.stops.flatMap(({ sessionId, turnId, at }) => {
    if (world.ledger.runs.some((run) => run.sessionId === sessionId && run.tool === 'stubborn')) return [];
    const entries = world.data.sessions.get(sessionId)?.entries ?? [];
    const closed = entries.find((entry) => entry.kind === 'turn-closed' && entry.turnId === turnId);
    world.count('stops timed');
    const tookMs = (closed?.at ?? Infinity) - at;
    return tookMs > stopMsMax ? [`${turnId} ended ${tookMs} ms after it was stopped`] : [];
  });
}

function closingsOf(world: SimulatedWorld, { turnId }: CallRow): TurnOutcome[] {
  return [...world.data.sessions.values()].flatMap(({ turns, entries }) =>
    turns.has(turnId)
      ? entries.flatMap((entry) => (entry.kind === 'turn-closed' && entry.turnId === turnId ? [entry.outcome] : []))
      : [],
  );
}

function isFair(world: SimulatedWorld): boolean {
  return !['crashes', 'stalls', 'failed writes and reads'].some((what) => world.counts.has(what));
}

function checkFollower(world: SimulatedWorld, { record }: SessionRows): string[] {
  const seen = world.observer.lastSeqSeen.get(record.id);
  if (seen === undefined || seen === record.lastSeq) return [];
  return [`${record.id}: a follower saw ${seen} of ${record.lastSeq} entries`];
}

/** Every part of a reply is seen once and in order; a further copy is marked, and there is none where repeats are known. */
function checkDeliveries(world: SimulatedWorld): string[] {
  const problems: string[] = [];
  const newest = new Map<string, number>();
  for (const row of world.data.outbox.values()) {
    const firstShown = world.platform.shown.findIndex((shown) => shown.delivery.id === row.id && !shown.isLate);
    if (firstShown !== -1) {
      const lane = row.sessionId ?? pair(row.channel, row.target);
      if (firstShown < (newest.get(lane) ?? 0)) problems.push(`${row.id} was shown before an older reply`);
      newest.set(lane, firstShown);
    }
    const shown = world.platform.shown.filter(({ delivery }) => delivery.id === row.id).map(({ delivery }) => delivery);
    const parts = Map.groupBy(shown, (delivery) => delivery.dedupeId);
    const text = [...parts.values()].map((copies) => plainText(copies[0]?.text ?? '')).join('');
    if (row.state === 'sent' && withoutSpace(text) !== withoutSpace(row.text)) {
      problems.push(`${row.id} counts as sent, and ${JSON.stringify(text.slice(0, 80))} was shown`);
    }
    const isGivenUp = row.state === 'failed' && !world.platform.refused.has(row.id) && row.attempts < attemptsMax;
    if (isGivenUp) problems.push(`${row.id} was given up after ${row.attempts} attempts`);
    if (row.state !== 'sent' && row.state !== 'failed') problems.push(`${row.id} is ${row.state}`);
    for (const [dedupeId, copies] of parts) {
      const unmarked = copies.filter((copy) => !copy.text.startsWith(repetitionMark)).length;
      world.count('marked copies', copies.length - unmarked);
      if (unmarked > 1) problems.push(`${dedupeId} was shown ${unmarked} times without a mark`);
      if (row.channel === 'web' && copies.length > 1)
        problems.push(`${dedupeId} was shown twice where repeats are known`);
    }
  }
  return problems;
}

function plainText(text: string): string {
  return text.startsWith(repetitionMark) ? text.slice(repetitionMark.length) : text;
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}
