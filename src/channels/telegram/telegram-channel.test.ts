import { channelSuite } from '../channel-suite.ts';
import { createTelegramChannel } from './telegram-channel.ts';
import { silentLog } from '../../lib/log.ts';
import { systemClock } from '../../lib/clock.ts';
import { startTelegramServer } from '../../../test/telegram-server/telegram-server.ts';
import { ann, quickTimes, shown } from './test-stage.ts';

channelSuite('Telegram', async () => {
  const server = await startTelegramServer();
  server.world.chat({ id: ann.id, type: 'private' });
  return {
    target: String(ann.id),
    create: () =>
      createTelegramChannel({
        token: server.token,
        apiRoot: server.url,
        clock: systemClock,
        log: silentLog,
        times: quickTimes,
      }),
    write: (text) => server.people.write({ from: ann, text }),
    unconfirmed: () => server.updates.pending.length,
    shown: () => shown(server, ann.id),
    files: () =>
      server.world
        .said(ann.id)
        .filter(({ byBot, deleted }) => byBot && !deleted)
        .map(({ message: { photo, document, caption = '' } }) => {
          const id = photo?.at(-1)?.file_id ?? document?.file_id ?? '';
          const bytes = Uint8Array.from(server.world.file(id)?.bytes ?? []);
          return { kind: photo === undefined ? 'document' : 'picture', bytes, caption };
        }),
    hang: () => server.inject({ kind: 'hang-after', method: 'sendMessage' }),
    until: (holds, what) => server.until(holds, what),
    close: () => server.close(),
  };
});
