/**
 * Puts the parts together: configuration in, a working Talaria out. Which concrete parts and in which order, nothing
 * else. What may change while running is asked of the configuration each time it is needed.
 */
import { join } from 'node:path';
import type { Agent } from '../agent/turn-deps.ts';
import { createLogChannel } from '../channels/webchat/log-channel.ts';
import type { Channel } from '../channels/channel.ts';
import { createOutbox } from '../gateway/delivery/outbox.ts';
import { createIntake } from '../gateway/intake.ts';
import { createLiveHub } from '../gateway/live-hub.ts';
import { createLocalApi } from '../gateway/local-api.ts';
import { createSessionDrain } from '../gateway/session-drain.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { RandomSource } from '../lib/random.ts';
import type { TalariaApi } from '../protocol/api.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { Store } from '../store/store.ts';
import { createMemoryTool } from '../tools/memory/memory-tool.ts';
import { removeSpool } from '../tools/terminal/spool.ts';
import { backupHome } from './backup.ts';
import { buildAgent, memoriesFolder, spoolsFolder } from './build-agent.ts';
import type { ConfigSource } from './open-config.ts';
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
  ]);
  const outbox = createOutbox({ store, owner, clock, log, channels });
  const agentFor = agentsBuiltOnce(options);
  const drain = createSessionDrain({ store, owner, hub, agentFor, clock, ids, random, log, onRan: outbox.poke });
  const intake = createIntake({
    store,
    ids,
    wake: drain.wake,
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
    status: createStatus({ ...options, turns: drain.counts }),
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
    },
    async leave(graceMs) {
      intake.close();
      await drain.leave(graceMs);
      await outbox.close();
      hub.close();
    },
  };
}

/** Nothing in an agent belongs to a session yet, so one serves all until the configuration changes. */
function agentsBuiltOnce(options: ComposeOptions): () => Promise<Agent> {
  const sharedTools = [createMemoryTool({ folder: join(options.home, memoriesFolder) })];
  let built: { readonly from: Config; readonly agent: Promise<Agent> } | null = null;
  return () => {
    const config = options.config.current();
    if (built?.from !== config) built = { from: config, agent: buildAgent({ ...options, config, sharedTools }) };
    return built.agent;
  };
}
