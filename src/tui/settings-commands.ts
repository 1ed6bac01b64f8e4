/** `/model` and `/reasoning`: shows and changes what one session asks. What a change costs is said before it is made. */
import { efforts } from '../protocol/usage.ts';
import type { SessionSettings, SettingsQuote } from '../protocol/api.ts';
import type { ChatControl } from './chat-control.ts';
import { printable, printableLine } from './printable.ts';
import { countText, usdText } from '../protocol/usage-text.ts';

const nameCharsMax = 100;

export async function modelCommand(chat: ChatControl, name: string): Promise<void> {
  const quote = name === '' ? await quoteOf(chat, {}) : await change(chat, { model: chosen(name) });
  if (quote === null) return;
  const { model, settings } = quote;
  const origin = settings.model === null ? 'as configured' : 'chosen for this session; /model default goes back';
  chat.say(`model  ${printableLine(model, nameCharsMax)} ${chat.style.dim(`(${origin})`)}`);
}

export async function reasoningCommand(chat: ChatControl, word: string): Promise<void> {
  const effort = efforts.find((known) => known === word.toLowerCase()) ?? null;
  if (word !== '' && effort === null && chosen(word) !== null) {
    return chat.say(
      `there is no effort ${printable(JSON.stringify(word))}; choose one of: ${efforts.join(', ')}, default`,
    );
  }
  const quote = word === '' ? await quoteOf(chat, {}) : await change(chat, { effort });
  if (quote !== null) chat.say(`reasoning  ${quote.settings.effort ?? 'as the configuration or the model has it'}`);
}

/** Null stands for the configuration's choice. */
function chosen(word: string): string | null {
  return word.toLowerCase() === 'default' ? null : word;
}

/** What would be in force; null, with a word about it, where there is no session yet. */
async function quoteOf(chat: ChatControl, wanted: Partial<SessionSettings>): Promise<SettingsQuote | null> {
  const { name, api } = chat.conversation;
  if (name !== null && (await api.session(name)) !== null) return api.settings(name, wanted, true);
  const { model } = await api.status();
  chat.say(
    `this session begins with your first message, on ${model.provider} ${model.name}; after it this can be changed`,
  );
  return null;
}

/** What is in force afterwards; null if nothing was changed. */
async function change(chat: ChatControl, wanted: Partial<SessionSettings>): Promise<SettingsQuote | null> {
  const { conversation, style } = chat;
  const quote = await quoteOf(chat, wanted);
  if (quote === null || conversation.name === null) return null;
  if (quote.uncachedTokens > 0) {
    chat.say(style.yellow(priceWords(quote)));
    if (!(await chat.confirm('Change it?'))) {
      chat.say(style.dim('nothing was changed'));
      return null;
    }
  }
  return conversation.api.settings(conversation.name, wanted, false);
}

function priceWords({ uncachedTokens, usd }: SettingsQuote): string {
  const cost = usd === null ? 'at a price that is not known' : `for about ${usdText(usd)} more than now`;
  return `The next call has to read about ${countText(uncachedTokens)} tokens again that are cached now, ${cost}.`;
}
