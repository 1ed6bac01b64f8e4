/** Messages to a process that is killed over and over: each is stored, in its order, and what is stored is confirmed. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Message } from 'grammy/types';
import { seededRandom } from '../src/lib/random.ts';
import { startTelegramServer } from './telegram-server/telegram-server.ts';

const lives = 5;
const messagesPerLife = 100;
const people = 5;

test('no message to Telegram is lost by kill -9, and none is confirmed before it is stored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-telegram-'));
  const file = join(folder, 'stored');
  writeFileSync(file, '');
  const server = await startTelegramServer();
  const random = seededRandom(7);
  const stored = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const idOf = ({ chat, message_id: id }: Pick<Message, 'chat' | 'message_id'>) =>
    `${server.world.bot.id}:${chat.id}:${id}`;
  const written: string[] = [];
  const children: ChildProcess[] = [];
  const begin = () => {
    const script = join(import.meta.dirname, 'telegram-server/store-to-file.ts');
    const child = spawn(process.execPath, [script, server.url, server.token, file], { stdio: 'inherit' });
    children.push(child);
    return child;
  };
  try {
    for (let life = 0; life < lives; life += 1) {
      for (let count = 0; count < messagesPerLife; count += 1) {
        const text = `message ${written.length}`;
        const { message } = server.people.write({ from: { id: 100 + (count % people) }, text });
        written.push(`${idOf(message)} ${text}`);
      }
      const child = begin();
      const ended = once(child, 'close');
      const target = stored().length + 1 + Math.floor(random.float() * 60);
      await server.until(() => stored().length >= target || server.updates.pending.length === 0, 'it has stored some');
      const isLast = life === lives - 1;
      if (isLast) await server.until(() => server.updates.pending.length === 0, 'everything is confirmed');
      child.kill(isLast ? 'SIGTERM' : 'SIGKILL');
      await ended;
      // Whatever the platform has forgotten is in the file.
      const unconfirmed = new Set(
        server.updates.pending.map(({ message }) => (message === undefined ? '' : idOf(message))),
      );
      const inFile = new Set(stored());
      for (const line of written) assert.ok(inFile.has(line) || unconfirmed.has(line.split(' ')[0] ?? ''), line);
    }
    const first = [...new Set(stored())];
    assert.deepEqual(first.toSorted(), written.toSorted());
    for (let id = 100; id < 100 + people; id += 1) {
      const of = (lines: readonly string[]) => lines.filter((line) => line.includes(`:${id}:`));
      assert.deepEqual(of(first), of(written));
    }
    assert.ok(stored().length > written.length, 'no kill came between storing and confirming');
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await server.close();
    rmSync(folder, { recursive: true });
  }
});
