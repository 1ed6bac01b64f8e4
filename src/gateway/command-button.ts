/**
 * A button that gives a command. It is about the session that it was shown for, whoever presses it and whenever, so that
 * session stands in its value: `SESSIONID /command`. Pure.
 */
import { isId } from '../lib/ids.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { ReplyButton } from '../store/store.ts';

/** What a platform's button can carry. */
const valueBytesMax = 64;

/** A command that is too long to have the session beside it stands alone. */
export function commandButton(sessionId: SessionId, { label, value }: ReplyButton): ReplyButton {
  const whole = `${sessionId} ${value}`;
  return { label, value: Buffer.byteLength(whole) <= valueBytesMax ? whole : value };
}

/** `about` is null for one that stands alone. */
export function readCommandButton(value: string): { readonly about: SessionId | null; readonly command: string } {
  const space = value.indexOf(' ');
  const id = value.slice(0, Math.max(0, space));
  return isId('ses', id) ? { about: id, command: value.slice(space + 1) } : { about: null, command: value };
}
