/** Webhooks whose answers would go nowhere: the channel that they are to go to is off. A warning, never a mistake. */
import type { KeyPath } from './key-tree.ts';
import type { Config } from './schema.ts';

export interface WebhookWarning {
  readonly path: KeyPath;
  readonly message: string;
}

type Channels = Config['channels'];

/** What turns a channel on. */
const switches: Readonly<Record<string, readonly [key: string, isOn: (channels: Channels) => boolean]>> = {
  telegram: ['channels.telegram.token', ({ telegram }) => telegram.token !== null],
  discord: ['channels.discord.token', ({ discord }) => discord.token !== null],
  slack: ['channels.slack.bot_token', ({ slack }) => slack.bot_token !== null],
};

export function webhookWarnings({ webhooks, channels }: Config): WebhookWarning[] {
  return Object.entries(webhooks).flatMap(([name, { deliver_to: deliverTo }]) => {
    const [channel = ''] = deliverTo?.split(':', 1) ?? [];
    const [key, isOn] = switches[channel] ?? [];
    if (key === undefined || isOn === undefined || isOn(channels)) return [];
    const path = ['webhooks', name, 'deliver_to'];
    return [{ path, message: `\`${path.join('.')}\` needs \`${key}\`: until it is set, answers wait` }];
  });
}
