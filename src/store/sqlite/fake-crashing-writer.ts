/**
 * For tests: a process that writes as fast as it can until it is killed. After each commit it prints which one was
 * acknowledged; every commit is a pair of notices, so that half a commit would show.
 *
 *   node fake-crashing-writer.ts PATH thread|inline NAME
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../lib/clock.ts';
import { createIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { systemRandom } from '../../lib/random.ts';
import { FakeConversation } from '../fake-conversation.ts';
import { openSqliteStore } from './sqlite-store.ts';

const [path, writer, prefix] = process.argv.slice(2);
if (path === undefined || (writer !== 'thread' && writer !== 'inline'))
  throw new Error('usage: PATH thread|inline NAME');

const clock = systemClock;
const ids = createIdSource({ clock, random: systemRandom });
const owner = ids.next('nod');
const store = await openSqliteStore({ path, clock, owner, log: silentLog, writer });

async function writeForEver(name: string): Promise<never> {
  const chat = new FakeConversation(store, ids, name, owner);
  await chat.openTurn();
  for (let number = 0; ; number++) {
    const text = String(number);
    await chat.commit({ verb: 'notice', turnId: null, text }, { verb: 'notice', turnId: null, text: `${text}, too` });
    writeSync(1, `${name} ${number}\n`);
  }
}

await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => writeForEver(`${prefix}-${letter}`)));
