/** A scripted Telegram and channels to it, for this folder's tests. Waits are short; time is real. */
import { systemClock, type Clock } from '../../lib/clock.ts';
import { createLog, type Log } from '../../lib/log.ts';
import { seededRandom } from '../../lib/random.ts';
import { createRedactor } from '../../lib/redact.ts';
import { startTelegramServer } from '../../../test/telegram-server/telegram-server.ts';
import type { TelegramServer } from '../../../test/telegram-server/server-contract.ts';
import type { Delivery } from '../channel.ts';
import { FakeChannelPort } from '../fake-channel-port.ts';
import type { OutboxId } from '../../protocol/ids.ts';
import { createTelegramChannel, type TelegramChannel } from './telegram-channel.ts';
import type { TelegramOptions, TelegramTimes } from './telegram-options.ts';

export const ann = { id: 42, name: 'Ann', username: 'ann' };
export const bob = { id: 43, name: 'Bob' };
export const group = { id: -1001, type: 'supergroup', title: 'Friends' } as const;
export const forum = { id: -1002, type: 'supergroup', title: 'Forum', isForum: true } as const;

export const quickTimes: TelegramTimes = {
  pollS: 20,
  requestTimeoutMs: 5_000,
  downloadTimeoutMs: 5_000,
  uploadTimeoutMs: 5_000,
  graceMs: 20,
  albumWaitMs: 20,
  firstDelayMs: 4,
  delayMaxMs: 20,
  editEveryMs: 0,
  groupEditEveryMs: 0,
};

export interface TelegramStage {
  readonly server: TelegramServer;
  readonly port: FakeChannelPort;
  /** Every line that was logged. */
  readonly lines: string[];
  channel(options?: Partial<TelegramOptions>): TelegramChannel;
}

/** Channels are stopped and the server closed when `use` is over. */
export async function onTelegram(use: (stage: TelegramStage) => Promise<void>): Promise<void> {
  const server = await startTelegramServer();
  const port = new FakeChannelPort();
  const lines: string[] = [];
  const channels: TelegramChannel[] = [];
  try {
    await use({
      server,
      port,
      lines,
      channel(options = {}) {
        const { clock = systemClock, times } = options;
        const channel = createTelegramChannel({
          token: server.token,
          apiRoot: server.url,
          log: logTo(lines, clock),
          random: seededRandom(1),
          ...options,
          clock,
          times: { ...quickTimes, ...times },
        });
        channels.push(channel);
        return channel;
      },
    });
  } finally {
    await Promise.all(channels.map((channel) => channel.stop()));
    await server.close();
  }
}

function logTo(lines: string[], clock: Clock): Log {
  return createLog({ clock, level: 'debug', redactor: createRedactor(), writeLine: (line) => void lines.push(line) });
}

export function delivery(change: Partial<Delivery> = {}): Delivery {
  return {
    id: 'out_test' as OutboxId,
    sessionId: null,
    target: String(ann.id),
    text: 'hello',
    dedupeId: 'out_test/1',
    replaces: null,
    buttons: [],
    file: null,
    ...change,
  };
}

/** What the bot has said in a chat and not deleted. */
export function shown(server: TelegramServer, chat: number): readonly string[] {
  return server.world
    .said(chat)
    .filter(({ byBot, deleted }) => byBot && !deleted)
    .map(({ message }) => message.text ?? '');
}

export const unending = new AbortController().signal;
