/**
 * Puts a question to the gateway and follows it: which session, under which id, and what happens when the client leaves.
 *
 * - `X-Talaria-Session: NAME` is a stored session; without it the session is a fresh one.
 * - `Idempotency-Key`: the same key of the same user, in the same session or fresh, is the same question: a repetition
 *   follows it while it runs and gets its answer when it is done. Another question under the same key is refused.
 * - A client that leaves stops its turn, unless somebody can come back for the answer: by the session or by the key.
 * - A session that nobody can go on with is closed once its turn has ended, whoever is still there.
 */
import { createHash } from 'node:crypto';
import type { HttpRequest } from '../../http/http-message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdSource } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { InboxId, SessionId } from '../../protocol/ids.ts';
import { noTokens } from '../../protocol/usage.ts';
import { badRequest, refusal } from './api-error.ts';
import type { Asked } from './conversation.ts';
import { followTurn, whenOpened, type FollowedMessage } from './follow-turn.ts';
import type { AskedSession, OpenAiPort, TurnFacts } from './port.ts';
import type { TurnEnd, TurnStep } from './turn-watch.ts';

/** How long a turn that nobody waits for is given to begin, so that it can be stopped. */
const abandonedMs = 60_000;
const idempotencyKeyCharsMax = 255;

export interface OpenAiDeps {
  readonly port: OpenAiPort;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  /** The name of the key that the request has shown; sessions belong to it. */
  readonly userOf: (request: HttpRequest) => string;
}

export interface Question {
  readonly session: AskedSession;
  readonly asked: Asked;
  readonly model: string | null;
  /** The field that the message was given in. */
  readonly param: string;
}

/** A question that was taken. */
export interface Answering {
  readonly inboxId: InboxId;
  /** Null for a command, which leaves nothing behind. */
  readonly sessionId: SessionId | null;
  readonly sessionName: string;
  /** The same request may be sent again for the same answer. */
  readonly isRepeatable: boolean;
  /** May be read once. */
  readonly steps: AsyncIterable<TurnStep>;
  readonly facts: (end: TurnEnd) => Promise<TurnFacts>;
}

export async function askQuestion(deps: OpenAiDeps, request: HttpRequest, question: Question): Promise<Answering> {
  const { port, ids } = deps;
  const { session, asked, model } = question;
  const user = deps.userOf(request);
  const repeatable = repeatableId(deps, request, session);
  const externalId = repeatable ?? ids.next('req');
  const receipt = await port.ask({ session, ...asked, externalId, user, model });
  switch (receipt.kind) {
    case 'refused':
      throw refusal(receipt.reason, receipt.text, question.param);
    case 'handled': {
      const { sessionName, text } = receipt;
      const steps = stepsOfCommand(text);
      const facts = () => Promise.resolve(noFacts);
      return { inboxId: ids.next('inb'), sessionId: null, sessionName, isRepeatable: false, steps, facts };
    }
    case 'accepted': {
      const { sessionId, sessionName, inboxId } = receipt;
      const isRepeatable = repeatable !== null;
      const ending = {
        stopsWhenLeft: session.kind === 'fresh' && !isRepeatable,
        closesWhenEnded: session.kind === 'fresh' && !session.isContinued,
      };
      const steps = endedInOrder(deps, receipt, request.signal, ending);
      return {
        inboxId,
        sessionId,
        sessionName,
        isRepeatable,
        steps,
        facts: (end) => factsOf(port, sessionId, end),
      };
    }
  }
}

const noFacts: TurnFacts = { usage: noTokens };

export async function factsOf(port: OpenAiPort, sessionId: SessionId, { turnId }: TurnEnd): Promise<TurnFacts> {
  return turnId === null ? noFacts : port.facts(sessionId, turnId);
}

async function* stepsOfCommand(text: string): AsyncGenerator<TurnStep> {
  yield { kind: 'text', text };
  yield { kind: 'message-ended' };
  yield { kind: 'ended', end: { turnId: null, outcome: 'answered', notice: null, stop: 'answer', texts: [text] } };
}

function idempotencyKey(request: HttpRequest): string | null {
  const key = request.header('idempotency-key');
  if (key === undefined) return null;
  if (key !== '' && key.length <= idempotencyKeyCharsMax) return key;
  throw badRequest(`Idempotency-Key must have 1 to ${idempotencyKeyCharsMax} characters.`, 'Idempotency-Key');
}

/** By its Idempotency-Key, if it has one: hashed, so that what clients choose stays short and in nobody's way. */
export function repeatableId(deps: OpenAiDeps, request: HttpRequest, session: AskedSession): string | null {
  const key = idempotencyKey(request);
  if (key === null) return null;
  const place = session.kind === 'named' ? session.name : session.kind === 'existing' ? session.id : null;
  const digest = createHash('sha256').update(JSON.stringify([deps.userOf(request), session.kind, place, key]));
  return `key_${digest.digest('base64url')}`;
}

interface Ending {
  readonly stopsWhenLeft: boolean;
  readonly closesWhenEnded: boolean;
}

/** Listens from this moment on: a client may leave before anybody has begun to read the steps. */
function endedInOrder(
  deps: OpenAiDeps,
  message: FollowedMessage,
  signal: AbortSignal,
  ending: Ending,
): AsyncIterable<TurnStep> {
  const { sessionId } = message;
  const close = () => (ending.closesWhenEnded ? deps.port.close(sessionId) : Promise.resolve());
  const warn = (error: unknown) => deps.log.warn('the session of a request is not ended', { sessionId, error });
  const leave = () => void leaveAlone(deps, message, ending).then(close).catch(warn);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return onceEnded(followTurn(deps.port, message, signal), () => {
    signal.removeEventListener('abort', leave);
    close().catch(warn);
  });
}

async function* onceEnded(steps: AsyncIterable<TurnStep>, callback: () => void): AsyncGenerator<TurnStep> {
  for await (const step of steps) {
    if (step.kind === 'ended') callback();
    yield step;
  }
}

/** The client is gone; resolves once the turn has ended, if that matters. */
async function leaveAlone(deps: OpenAiDeps, message: FollowedMessage, ending: Ending): Promise<void> {
  if (ending.stopsWhenLeft) await abandon(deps, message);
  if (!ending.closesWhenEnded) return;
  const { signal } = new AbortController();
  for await (const step of followTurn(deps.port, message, signal)) if (step.kind === 'ended') return;
}

/** A stop is for a turn that is open, and this one may be about to. */
async function abandon({ port, clock }: OpenAiDeps, message: FollowedMessage): Promise<void> {
  const limit = new AbortController();
  const cancel = clock.setTimer(abandonedMs, () => limit.abort());
  try {
    if (await whenOpened(port, message, limit.signal)) await port.stop(message.sessionId);
  } finally {
    cancel();
  }
}
