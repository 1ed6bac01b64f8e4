/**
 * What a front end sees of a session. Durable events are the log's entries and carry its sequence: none is missed
 * after a reconnect. Live events show work in progress; they may be lost at any moment and cost nothing but a look.
 */
import type { CallId, TurnId } from './ids.ts';
import type { CallOutcome, Entry } from './messages.ts';

export interface DurableEvent {
  readonly kind: 'entry';
  readonly entry: Entry;
}

export type LiveEvent =
  /** First on every subscription, after the stored entries: what is going on right now, or null. */
  | { readonly kind: 'live-state'; readonly turn: LiveTurn | null }
  | { readonly kind: 'turn-started'; readonly turnId: TurnId }
  | { readonly kind: 'text-delta'; readonly turnId: TurnId; readonly text: string }
  | { readonly kind: 'reasoning-delta'; readonly turnId: TurnId; readonly text: string }
  /** The draft so far is void: it became an entry, or the attempt failed. */
  | { readonly kind: 'draft-cleared'; readonly turnId: TurnId }
  | {
      readonly kind: 'call-started';
      readonly turnId: TurnId;
      readonly callId: CallId;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly kind: 'call-output'; readonly turnId: TurnId; readonly callId: CallId; readonly text: string }
  | { readonly kind: 'call-ended'; readonly turnId: TurnId; readonly callId: CallId; readonly outcome: CallOutcome }
  | { readonly kind: 'turn-ended'; readonly turnId: TurnId }
  /** What the turn waits for, in a line that the next one replaces: a slow model, a retry, another key. Empty: over. */
  | { readonly kind: 'status'; readonly turnId: TurnId; readonly text: string }
  /** Something outside the conversation (a full disk, say) keeps it from going on; it is taken up again later. */
  | { readonly kind: 'trouble'; readonly text: string };

export type SessionEvent = DurableEvent | LiveEvent;

/** A turn in progress as far as it can be shown. */
export interface LiveTurn {
  readonly turnId: TurnId;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly LiveCall[];
  /** What it waits for; empty if it just works. */
  readonly status: string;
}

export interface LiveCall {
  readonly callId: CallId;
  readonly name: string;
  readonly arguments: string;
  /** The newest part of what the tool printed. */
  readonly output: string;
}

/** How much of a running call's output is kept for showing. */
export const liveOutputCharsMax = 16_384;

/** Folds a live event into what is going on. Both the gateway and the browser use it, so that they agree. */
export function applyLive(turn: LiveTurn | null, event: SessionEvent): LiveTurn | null {
  switch (event.kind) {
    case 'entry':
      return event.entry.kind === 'turn-closed' && event.entry.turnId === turn?.turnId ? null : turn;
    case 'live-state':
      return event.turn;
    case 'trouble':
      return turn;
    case 'turn-started':
      return { turnId: event.turnId, text: '', reasoning: '', calls: [], status: '' };
    case 'turn-ended':
      return turn?.turnId === event.turnId ? null : turn;
    default:
      return turn === null || turn.turnId !== event.turnId ? turn : applyToTurn(turn, event);
  }
}

type WithinTurn = Exclude<LiveEvent, { kind: 'live-state' | 'turn-started' | 'turn-ended' | 'trouble' }>;

function applyToTurn(turn: LiveTurn, event: WithinTurn): LiveTurn {
  switch (event.kind) {
    case 'text-delta':
      return { ...turn, text: turn.text + event.text };
    case 'reasoning-delta':
      return { ...turn, reasoning: turn.reasoning + event.text };
    case 'draft-cleared':
      return { ...turn, text: '', reasoning: '' };
    case 'call-started':
      return {
        ...turn,
        calls: [...turn.calls, { callId: event.callId, name: event.name, arguments: event.arguments, output: '' }],
      };
    case 'call-output':
      return {
        ...turn,
        calls: turn.calls.map((call) =>
          call.callId === event.callId
            ? { ...call, output: (call.output + event.text).slice(-liveOutputCharsMax) }
            : call,
        ),
      };
    case 'status':
      return { ...turn, status: event.text };
    case 'call-ended':
      return { ...turn, calls: turn.calls.filter((call) => call.callId !== event.callId) };
  }
}
