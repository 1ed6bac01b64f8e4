/**
 * Who may what: lets a plan go, refuses it, or has a person asked. In this order:
 *
 *   the turn read a stranger's text, and the plan sends something out or changes Talaria, or could
 *                                asked, whatever the mode and whatever was allowed before; refused if nobody is there
 *   allowed before               goes
 *   mode off                     goes
 *   mode smart, a command        goes if the model finds it safe; never in a turn that read a stranger's text, because that
 *                                text could argue with the model
 *   nobody is there              as the operator chose: refused, or it goes
 *   else                         asked; refused if it is too long to be shown whole: nobody can say yes to what they can't see
 *
 * What must never happen is refused before a plan is made (see `judge-command.ts`), so no mode and no answer can allow it.
 * Asking is left to the agent, storing grants to the store.
 */
import type { Clock } from '../../lib/clock.ts';
import { approvalWords, readApproval } from '../../protocol/approval-words.ts';
import type { SessionId } from '../../protocol/ids.ts';
import type { Gate, GateAnswer, GateContext, Grant, Plan, PlanKind } from '../approval.ts';
import { readPlan, writePlan } from './stored-plan.ts';
import { choicesFor, isShowable, questionFor, shownCharsMax } from './plan-question.ts';

export interface GateDeps {
  readonly grants: {
    /** For this session or for all. */
    isGranted(sessionId: SessionId, kind: PlanKind, subject: string): Promise<boolean>;
    /** Idempotent. */
    add(grant: Omit<Grant, 'grantedAt'>): Promise<void>;
  };
  readonly mode: () => 'ask' | 'smart' | 'off';
  readonly timeoutMs: () => number;
  readonly unattended: () => 'deny' | 'allow';
  readonly clock: Pick<Clock, 'now'>;
  /** Anything but `safe` asks, a failure too. */
  readonly judgeByModel?: (plan: Plan, context: GateContext) => Promise<'safe' | 'unsure' | 'dangerous'>;
}

/** What a stranger's text could be after. */
const guardedKinds: ReadonlySet<PlanKind> = new Set(['send', 'self']);

export function createGate(deps: GateDeps): Gate {
  return {
    async consider(plan, context) {
      const isGuarded = context.untrusted !== null && (guardedKinds.has(plan.kind) || plan.canSend === true);
      if (isGuarded) {
        if (context.isUnattended) return refuse(notWithoutAnybody(plan, 'This turn has read text of a stranger'));
        return ask(deps, plan, context);
      }
      if (await deps.grants.isGranted(context.sessionId, plan.kind, plan.subject)) return { kind: 'go' };
      if (deps.mode() === 'off') return { kind: 'go' };
      if (await isSafe(deps, plan, context)) return { kind: 'go' };
      if (!context.isUnattended) return ask(deps, plan, context);
      if (deps.unattended() === 'allow') return { kind: 'go' };
      return refuse(notWithoutAnybody(plan, 'Nobody watches this turn'));
    },
    async settle(asked, answer, context) {
      const plan = readPlan(asked.plan);
      if (plan === null) return refuse('Not done: what was to be approved can no longer be read. Ask for it again.');
      if (answer === null) return refuse('Not done: nobody answered in time. Do not try it again by yourself.');
      const said = readApproval(answer);
      const isOffered = said !== null && (asked.choices ?? []).includes(approvalWords[said]);
      if (isOffered && said !== 'no') {
        const { kind, subject, lasting, shown: asShown } = plan;
        // A command is known by its text, whatever a yes for longer allows besides.
        const shown = kind === 'command' ? asShown : (lasting ?? asShown);
        const sessionId = said === 'always' ? null : context.sessionId;
        if (said !== 'once') await deps.grants.add({ sessionId, kind, subject, shown });
        return { kind: 'go', frozen: plan.frozen };
      }
      return refuse(
        'Not done: the person said no. Do not try to do the same in another way; ask what they would like.',
      );
    },
  };
}

async function isSafe({ mode, judgeByModel }: GateDeps, plan: Plan, context: GateContext): Promise<boolean> {
  if (mode() !== 'smart' || judgeByModel === undefined || plan.kind !== 'command' || context.untrusted !== null)
    return false;
  try {
    return (await judgeByModel(plan, context)) === 'safe';
  } catch {
    // A judge that can't be reached has not said that it is safe: a person is asked.
    return false;
  }
}

function ask({ clock, timeoutMs }: GateDeps, plan: Plan, context: GateContext): GateAnswer {
  if (!isShowable(plan, context.untrusted)) return refuse(tooLong(plan));
  return {
    kind: 'ask',
    question: {
      text: questionFor(plan, context.untrusted),
      choices: choicesFor(plan, context.untrusted),
      deadline: clock.now() + timeoutMs(),
      isApproval: true,
      plan: writePlan(plan),
    },
  };
}

function refuse(text: string): { readonly kind: 'refuse'; readonly text: string } {
  return { kind: 'refuse', text };
}

function tooLong({ kind }: Plan): string {
  const advice = kind === 'command' ? 'Write it to a script file first, and run that.' : 'Do it in smaller steps.';
  return `Not done: this needs an approval, and it is too long to be shown whole (more than ${shownCharsMax} characters). ${advice}`;
}

function notWithoutAnybody({ reasons }: Plan, why: string): string {
  return `Not done: this needs an approval (${reasons.join('; ')}). ${why}, and there is nobody to ask. Do without it, and say so.`;
}
