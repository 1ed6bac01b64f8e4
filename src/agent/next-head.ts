/**
 * The head that a turn begins with, if it is not the one in force: the first one of a session, or one with other tools
 * because somebody chose other toolsets or the tools themselves have changed. The system prompt stays as it was frozen.
 */
import type { Head, HeadReason, HeadTools } from '../protocol/messages.ts';

export interface NextHead {
  readonly reason: HeadReason;
  readonly head: Head;
}

/** What heads were made of before they said so. */
const formerToolsets: readonly string[] = ['core'];

/** Null if the head in force stays so. */
export async function nextHead(
  frozen: Head | null,
  agent: { readonly headTools: HeadTools; buildHead(): Promise<Head> },
): Promise<NextHead | null> {
  if (frozen === null) return { reason: 'session-started', head: await agent.buildHead() };
  const { headTools } = agent;
  // As text: what a provider's cache goes by is bytes, the order of keys included.
  if (JSON.stringify(frozen.tools) === JSON.stringify(headTools.tools)) return null;
  const isSameChoice = isSameList(frozen.toolsets ?? formerToolsets, headTools.toolsets ?? formerToolsets);
  const sections = frozen.sections === undefined ? {} : { sections: frozen.sections };
  return {
    reason: isSameChoice ? 'registry-changed' : 'toolset-changed',
    head: { systemPrompt: frozen.systemPrompt, ...sections, ...headTools },
  };
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
