/**
 * Asks one question and waits for its answer, whatever happens to the gateway meanwhile. The message keeps one
 * external id, so sending it again after a broken connection is the same message; the log is followed from the last
 * entry seen. So the question is stored once, answered once, and reported once.
 *
 * An interruption asks for a stop of the answering turn (never of another one) and waits a little for it to close.
 */
import { ApiError, type SendReceipt, type TalariaApi } from '../protocol/api.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { TurnOutcome } from '../protocol/messages.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import { retryDelayMs, type RetryPolicy } from '../lib/retry.ts';
import type { RandomSource } from '../lib/random.ts';
import { CliError } from './command.ts';
import type { ConnectResult, Connection } from './connect.ts';
import { follow, followFrom, isRepeated, type Followed } from './follow-message.ts';

export interface Question {
  readonly session: { readonly kind: 'new' | 'latest' } | { readonly kind: 'named'; readonly name: string };
  readonly text: string;
  readonly externalId: string;
}

export interface Answer {
  /** Null if it was not waited for: an interruption came first. */
  readonly outcome: TurnOutcome | null;
  /** What the assistant said last; empty if nothing. */
  readonly reply: string;
  readonly notices: readonly string[];
  readonly session: string;
}

export interface AskDeps {
  readonly connect: () => Promise<ConnectResult>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly interrupt: AbortSignal;
  /** Every event once; durable ones in order. `isOurs`: it belongs to the turn that answers the question. */
  readonly onEvent: (event: SessionEvent, from: EventOrigin) => Promise<void>;
  readonly onNote: (line: string) => void;
  /** Somebody sits there who can be asked. */
  readonly canAnswer: boolean;
}

export interface EventOrigin {
  readonly connection: Connection;
  readonly session: string;
  readonly isOurs: boolean;
}

/** How often a broken connection is taken up again, and for how long, before the last failure is reported. */
const reconnects: RetryPolicy = { attemptsMax: 5, firstDelayMs: 250, delayMaxMs: 8_000 };
const reconnectingMaxMs = 30_000;
/** How long a stop may take to reach the turn before we leave without having seen it. */
const stopGraceMs = 3_000;
/** How often in a row an event stream may end without having brought anything. */
const idleEndsMax = 5;

interface Progress {
  sessionName: string | null;
  followed: Followed | null;
}

export async function askOnce(deps: AskDeps, question: Question): Promise<Answer> {
  const progress: Progress = { sessionName: null, followed: null };
  let failures = 0;
  let failingSince = 0;
  let seenSeq = -1;
  for (;;) {
    deps.interrupt.throwIfAborted();
    const attempt = await tryOnce(deps, question, progress);
    if (attempt.kind === 'answer') return attempt.answer;
    // Only an unbroken row of failures counts: a long turn may outlive many restarts of its gateway.
    const advanced = (progress.followed?.lastSeq ?? -1) > seenSeq;
    if (failures === 0 || advanced) failingSince = deps.clock.now();
    failures = advanced ? 1 : failures + 1;
    seenSeq = progress.followed?.lastSeq ?? -1;
    const isTooLong = deps.clock.now() - failingSince >= reconnectingMaxMs;
    // A home held by another program is not ours to wait for, unless our own message is in there already.
    const isHopeless = attempt.held && failures === 1 && progress.followed === null;
    if (failures >= reconnects.attemptsMax || isTooLong || isHopeless) throw attempt.error;
    if (failures === 1) deps.onNote('the connection to the gateway broke; connecting again');
    await sleep(deps.clock, retryDelayMs(reconnects, failures, deps.random), deps.interrupt);
  }
}

type Attempt =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'broken'; readonly error: Error; readonly held: boolean };

async function tryOnce(deps: AskDeps, question: Question, progress: Progress): Promise<Attempt> {
  const connected = await deps.connect();
  if (connected.kind === 'held') {
    return { kind: 'broken', error: new CliError('failed', connected.problem), held: true };
  }
  try {
    return { kind: 'answer', answer: await askThrough(deps, connected.connection, question, progress) };
  } catch (error) {
    if (isBrokenConnection(error)) return { kind: 'broken', error, held: false };
    throw error;
  } finally {
    await connected.connection.close();
  }
}

/** The gateway died, or is about to leave and takes nothing more; the next one to hold the home goes on. */
function isBrokenConnection(error: unknown): error is Error {
  return error instanceof ApiError && (error.reason === 'unreachable' || error.reason === 'draining');
}

async function askThrough(
  deps: AskDeps,
  connection: Connection,
  question: Question,
  progress: Progress,
): Promise<Answer> {
  progress.sessionName ??= await sessionFor(connection.api, question);
  const receipt = await connection.api.send({
    session: progress.sessionName,
    text: question.text,
    externalId: question.externalId,
    channel: 'cli',
    // With a gateway somebody else may answer, in the page or with `sessions answer`.
    ...(connection.place === 'gateway' || deps.canAnswer ? {} : { isUnattended: true as const }),
  });
  progress.sessionName = receipt.sessionName;
  progress.followed ??= followFrom(receipt);
  return followToEnd(deps, connection, receipt, progress);
}

async function sessionFor(api: TalariaApi, question: Question): Promise<string | null> {
  if (question.session.kind === 'named') return question.session.name;
  if (question.session.kind === 'new') return null;
  const [latest] = await api.sessions({ limit: 1 });
  if (latest !== undefined) return latest.name;
  throw new CliError('failed', 'there is no session to continue yet; ask without --continue to start one');
}

async function followToEnd(
  deps: AskDeps,
  connection: Connection,
  receipt: SendReceipt,
  progress: Progress,
): Promise<Answer> {
  const leaving = new AbortController();
  const stop = stopOnInterrupt(deps, connection.api, receipt.sessionId, leaving);
  try {
    // A stream that ends by itself let go of a slow reader; the log gives what was missed.
    for (let idleEnds = 0; idleEnds < idleEndsMax && !leaving.signal.aborted; idleEnds++) {
      const before = progress.followed?.lastSeq;
      await readStream(deps, connection, receipt, progress, stop, leaving.signal);
      if (progress.followed !== null && progress.followed.outcome !== null) return answerOf(progress.followed, receipt);
      if (progress.followed?.lastSeq !== before) idleEnds = 0;
    }
  } finally {
    stop.dispose();
    leaving.abort();
  }
  if (deps.interrupt.aborted) return answerOf(progress.followed ?? followFrom(receipt), receipt);
  throw new ApiError('unreachable', 'the gateway ends the event stream again and again; look at its log');
}

/** Reads events until the answer's turn has closed or the stream ends. */
async function readStream(
  deps: AskDeps,
  connection: Connection,
  receipt: SendReceipt,
  progress: Progress,
  stop: { turnIsOurs(): void },
  signal: AbortSignal,
): Promise<void> {
  const { api, place } = connection;
  let followed = progress.followed ?? followFrom(receipt);
  for await (const event of api.events(receipt.sessionId, followed.lastSeq, signal)) {
    if (isRepeated(followed, event)) continue;
    followed = follow(followed, event);
    progress.followed = followed;
    const turnId = event.kind === 'entry' ? event.entry.turnId : 'turnId' in event ? event.turnId : null;
    const isOurs = turnId !== null && turnId === followed.turnId;
    await deps.onEvent(event, { connection, session: receipt.sessionName, isOurs });
    if (event.kind === 'trouble') meetTrouble(deps, place, event.text);
    if (followed.turnId !== null) stop.turnIsOurs();
    if (followed.outcome !== null) return;
  }
}

/** A gateway takes the session up again later; a program that runs for one question can't wait for a full disk. */
function meetTrouble(deps: AskDeps, place: Connection['place'], text: string): void {
  if (place === 'gateway') deps.onNote(text);
  else throw new CliError('failed', `${text} (the question is stored and will be answered when the session goes on)`);
}

function answerOf(followed: Followed, receipt: SendReceipt): Answer {
  const { outcome, reply, notices } = followed;
  return { outcome, reply, notices, session: receipt.sessionName };
}

/** A stop goes out once both have happened: the interruption came, and the message's own turn is known. */
function stopOnInterrupt(deps: AskDeps, api: TalariaApi, ref: string, leaving: AbortController) {
  let isOurs = false;
  let isAsked = false;
  let cancelGrace = () => {};
  const askIfDue = () => {
    if (!isOurs || isAsked || !deps.interrupt.aborted) return;
    isAsked = true;
    // If it can't be told to stop there is nothing more to do about it: the grace period ends the wait.
    api.stop(ref).catch(() => leaving.abort());
  };
  const onInterrupt = () => {
    cancelGrace = deps.clock.setTimer(stopGraceMs, () => leaving.abort());
    askIfDue();
  };
  if (deps.interrupt.aborted) onInterrupt();
  else deps.interrupt.addEventListener('abort', onInterrupt, { once: true });
  return {
    turnIsOurs() {
      isOurs = true;
      askIfDue();
    },
    dispose() {
      cancelGrace();
      deps.interrupt.removeEventListener('abort', onInterrupt);
    },
  };
}
