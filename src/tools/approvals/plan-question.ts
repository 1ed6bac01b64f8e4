/** A plan as a question: what exactly would be done, why that needs a yes, and where it happens. Nothing is left out. */
import { approvalWords } from '../../protocol/approval-words.ts';
import type { UntrustedSource } from '../../protocol/messages.ts';
import type { Plan, PlanKind } from '../approval.ts';
import { shownText } from './shown-text.ts';

/** As shown. Every channel can carry a question of this length in one message. */
export const shownCharsMax = 3_000;

const openings: Readonly<Record<PlanKind, string>> = {
  command: 'May this command run?',
  file: 'May this file be used?',
  send: 'May this be sent?',
  mcp: 'May this tool be used?',
  self: 'May this be changed in Talaria itself?',
};

const sources: Readonly<Record<UntrustedSource, string>> = {
  web: 'the web',
  mcp: 'another program (MCP)',
  webhook: 'a webhook',
  stranger: 'somebody who is not known here',
};

export function isShowable(plan: Plan): boolean {
  return plan.shown.length <= shownCharsMax && shownText(plan.shown).length <= shownCharsMax;
}

export function questionFor(plan: Plan, untrusted: UntrustedSource | null): string {
  const shown = shownText(plan.shown);
  // Longer than any fence in it, so that nothing of it is shown outside.
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [
    openings[plan.kind],
    `${fence}\n${shown}\n${fence}`,
    `Why it asks: ${plan.reasons.map(shownText).join('; ')}.`,
    `Where: ${shownText(plan.where)}.`,
    ...(untrusted === null
      ? []
      : [`Before this, the agent read text from ${sources[untrusted]}, which may have told it to do this.`]),
  ].join('\n\n');
}

/** A yes in such a turn is for this one time only. */
export function choicesFor(plan: Plan, untrusted: UntrustedSource | null): readonly string[] {
  const { once, session, always, no } = approvalWords;
  return plan.onceOnly === true || untrusted !== null ? [once, no] : [once, session, always, no];
}
