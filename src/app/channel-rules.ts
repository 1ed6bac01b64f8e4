/** What the configuration says of channels, asked anew each time: who may, how groups are kept, what a message does mid-turn. */
import type { Config } from '../config/schema.ts';
import type { ChannelPolicy } from '../gateway/authorize.ts';

const platformNames = ['telegram', 'discord', 'slack'] as const;
type PlatformConfig = Config['channels'][(typeof platformNames)[number]];

export interface ChannelRules {
  policy(channel: string): ChannelPolicy | null;
  groupsAreShared(channel: string): boolean;
  busyMode(channel: string): Config['gateway']['busy_mode'];
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
    busyMode(channel) {
      const own = (platform(channel) ?? config().channels.api).busy_mode;
      return own ?? config().gateway.busy_mode;
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
