/** `/model` and `/reasoning`: what one conversation asks. A change is made at once, and its price is said with it. */
import type { SessionSettings, SettingsQuote } from '../../protocol/api.ts';
import { efforts } from '../../protocol/usage.ts';
import type { SessionRecord } from '../../store/store.ts';
import { noSession, say, type Command } from './command.ts';
import type { CommandServices } from './services.ts';
import { countText, usdText } from '../../protocol/usage-text.ts';

export const modelCommand: Command = {
  name: 'model',
  usage: '[NAME]',
  summary: 'show or change the model of this conversation; default goes back',
  role: 'user',
  repetition: 'idempotent',
  async run({ session, argument }, services) {
    if (session === null) {
      const { model } = await services.status();
      return say(`The model is ${model.provider}/${model.name}. It can be changed once the conversation has begun.`);
    }
    const quote = await settled(services, session, argument === '' ? {} : { model: chosen(argument) });
    const origin = quote.settings.model === null ? 'as configured' : 'chosen here; /model default goes back';
    return say(`The model is ${quote.model} (${origin}).${priceWords(quote)}`);
  },
};

export const reasoningCommand: Command = {
  name: 'reasoning',
  usage: '[EFFORT]',
  summary: `show or change how hard it thinks: ${efforts.join(', ')}, default`,
  role: 'user',
  repetition: 'idempotent',
  async run({ session, argument }, services) {
    if (session === null) return noSession;
    const effort = efforts.find((known) => known === argument.toLowerCase()) ?? null;
    if (argument !== '' && effort === null && chosen(argument) !== null) {
      return say(`There is no effort ${JSON.stringify(argument)}; choose one of: ${efforts.join(', ')}, default.`);
    }
    const quote = await settled(services, session, argument === '' ? {} : { effort });
    const words = quote.settings.effort ?? 'as the configuration or the model has it';
    return say(`Reasoning effort: ${words}.${priceWords(quote)}`);
  },
};

/** Null stands for the configuration's choice. */
function chosen(word: string): string | null {
  return word.toLowerCase() === 'default' ? null : word;
}

async function settled(
  { store, quote }: CommandServices,
  session: SessionRecord,
  change: Partial<SessionSettings>,
): Promise<SettingsQuote> {
  const settings = { ...session.settings, ...change };
  const price = await quote(session, settings);
  if (Object.keys(change).length > 0) await store.changeSettings(session.id, settings);
  return price;
}

function priceWords({ uncachedTokens, usd }: SettingsQuote): string {
  if (uncachedTokens === 0) return '';
  const cost = usd === null ? 'at a price that is not known' : `for about ${usdText(usd)} more than before`;
  return ` The next call has to read about ${countText(uncachedTokens)} tokens again that were cached, ${cost}.`;
}
