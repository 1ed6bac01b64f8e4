/** `/usage`: what the last turn, the session and today took. */
import type { ChatControl } from './chat-control.ts';
import { localDay } from '../lib/local-day.ts';
import { costText, tokensText, totalOfCalls, totalOfSums, type UsageTotal } from '../protocol/usage-text.ts';

export async function usageCommand(chat: ChatControl): Promise<void> {
  const { api, name } = chat.conversation;
  const isThere = name !== null && (await api.session(name)) !== null;
  const calls = isThere ? await api.modelCalls(name) : [];
  const newest = calls.findLast(({ turnId }) => turnId !== null)?.turnId;
  const ofTurn = newest === undefined ? [] : calls.filter(({ turnId }) => turnId === newest);
  const today = await api.usage(localDay(chat.clock.now()));
  say(chat, 'last turn', totalOfCalls(ofTurn));
  say(chat, 'session', totalOfCalls(calls));
  say(chat, 'today', totalOfSums(today));
}

function say(chat: ChatControl, what: string, total: UsageTotal): void {
  const calls = `${total.calls} ${total.calls === 1 ? 'call' : 'calls'}`;
  chat.say(`${what.padEnd(10)} ${calls}, ${tokensText(total)}, ${costText(total)}`);
}
