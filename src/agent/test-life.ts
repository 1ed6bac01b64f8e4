/**
 * The life of one session, played from a script: what `decide` asks for is done to the session commit by commit, while
 * messages, answers, stops and crashes come from outside. That it ends is up to `decide`. Pure and without a clock: the
 * same script, the same life.
 */
import { present } from '../lib/assert.ts';
import type { CallId } from '../protocol/ids.ts';
import type { TurnOutcome } from '../protocol/messages.ts';
import type { CallRecord } from '../store/store.ts';
import { decide, type Action, type TurnEnding } from './decide.ts';
import type { Journal } from './journal.ts';
import { questionsPerCall, type Outside, type Script, type ScriptedAnswer } from './test-script.ts';
import { TestSession } from './test-session.ts';

const patienceMs = 100;

const outcomes: Readonly<Record<TurnEnding, TurnOutcome>> = {
  answered: 'answered',
  stopped: 'stopped',
  'budget-spent': 'answered',
  'repeats-itself': 'failed',
  'only-mistakes': 'failed',
  'crashed-repeatedly': 'parked',
};

export class Life {
  readonly session = new TestSession();
  /** How often each call's work was begun from the start. */
  readonly begun = new Map<CallId, number>();
  now = 0;
  readonly #script: Script;
  readonly #questions = new Map<CallId, number>();
  #actions = 0;
  #answers = 0;

  constructor(script: Script) {
    this.#script = script;
    this.session.admit();
  }

  /** Decides and performs once. Nothing happens any more once it rests and all is quiet. */
  step(): { readonly journal: Journal; readonly action: Action; readonly now: number; readonly isOver: boolean } {
    const journal = this.session.journal();
    const { now } = this;
    const action = decide(journal, this.#script.limits, now);
    const isQuiet = this.#actions >= this.#script.outside.length;
    const outside = this.#script.outside[this.#actions++] ?? { kind: 'nothing' };
    if (outside.kind === 'message') this.session.admit();
    else if (outside.kind === 'answer') this.#answerQuestions();
    else if (outside.kind === 'nothing' && action.kind === 'wait') this.now = action.until;
    this.#perform(action, outside);
    return { journal, action, now, isOver: isQuiet && action.kind === 'rest' };
  }

  #perform(action: Action, outside: Outside): void {
    const commits = this.#commitsOf(action);
    const isPoison = this.#script.poison.includes(action.kind);
    if (outside.kind !== 'cut' && !isPoison) {
      for (const commit of commits) commit();
      return;
    }
    // What is poison strikes while it is at work: it has begun, and it does not get to its end.
    const { why, after } = outside.kind === 'cut' && !isPoison ? outside : { why: 'crash', after: 1 };
    for (const commit of commits.slice(0, isPoison ? Math.min(after, commits.length - 1) : after)) commit();
    this.session.loseModelCall();
    if (why === 'crash') this.session.crash();
    if (why !== 'stop') return;
    this.session.stop();
    if (action.kind === 'call-model' && after === 1) this.#keepWhatWasSaid();
  }

  #commitsOf(action: Action): (() => void)[] {
    const { session } = this;
    switch (action.kind) {
      case 'rest':
      case 'wait':
        return [];
      case 'open-turn':
        return [() => session.openTurn(action.promote)];
      case 'join-turn':
        return [() => session.join(action.promote)];
      case 'name-session':
        return [() => session.name(), () => session.name()];
      case 'describe-images':
      case 'ask-for-summary':
        return [() => session.nudge()];
      case 'compress':
        return [() => session.compress({ kind: 'begun' }), () => session.shorten(action.why)];
      case 'call-model':
        return [() => session.startModelCall(), () => this.#modelAnswers()];
      case 'run-tools': {
        const pairs = action.calls.map((call) => [() => this.#begin(call), () => this.#use(call)] as const);
        if (!this.#script.sideBySide) return pairs.flat();
        return [...pairs.map(([begin]) => begin), ...pairs.map(([, use]) => use).reverse()];
      }
      case 'end-calls':
        return action.calls.map((call) => () => session.settle(call.id, 'failed'));
      case 'settle-lost':
        return [() => action.calls.forEach((call) => session.settle(call.id, 'unknown'))];
      case 'close-turn':
        return [
          () => {
            for (const call of action.skip) session.settle(call.id, call.state === 'started' ? 'unknown' : 'skipped');
            session.close(outcomes[action.ending]);
          },
        ];
    }
  }

  #nextAnswer(): ScriptedAnswer {
    return present(this.#script.answers[this.#answers % this.#script.answers.length], 'an answer');
  }

  #modelAnswers(): void {
    const answer = this.#nextAnswer();
    this.#answers += 1;
    if (answer.kind === 'fails') {
      this.session.failModelCall();
      this.session.close('failed');
      return;
    }
    const asked = answer.calls.map(({ does, replay, fresh }, index) => {
      return { name: does, arguments: fresh ? `{"n":${this.#answers}.${index}}` : '{}', replay };
    });
    this.session.answer(answer.text, asked);
  }

  #keepWhatWasSaid(): void {
    const answer = this.#nextAnswer();
    if (answer.kind === 'speaks' && answer.text !== '') this.session.answer(answer.text, []);
  }

  #begin({ id, state, replay }: CallRecord): void {
    if (state !== 'started') this.session.startCall(id);
    if (state === 'planned' || (state === 'started' && replay !== 'attach')) {
      this.begun.set(id, (this.begun.get(id) ?? 0) + 1);
    }
  }

  #use({ id, name, position, answer }: CallRecord): void {
    const questions = this.#questions.get(id) ?? 0;
    if (name === 'ask' && questions < questionsPerCall) {
      this.#questions.set(id, questions + 1);
      this.session.ask(id, this.now + patienceMs * (position + 1));
    } else if (name === 'ask') this.session.settle(id, answer === null ? 'failed' : 'finished');
    else this.session.settle(id, name === 'finish' ? 'finished' : 'failed', name === 'mistake');
  }

  #answerQuestions(): void {
    for (const call of this.session.unsettled()) if (call.state === 'waiting') this.session.answerCall(call.id);
  }
}
