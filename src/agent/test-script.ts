/**
 * What the life of one session is played from (`test-life.ts`), and scripts of every kind for property tests. Nobody in
 * them keeps to a limit: the model and its tools repeat themselves for ever, and some actions always take the process
 * down. Only what comes from outside has an end.
 */
import fc from 'fast-check';
import type { CallRecord } from '../store/store.ts';
import type { Action, TurnLimits } from './decide.ts';

export const callsPerAnswer = 3;
/** How often one call asks; a tool that never stops asking is its author's mistake. */
export const questionsPerCall = 2;

/** `fresh`: with other arguments each time, so that it is never the same call again. */
interface ScriptedCall {
  readonly does: 'finish' | 'fail' | 'mistake' | 'ask';
  readonly replay: CallRecord['replay'];
  readonly fresh: boolean;
}

export type ScriptedAnswer =
  | { readonly kind: 'fails' }
  /** Silence, if there is neither. */
  | { readonly kind: 'speaks'; readonly text: string; readonly calls: readonly ScriptedCall[] };

/** `cut`: the action under way gets only `after` commits far. */
export type Outside =
  | { readonly kind: 'nothing' | 'message' | 'answer' }
  | { readonly kind: 'cut'; readonly why: 'stop' | 'crash' | 'leave'; readonly after: number };

export interface Script {
  readonly limits: TurnLimits;
  /** Given one after the other, and then from the first on again. */
  readonly answers: readonly ScriptedAnswer[];
  readonly sideBySide: boolean;
  /** Doing this takes the process down, each time. */
  readonly poison: readonly Action['kind'][];
  /** One for each action from the first on; then all is quiet. */
  readonly outside: readonly Outside[];
}

const calls = fc.record<ScriptedCall>({
  does: fc.constantFrom('finish', 'finish', 'fail', 'mistake', 'ask'),
  replay: fc.constantFrom('safe', 'attach', 'never'),
  fresh: fc.boolean(),
});

const answers = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('speaks' as const),
      text: fc.constantFrom('', 'wait'),
      // Often the same all over: that is how models are when they are stuck.
      calls: fc.oneof(
        fc.array(calls, { minLength: 1, maxLength: callsPerAnswer }),
        fc.tuple(calls, fc.integer({ min: 1, max: callsPerAnswer })).map(([call, times]) => Array(times).fill(call)),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<ScriptedAnswer>(
      { kind: 'fails' },
      { kind: 'speaks', text: 'done', calls: [] },
      { kind: 'speaks', text: '', calls: [] },
    ),
  },
);

const cuts = fc.record({
  kind: fc.constant('cut' as const),
  why: fc.constantFrom('crash' as const, 'leave' as const, 'stop' as const),
  after: fc.nat(2 * callsPerAnswer),
});

export const scripts: fc.Arbitrary<Script> = fc.record({
  limits: fc.record({
    modelCallsMax: fc.integer({ min: 1, max: 12 }),
    crashesMax: fc.integer({ min: 1, max: 3 }),
    joinWaiting: fc.boolean(),
    namesSessions: fc.boolean(),
    compressAt: fc.constantFrom(null, 40, 200),
  }),
  answers: fc.array(answers, { minLength: 1, maxLength: 4 }),
  sideBySide: fc.boolean(),
  poison: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.subarray<Action['kind']>(['call-model', 'run-tools', 'end-calls', 'name-session', 'compress']),
    },
  ),
  outside: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant<Outside>({ kind: 'nothing' }) },
      { weight: 3, arbitrary: fc.constantFrom<Outside>({ kind: 'message' }, { kind: 'answer' }) },
      { weight: 2, arbitrary: cuts },
    ),
    { maxLength: 40 },
  ),
});
