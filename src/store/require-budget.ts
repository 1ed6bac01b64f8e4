/** What a budget allows and how its end is told, the same for every driver. What was spent is the driver's to know. */
import { StoreError, type SessionWrite } from './store.ts';

/** Sums of prices are not exact: less than this over a limit is not over it. */
const roundingUsd = 1e-9;

export interface Spent {
  /** By the session, whose calls have all ended at this moment. */
  readonly sessionUsd: () => number;
  /** On the day of the call, with what calls under way may cost, in whichever session. */
  readonly dayUsd: () => number;
}

/** Throws `over-budget` if the call might cost more than is left. */
export function requireBudget(
  { budget, reservedUsd }: Pick<SessionWrite & { verb: 'start-model-call' }, 'budget' | 'reservedUsd'>,
  spent: Spent,
): void {
  const wantedUsd = reservedUsd ?? 0;
  const check = (limitUsd: number, spentUsd: () => number, words: Words) => {
    if (limitUsd === 0) return;
    const leftUsd = limitUsd - spentUsd();
    if (wantedUsd > leftUsd + roundingUsd) throw overBudget(limitUsd, Math.max(0, leftUsd), wantedUsd, words);
  };
  check(budget.sessionUsd, spent.sessionUsd, ofSession);
  check(budget.dayUsd, spent.dayUsd, ofDay);
}

interface Words {
  readonly whose: string;
  readonly key: string;
  readonly instead: string;
}

const ofSession: Words = { whose: 'this session', key: 'budget.session_usd', instead: 'start a new session' };
const ofDay: Words = { whose: 'today', key: 'budget.day_usd', instead: 'go on tomorrow' };

function overBudget(limitUsd: number, leftUsd: number, wantedUsd: number, { whose, key, instead }: Words): StoreError {
  const wanted = wantedUsd === 0 ? '' : `, and the next model call may cost ${inDollars(wantedUsd)}`;
  return new StoreError(
    'over-budget',
    `The budget for ${whose} is ${inDollars(limitUsd)}, of which ${inDollars(leftUsd)} is left${wanted}: raise ${key}, or ${instead}.`,
  );
}

/** Cents, or as many digits as a small amount needs to be seen. */
function inDollars(usd: number): string {
  return `$${usd < roundingUsd || usd >= 0.01 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}
