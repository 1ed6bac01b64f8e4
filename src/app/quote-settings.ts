/**
 * What a change of a session's model or effort costs: the part of the prompt that the provider's cache has now and will
 * not have for the next call. An estimate, from the newest call.
 */
import { runtimeId, type Runtime } from '../models/model.ts';
import type { SessionSettings, SettingsQuote } from '../protocol/api.ts';
import type { SessionRecord, StoreReader } from '../store/store.ts';
import type { Agents } from './agents.ts';

const bytesPerToken = 4;

export interface QuoteDeps {
  readonly read: StoreReader;
  readonly agents: Agents;
}

export async function quoteSettings(
  { read, agents }: QuoteDeps,
  session: SessionRecord,
  settings: SessionSettings,
): Promise<SettingsQuote> {
  const [now, then] = await Promise.all([agents.runtimes(session.settings), agents.runtimes(settings)]);
  const [before, after] = [now.chain[0], then.chain[0]];
  const calls = await read.modelCalls(session.id);
  const promptTokens =
    calls.findLast((call) => call.purpose === 'answer' && call.usage !== null)?.usage?.inputTokens ?? 0;
  const isOtherModel = runtimeId(before) !== runtimeId(after);
  const kept = isOtherModel ? 0 : await keptTokens(read, session, before, settings.effort !== session.settings.effort);
  const uncachedTokens = kept === null ? 0 : Math.max(0, promptTokens - kept);
  const { price } = after;
  const usd = price === null ? null : (uncachedTokens * (price.input - price.cachedInput)) / 1_000_000;
  return { settings, model: `${after.provider}/${after.model}`, uncachedTokens, usd };
}

/** What a change of effort leaves in the cache; null if all of it. Anthropic's keeps tools and system prompt only. */
async function keptTokens(
  read: StoreReader,
  session: SessionRecord,
  runtime: Runtime,
  isOtherEffort: boolean,
): Promise<number | null> {
  if (!isOtherEffort || runtime.apiMode !== 'anthropic_messages') return null;
  const [head] = await read.entries(session.id, { after: 0, limit: 1 });
  if (head?.kind !== 'head') return 0;
  return Math.floor((JSON.stringify(head.head.tools).length + head.head.systemPrompt.length) / bytesPerToken);
}
