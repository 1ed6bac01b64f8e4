/**
 * Puts the parts together: configuration in, a working Talaria out. Which concrete parts and in which order, nothing
 * else. What may change while running is asked of the configuration each time it is needed.
 */
import { join } from 'node:path';
import { createLogChannel } from '../channels/webchat/log-channel.ts';
import type { Channel, ChannelPort } from '../channels/channel.ts';
import { createAuthorize, ownerChannels } from '../gateway/authorize.ts';
import { createOutbox } from '../gateway/delivery/outbox.ts';
import { createIntake } from '../gateway/intake.ts';
import { createLiveHub } from '../gateway/live-hub.ts';
import { createLocalApi } from '../gateway/local-api.ts';
import { createSessionDrain } from '../gateway/session-drain.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { RandomSource } from '../lib/random.ts';
import type { TalariaApi } from '../protocol/api.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { Store } from '../store/store.ts';
import { removeSpool } from '../tools/terminal/spool.ts';
import type { Tool } from '../tools/tool.ts';
import { createAgents } from './agents.ts';
import { backupHome } from './backup.ts';
import { spoolsFolder } from './build-agent.ts';
import type { ConfigSource } from './open-config.ts';
import { quoteSettings } from './quote-settings.ts';
import { createStatus } from './status.ts';
import { tidySpools } from './tidy-spools.ts';

export interface ComposeOptions {
  readonly home: string;
  readonly config: ConfigSource;
  readonly store: Store;
  /** The file behind the store. */
  readonly storePath: string;
  readonly owner: NodeId;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: RandomSource;
  readonly log: Log;
  /** Besides those that the configuration asks for. */
  readonly extraChannels?: readonly Channel[];
  readonly extraTools?: readonly Tool[];
}

export interface Talaria {
  readonly api: TalariaApi;
  /** Takes up unfinished work and begins to deliver. */
  start(): Promise<void>;
  /** Takes no more messages, lets turns reach a safe point within `graceMs`, and settles deliveries under way. */
  leave(graceMs: number): Promise<void>;
}

export function compose(options: ComposeOptions): Talaria {
  const { store, owner, clock, ids, random, log } = options;
  const spoolRoot = join(options.home, spoolsFolder);
  const hub = createLiveHub();
  const channels = new Map<string, Channel>([
    ['web', createLogChannel('web')],
    ['cli', createLogChannel('cli')],
    ...(options.extraChannels ?? []).map((channel) => [channel.name, channel] as const),
  ]);
  const outbox = createOutbox({ store, owner, clock, log, channels });
  const agents = createAgents(options);
  const drain = createSessionDrain({
    store,
    owner,
    hub,
    agentFor: agents.borrow,
    clock,
    ids,
    random,
    log,
    onRan: outbox.poke,
  });
  const intake = createIntake({
    store,
    ids,
    wake: drain.wake,
    mayWrite: createAuthorize([...ownerChannels, ...(options.extraChannels ?? []).map(({ name }) => name)]),
    async beforeJoining(sessionId) {
      if (options.config.current().gateway.busy_mode === 'interrupt') await drain.stop(sessionId);
    },
  });
  const api = createLocalApi({
    store,
    intake,
    drain,
    hub,
    ids,
    status: createStatus({ ...options, agents, turns: drain.counts }),
    quote: (session, settings) => quoteSettings({ read: store.read, agents }, session, settings),
    backup: () => backupHome(options.home, options.storePath, store),
    onDeleted: (sessionId) => removeSpool({ clock }, join(spoolRoot, sessionId)),
  });
  return {
    api,
    async start() {
      tidySpools({ clock, read: store.read }, spoolRoot).catch((error: unknown) =>
        log.warn('spools not tidied', { error }),
      );
      await drain.recover();
      outbox.poke();
      const port: ChannelPort = {
        receive: (message) => intake.receive(message),
        press: () => Promise.resolve('This button has no meaning any more.'),
      };
      for (const channel of channels.values()) await channel.start(port, []);
    },
    async leave(graceMs) {
      await Promise.all([...channels.values()].map((channel) => channel.stop()));
      intake.close();
      await drain.leave(graceMs);
      await outbox.close();
      hub.close();
      agents.close();
    },
  };
}
