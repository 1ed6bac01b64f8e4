/**
 * When a call of a server's tool asks first. Servers are the operator's choice, so most calls do not:
 *
 *   a tool that is new on its server, or describes itself anew          asks, always
 *   a tool that says that it destroys something                         asks (`destructiveHint`)
 *   in a turn that has read a stranger's text
 *     a tool that does not say that it only reads                       asks
 *     one that does, on a server with a way out, with an address
 *     that nobody has shown before                                      asks: data could leave in it
 *
 * What such a server could send out is judged as sending; the rest as the use of a tool. A server in the sandbox without a
 * network has no way out. Pure.
 */
import type { Plan } from '../approval.ts';
import type { ToolContext } from '../tool.ts';
import type { CallArguments } from './check-arguments.ts';
import { definitionChange } from './definition-change.ts';
import type { SeenTool, ServerPlace } from './mcp-server.ts';
import type { PinnedTool, Standing } from './tool-pins.ts';

const argumentDepthMax = 12;

export interface CallToJudge {
  readonly server: string;
  readonly place: ServerPlace;
  /** As the server describes it now. */
  readonly seen: SeenTool;
  /** As it was approved, if it was. */
  readonly pinned: PinnedTool | null;
  readonly standing: Standing;
  readonly input: CallArguments;
}

/** What a yes is for: this call of this tool as it is now. */
export function frozenCall({ seen, input }: Pick<CallToJudge, 'seen' | 'input'>): string {
  return JSON.stringify({ tool: seen.name, definition: seen.hash, arguments: input });
}

/** Null if nobody has to be asked. */
export function planFor(call: CallToJudge, context: Pick<ToolContext, 'untrusted' | 'wasShown'>): Plan | null {
  const { server, place, seen, standing, input } = call;
  const isKnown = standing === 'approved';
  const reasons = [...standingReasons(standing), ...(isKnown ? callReasons(call, context) : [])];
  if (reasons.length === 0) return null;
  const use = `${server}: ${seen.name}\n${JSON.stringify(input, null, 2)}`;
  return {
    kind: context.untrusted !== null && place.hasWayOut ? 'send' : 'mcp',
    // A permission for a tool is not one for what the tool turns into.
    subject: isKnown ? `${server}/${seen.name}` : `${server}/${seen.name}@${seen.hash}`,
    shown: isKnown ? use : `${definitionChange(call.pinned, seen)}\n\n${use}`,
    reasons,
    where: place.words,
    frozen: frozenCall(call),
    ...(isKnown
      ? { lasting: `every use of ${server}: ${seen.name}, whatever is given to it` }
      : { onceOnly: true as const }),
  };
}

function standingReasons(standing: Standing): string[] {
  switch (standing) {
    case 'approved':
      return [];
    case 'new':
      return ['this tool is new on a server that was there before; a yes approves it as it is shown'];
    case 'changed':
      return ['the server describes this tool in another way than when it was approved; a yes approves the new one'];
  }
}

function callReasons({ seen, place, input }: CallToJudge, context: Pick<ToolContext, 'untrusted' | 'wasShown'>) {
  const { readOnlyHint, destructiveHint, openWorldHint } = seen.hints;
  if (readOnlyHint !== true) {
    const reasons = destructiveHint === true ? ['its server says that it destroys something'] : [];
    return context.untrusted === null ? reasons : [...reasons, 'it changes or sends something'];
  }
  if (context.untrusted === null || openWorldHint === false || !place.hasWayOut) return [];
  const isMadeUp = textsIn(input, 0).some((text) => addressesIn(text).some((address) => !context.wasShown(address)));
  return isMadeUp ? ['it reaches an address that nobody has shown'] : [];
}

function addressesIn(text: string): string[] {
  return text.match(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi) ?? [];
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > argumentDepthMax) return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}
