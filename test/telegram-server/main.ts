/** The scripted Telegram as a process of its own: `node test/telegram-server/main.ts [--port N] [--token T] [--username NAME]`. */
import { parseArgs } from 'node:util';
import { startTelegramServer, testToken } from './telegram-server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    token: { type: 'string', default: testToken },
    username: { type: 'string', default: 'talaria_bot' },
  },
});

const { token, username } = values;
const server = await startTelegramServer({ port: Number(values.port), token, username });
console.log(`listening on ${server.url}`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.close());
