/** The channels of platforms that the configuration asks for. A platform's library is loaded only with its channel. */
import type { Channel } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import type { Router } from '../http/router.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { RandomSource } from '../lib/random.ts';
import { AppError } from './app-error.ts';

export const telegramHookPath = '/hooks/telegram';

export interface PlatformChannels {
  readonly channels: readonly Channel[];
  /** What platforms call, by path; each proves itself. */
  readonly hooks: ReadonlyMap<string, Router>;
}

export interface BuildChannelsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: RandomSource;
}

export async function buildChannels(config: Config, deps: BuildChannelsDeps): Promise<PlatformChannels> {
  const { token, api_root: apiRoot, webhook_url: url, webhook_token: secret } = config.channels.telegram;
  if (token === null) return { channels: [], hooks: new Map() };
  if (url !== null && secret === null) {
    throw new AppError('channels.telegram.webhook_url needs channels.telegram.webhook_token beside it.');
  }
  const { createTelegramChannel } = await import('../channels/telegram/telegram-channel.ts');
  const webhook = url === null || secret === null ? {} : { webhook: { url, secret } };
  const channel = createTelegramChannel({ ...deps, token, apiRoot, ...webhook });
  const hook: Router = (request) => channel.handleWebhook({ ...request, params: {} });
  const hooks = url === null ? [] : [[telegramHookPath, hook] as const];
  return { channels: [channel], hooks: new Map(hooks) };
}
