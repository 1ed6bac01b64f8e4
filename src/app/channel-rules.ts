/** What the configuration says of channels, asked anew each time: who may, how groups are kept, what a message does mid-turn. */
import type { Config } from '../config/schema.ts';
import type { ChannelPolicy } from '../gateway/authorize.ts';
import type { SessionKey } from '../protocol/ids.ts';
import { webhookChannel } from '../protocol/reply-place.ts';

const platformNames = ['telegram', 'discord', 'slack'] as const;
type PlatformConfig = Config['channels'][(typeof platformNames)[number]];

/** What `channels.api` is about. */
const apiChannels: ReadonlySet<string> = new Set(['api', 'web']);
/** For sessions of a webhook that is not in the configuration any more. */
const webhookToolsets: readonly string[] = ['safe'];

export interface ChannelRules {
  policy(channel: string): ChannelPolicy | null;
  groupsAreShared(channel: string): boolean;
  requiresMention(channel: string): boolean;
  busyMode(channel: string): Config['gateway']['busy_mode'];
  /** Those of the session with this key. */
  toolsets(key: SessionKey): readonly string[];
  /** Null: as the commands themselves say. */
  userCommands(channel: string): ReadonlySet<string> | null;
  inactivity(): { readonly warningMs: number; readonly timeoutMs: number };
}

export function channelRules(config: () => Config): ChannelRules {
  const platform = (channel: string): PlatformConfig | null => {
    const name = platformNames.find((known) => known === channel);
    return name === undefined ? null : config().channels[name];
  };
  return {
    policy(channel) {
      const rules = platform(channel);
      return rules === null ? null : { allowedUsers: rules.allowed_users, owners: rules.owners };
    },
    groupsAreShared: (channel) => platform(channel)?.groups === 'shared',
    requiresMention: (channel) => platform(channel)?.require_mention ?? true,
    busyMode(channel) {
      // Another program interrupts nobody.
      if (channel === webhookChannel) return 'queue';
      const own = (platform(channel) ?? config().channels.api).busy_mode;
      return own ?? config().gateway.busy_mode;
    },
    toolsets(key) {
      const [channel = '', , name = ''] = key.split(':');
      if (channel === webhookChannel) return ownWebhook(config(), name)?.toolsets ?? webhookToolsets;
      const own = apiChannels.has(channel) ? config().channels.api : platform(channel);
      return own?.toolsets ?? config().toolsets;
    },
    userCommands(channel) {
      const allowed = platform(channel)?.user_commands ?? null;
      return allowed === null ? null : new Set(allowed);
    },
    inactivity() {
      const { inactivity_warning_s: warning, inactivity_timeout_s: timeout } = config().agent;
      return { warningMs: warning * 1_000, timeoutMs: timeout * 1_000 };
    },
  };
}

type WebhookConfig = Config['webhooks'][string];
type UsableWebhook = WebhookConfig & { readonly secret: string; readonly prompt: string };

/** By its own name only: what every object has is none. */
export function ownWebhook({ webhooks }: Config, name: string): UsableWebhook | null {
  const webhook = Object.hasOwn(webhooks, name) ? webhooks[name] : undefined;
  if (webhook === undefined) return null;
  const { secret, prompt } = webhook;
  return secret === null || prompt === null ? null : { ...webhook, secret, prompt };
}
