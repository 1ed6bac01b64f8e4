/** How a turn ends: its calls settled, a word to the people, the reply queued, in one commit. */
import { present } from '../lib/assert.ts';
import { textOf, type NoticeCause, type TurnOutcome } from '../protocol/messages.ts';
import type { ModelError } from '../models/model.ts';
import type { SessionWrite } from '../store/store.ts';
import type { Action } from './decide.ts';
import { lastAnswerOfTurn, type Journal } from './journal.ts';
import { replyTo } from './reply-to.ts';
import { settled } from './tool-round.ts';
import type { TurnDeps } from './turn-deps.ts';

type CloseAction = Extract<Action, { kind: 'close-turn' }>;

export async function closeTurn(deps: TurnDeps, journal: Journal, action: CloseAction): Promise<void> {
  const skipped = action.skip.map((call) =>
    call.state !== 'started'
      ? settled(call, 'skipped', 'It was not run: the turn was stopped before.')
      : settled(call, 'unknown', 'It was interrupted; whether it finished is not known.'),
  );
  const answer = lastAnswerOfTurn(journal);
  const answerText = answer === null ? '' : textOf(answer);
  switch (action.ending) {
    case 'answered':
      return close(
        deps,
        journal,
        skipped,
        'answered',
        answerText === '' ? 'The model gave no answer.' : null,
        answerText,
      );
    case 'stopped':
      return close(deps, journal, skipped, 'stopped', null, answerText);
    case 'budget-spent':
      return close(
        deps,
        journal,
        skipped,
        answerText === '' ? 'failed' : 'answered',
        budgetNotice(deps.settings.limits.modelCallsMax),
        answerText,
      );
    case 'repeats-itself':
      return close(deps, journal, skipped, 'failed', repeatsNotice, answerText);
    case 'only-mistakes':
      return close(deps, journal, skipped, 'failed', mistakesNotice, answerText);
    case 'crashed-repeatedly':
      return close(deps, journal, skipped, 'parked', parkedNotice, '');
  }
}

/** Ends the turn because the model can't be asked; what `because` says is for the user. */
export function failTurn(
  deps: TurnDeps,
  journal: Journal,
  before: readonly SessionWrite[],
  because: ModelError,
): Promise<void> {
  const cause = because.reason === 'content-refused' ? 'declined' : undefined;
  return close(deps, journal, before, 'failed', because.message, '', cause);
}

async function close(
  deps: TurnDeps,
  journal: Journal,
  before: readonly SessionWrite[],
  outcome: TurnOutcome,
  notice: string | null,
  answer: string,
  cause?: NoticeCause,
): Promise<void> {
  const turnId = present(journal.openTurn, 'an open turn').id;
  const reply = await replyTo(deps, journal, turnId, { text: answer === '' ? (notice ?? '') : answer });
  const told: SessionWrite[] =
    notice === null ? [] : [{ verb: 'notice', turnId, text: notice, ...(cause === undefined ? {} : { cause }) }];
  await deps.commit([...before, ...told, { verb: 'close-turn', turnId, outcome, reply }]);
}

const budgetNotice = (calls: number) =>
  `This turn used up its ${calls} model calls before it was done. Say "go on" to let it continue, or raise agent.max_iterations.`;

const repeatsNotice =
  'The model kept repeating a call that fails, so the turn was ended. Say what to try instead, or ask again.';

const mistakesNotice =
  'The model kept asking for tools in a way that can not be understood, so the turn was ended. Ask again, or use another model.';

const parkedNotice =
  'This turn took the program down several times and is parked. Try it again with "talaria sessions retry NAME", ' +
  'give it up with "talaria sessions drop NAME", or just write again.';
