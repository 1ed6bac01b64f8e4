/** The kinds of id that the parts share. How an id is made and sorted is told in `lib/ids.ts`. */
import type { Id } from '../lib/ids.ts';

export type SessionId = Id<'ses'>;
export type TurnId = Id<'trn'>;
export type CallId = Id<'cal'>;
export type ModelCallId = Id<'mdl'>;
export type InboxId = Id<'inb'>;
export type OutboxId = Id<'out'>;
export type NodeId = Id<'nod'>;

/** Where a conversation lives: `CHANNEL:KIND:CHAT[:THREAD][:USER]`. */
export type SessionKey = string;

const namePattern = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u;

/** What is wrong with a session's name, as a sentence for its author; null if it is fine. */
export function sessionNameProblem(name: string): string | null {
  if (namePattern.test(name) && !name.includes('..') && name.trim() === name) return null;
  return 'a session name has 1 to 64 letters, digits, spaces and . _ - in it, and starts with a letter or digit';
}
