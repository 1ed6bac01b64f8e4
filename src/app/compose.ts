/**
 * Puts the parts together: configuration in, a working Talaria out. Which concrete parts and in which order, nothing
 * else. What may change while running is asked of the configuration each time it is needed.
 */
import { join } from 'node:path';
import type { Channel, ChannelPort } from '../channels/channel.ts';
import type { OpenAiPort } from '../channels/openai-api/port.ts';
import { FrontEndChannel } from '../channels/webchat/front-end-channel.ts';
import type { WebhookPort } from '../channels/webhook/webhook-route.ts';
import { createLogChannel } from '../channels/webchat/log-channel.ts';
import { createAnswerPress } from '../gateway/answer-press.ts';
import { createAskOwners } from '../gateway/ask-owners.ts';
import { createAuthorize, ownerChannels } from '../gateway/authorize.ts';
import { createCommands } from '../gateway/commands/commands.ts';
import { createOutbox } from '../gateway/delivery/outbox.ts';
import { createHardClose } from '../gateway/hard-close.ts';
import { createIdentify } from '../gateway/identity.ts';
import { createIntake } from '../gateway/intake.ts';
import { LiveDelivery } from '../gateway/live-delivery.ts';
import { createLiveHub } from '../gateway/live-hub.ts';
import { createLocalAdmin } from '../gateway/local-admin.ts';
import { createLocalApi } from '../gateway/local-api.ts';
import { createMayApprove } from '../gateway/may-approve.ts';
import { createIsOwners } from '../gateway/owners-session.ts';
import { createPairing } from '../gateway/pairing.ts';
import { createTellPeople } from '../gateway/tell-people.ts';
import { createTellSession } from '../gateway/tell-session.ts';
import { createIdleHoldings } from '../gateway/idle-holdings.ts';
import { createSessionDrain, type RunWatcher } from '../gateway/session-drain.ts';
import { sessionFinder } from '../gateway/session-finder.ts';
import { createSessionNotes } from '../gateway/session-notes.ts';
import { StatelessSessions } from '../gateway/stateless-sessions.ts';
import { Watchdog } from '../gateway/watchdog.ts';
import { hashKey } from '../http/access-key.ts';
import type { KeyHash } from '../http/key-ring.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { RandomSource } from '../lib/random.ts';
import type { TalariaApi } from '../protocol/api.ts';
import type { NodeId } from '../protocol/ids.ts';
import { webhookChannel } from '../protocol/reply-place.ts';
import type { Store } from '../store/store.ts';
import { memoryOwnerOf } from '../tools/memory/memory-places.ts';
import { removeSpool } from '../tools/terminal/spool.ts';
import type { Tool } from '../tools/tool.ts';
import { createAgents } from './agents.ts';
import { backupHome } from './backup.ts';
import { spoolsFolder } from './home-folders.ts';
import { channelRules, ownWebhook } from './channel-rules.ts';
import { createOpenAiPort } from './openai-port.ts';
import type { ConfigSource } from './open-config.ts';
import { promptReport } from './prompt-report.ts';
import { quoteSettings } from './quote-settings.ts';
import { readMemory } from './read-memory.ts';
import { createStatus } from './status.ts';
import { tidySpools } from './tidy-spools.ts';
import { createToolbox } from './toolbox.ts';
import { skillCommand } from '../tools/skills/skill-command.ts';

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
  /** Takes known secrets out of a text. */
  readonly redact?: (text: string) => string;
  /** Those of platforms, as the configuration asks for them. */
  readonly channels?: readonly Channel[];
  /** Besides those; whoever writes through them is let in. */
  readonly extraChannels?: readonly Channel[];
  readonly extraTools?: readonly Tool[];
}

export interface Talaria {
  readonly api: TalariaApi;
  readonly openAi: OpenAiPort;
  readonly webhooks: WebhookPort;
  /** The named keys of the HTTP API, as they are now. */
  readonly keyHashes: () => readonly KeyHash[];
  /** Takes up unfinished work, begins to deliver, and opens the channels. */
  start(): Promise<void>;
  /** Takes no more messages, lets turns reach a safe point within `graceMs`, and settles deliveries under way. */
  leave(graceMs: number): Promise<void>;
}

/** Their door is guarded where they come in: whoever speaks through them has the machine, a key, or a webhook's secret. */
const guardedChannels = [...ownerChannels, 'api', webhookChannel];

export function compose(options: ComposeOptions): Talaria {
  const { config, store, owner, clock, ids, random, log } = options;
  const spoolRoot = join(options.home, spoolsFolder);
  const rules = channelRules(() => config.current());
  const extra = options.extraChannels ?? [];
  const platforms = [...(options.channels ?? []), ...extra];
  const find = sessionFinder(store.read);
  const frontEnd = (name: 'cli' | 'web') =>
    new FrontEndChannel({ name, clock, find, write: (sessionId, note) => writeNote(sessionId, note) });
  const frontEnds = { cli: frontEnd('cli'), web: frontEnd('web') };
  const channels = new Map<string, Channel>(
    [...Object.values(frontEnds), createLogChannel('api'), createLogChannel(webhookChannel), ...platforms].map(
      (channel) => [channel.name, channel],
    ),
  );
  const hub = createLiveHub();
  const live = new LiveDelivery({ store, clock, log, channels });
  const outbox = createOutbox({ store, owner, clock, log, channels, drafts: live });
  const authorize = createAuthorize({
    trusted: [...guardedChannels, ...extra.map(({ name }) => name)],
    policy: rules.policy,
    people: store.read.people,
  });
  const isOwners = createIsOwners({ authorize, policy: rules.policy, session: store.read.session });
  const toolbox = createToolbox({ ...options, isOwners, tell: (note) => tell(note) });
  const agents = createAgents({ ...options, toolbox });
  const watchers: RunWatcher[] = [live];
  const drain = createSessionDrain({
    store,
    owner,
    hub,
    clock,
    ids,
    random,
    log,
    watchers,
    agentFor: agents.borrow,
    onRan: outbox.poke,
  });
  const { stopBecause } = drain;
  const tell = createTellSession({ store, ids, wake: drain.wake });
  const holder = ids.next('nod');
  const writeNote = createSessionNotes({ store, clock, hub, drain, holder });
  const inactivity = { limits: rules.inactivity, stopBecause, onQueued: outbox.poke };
  const watchdog = new Watchdog({ store, clock, ids, log, hub, ...inactivity });
  const mayApprove = createMayApprove(() => config.current().approvals.approvers);
  const owners = createAskOwners({
    store,
    clock,
    ids,
    log,
    policy: rules.policy,
    isOwners,
    mayApprove,
    poke: outbox.poke,
  });
  watchers.push(watchdog, owners);
  const hardClose = createHardClose({
    whenIdle: drain.whenIdle,
    dropAgent: agents.drop,
    holdings: toolbox.holdings,
    log,
  });

  const identify = createIdentify({ authorize, groupsAreShared: rules.groupsAreShared });
  const pairing = createPairing({
    store,
    clock,
    ids,
    random,
    hasConfiguredOwners: (channel) => (rules.policy(channel)?.owners.length ?? 0) > 0,
    poke: outbox.poke,
  });
  const idle = createIdleHoldings({
    holdings: toolbox.holdings,
    idleMs: () => config.current().terminal.idle_hours * 3_600_000,
    read: store.read,
    tell: createTellPeople({ store, ids, poke: outbox.poke }),
    clock,
    log,
  });
  const status = createStatus({ ...options, agents, turns: drain.counts, toolbox, held: idle.list });
  const quote: Parameters<typeof createLocalApi>[0]['quote'] = (session, settings) =>
    quoteSettings({ read: store.read, agents }, session, settings);
  const commands = createCommands({
    mayApprove,
    store,
    clock,
    ids,
    log,
    drain,
    status,
    quote,
    hardClose,
    holder,
    memory: (identity) =>
      readMemory(options.home, {
        ...identity,
        owner: memoryOwnerOf(identity, config.current().memory.shared_with),
      }),
    userCommands: rules.userCommands,
    checkpoints: toolbox.checkpoints,
    reloadMcp: toolbox.mcp.reload,
    skills: {
      list: async () => (await toolbox.skills.list()).skills.filter(({ state }) => state === 'offered'),
      message: skillCommand,
    },
  });
  const answering = { commands, wasAnswered: store.read.wasAnswered, poke: outbox.poke };
  const intake = createIntake({
    store,
    ids,
    identify,
    pairing,
    commands: answering,
    requiresMention: rules.requiresMention,
    busyMode: rules.busyMode,
    wake: drain.wake,
    interrupt: drain.stop,
  });
  const press = createAnswerPress({ ...answering, store, ids, identify, clock, wake: drain.wake, mayApprove });

  const port: ChannelPort = { receive: (message) => intake.receive(message), press, mayFetch: intake.mayFetch };
  // They have nothing to connect to, and a program that runs by itself opens no other channels.
  for (const channel of Object.values(frontEnds)) void channel.start(port);

  let keyHashes: readonly KeyHash[] = [];
  const readKeys = async () => {
    keyHashes = await store.read.apiKeys();
  };
  const api = createLocalApi({
    store,
    intake,
    drain,
    hub,
    ids,
    status,
    quote,
    prompt: (session) => promptReport({ read: store.read, freshHead: agents.freshHead }, session),
    frontEnds,
    admin: createLocalAdmin({
      store,
      clock,
      ids,
      random,
      pairing,
      channels: () => [...platforms.map(({ name }) => name), 'web'],
      placeProblem: async (channel, place) => {
        if (channel !== 'web') return channels.get(channel)?.targetProblem?.(place) ?? null;
        return (await find(place)) === null ? `There is no session named ${place}.` : null;
      },
      hashKey,
      poke: outbox.poke,
      onKeysChanged: readKeys,
      tools: agents.tools,
    }),
    backup: () => backupHome(options.home, options.storePath, store),
    async onDeleted(sessionId) {
      await hardClose(sessionId);
      await removeSpool({ clock }, join(spoolRoot, sessionId));
      await toolbox.checkpoints.remove(sessionId);
    },
  });
  const stateless = new StatelessSessions({ read: store.read, clock, log, remove: (id) => api.delete(id) });
  let isLeaving = false;
  return {
    api,
    openAi: createOpenAiPort({
      store,
      intake,
      drain,
      hub,
      agents,
      ids,
      clock,
      hardClose,
      stateless,
      isLeaving: () => isLeaving,
    }),
    webhooks: {
      find: (name) => ownWebhook(config.current(), name),
      admit: (message, name) => intake.admit(message, { into: { name } }),
    },
    keyHashes: () => keyHashes,
    async start() {
      stateless.start();
      tidySpools({ clock, read: store.read }, spoolRoot).catch((error: unknown) =>
        log.warn('spools not tidied', { error }),
      );
      await readKeys();
      await live.recover();
      await drain.recover();
      outbox.poke();
      idle.start();
      for (const channel of channels.values()) await channel.start(port, commands.menu);
      toolbox.settle().catch((error: unknown) => log.warn('tools not settled', { error }));
    },
    async leave(graceMs) {
      isLeaving = true;
      await stateless.close();
      await Promise.all([...channels.values()].map((channel) => channel.stop()));
      intake.close();
      await drain.leave(graceMs);
      await live.close();
      watchdog.close();
      await outbox.close();
      hub.close();
      agents.close();
      idle.close();
      await toolbox.close();
    },
  };
}
