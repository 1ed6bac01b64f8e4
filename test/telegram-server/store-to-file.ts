/**
 * A process that takes messages from Telegram and stores them in a file, for tests that kill it:
 * `node test/telegram-server/store-to-file.ts API_ROOT TOKEN FILE`. A message is stored when its line is.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InboxId, SessionId } from '../../src/protocol/ids.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { textOf } from '../../src/protocol/messages.ts';
import { createTelegramChannel } from '../../src/channels/telegram/telegram-channel.ts';

const [apiRoot = '', token = '', file = ''] = process.argv.slice(2);

const channel = createTelegramChannel({ apiRoot, token, clock: systemClock, log: silentLog });
await channel.start(
  {
    async receive({ externalId, message }) {
      await sleep(Math.random() * 4);
      appendFileSync(file, `${externalId} ${textOf(message)}\n`);
      await sleep(Math.random() * 4);
      return { kind: 'accepted', sessionId: 'ses_x' as SessionId, inboxId: 'inb_x' as InboxId, duplicate: false };
    },
    press: () => Promise.resolve({ text: 'ok', settled: true }),
    mayFetch: () => Promise.resolve(true),
  },
  [],
);
process.once('SIGTERM', () => void channel.stop());
