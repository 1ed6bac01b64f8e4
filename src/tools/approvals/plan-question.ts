/** A plan as a question: what exactly would be done, why that needs a yes, and where it happens. Nothing is left out. */
import { approvalWords } from '../../protocol/approval-words.ts';
import type { UntrustedSource } from '../../protocol/messages.ts';
import type { Plan, PlanKind } from '../approval.ts';
import { shownText } from './shown-text.ts';

/** Of what would be done, as shown. */
export const shownCharsMax = 3_000;
/** Every channel can carry a question of this length in one message. */
const questionCharsMax = 3_900;

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

export function isShowable(plan: Plan, untrusted: UntrustedSource | null): boolean {
  if (plan.shown.length > shownCharsMax || shownText(plan.shown).length > shownCharsMax) return false;
  return questionFor(plan, untrusted).length <= questionCharsMax;
}

export function questionFor(plan: Plan, untrusted: UntrustedSource | null): string {
  const shown = shownText(plan.shown);
  // Longer than any fence in it, so that nothing of it is shown outside.
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [
    openings[plan.kind],
    `${fence}\n${shown}\n${fence}`,
    `Why it asks: ${plan.reasons.map(onOneLine).join('; ')}.`,
    `Where: ${onOneLine(plan.where)}.`,
    ...(plan.lasting === undefined || !canLast(plan, untrusted)
      ? []
      : [`A yes for longer than once allows more: ${onOneLine(plan.lasting)}.`]),
    ...(untrusted === null
      ? []
      : [`Before this, the agent read text from ${sources[untrusted]}, which may have told it to do this.`]),
  ].join('\n\n');
}

/** A yes in such a turn is for this one time only. */
export function choicesFor(plan: Plan, untrusted: UntrustedSource | null): readonly string[] {
  const { once, session, always, no } = approvalWords;
  return canLast(plan, untrusted) ? [once, session, always, no] : [once, no];
}

function canLast({ onceOnly }: Plan, untrusted: UntrustedSource | null): boolean {
  return onceOnly !== true && untrusted === null;
}

/** A folder's name may have lines that read like ours. */
function onOneLine(text: string): string {
  return shownText(text).replaceAll('\n', '‹U+000A›');
}
