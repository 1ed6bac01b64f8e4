import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { callsTools, says, scriptedRuntime } from '../models/scripted-model.ts';
import type { SessionId } from '../protocol/ids.ts';
import { temporaryFolder } from '../tools/fake-tool-context.ts';
import { endSpool, listRunning, removeSpool } from '../tools/terminal/spool.ts';
import { createTerminalTool } from '../tools/terminal/terminal-tool.ts';
import { allGone, isGone, pidsIn } from '../tools/terminal/test-processes.ts';
import { createHardClose } from './hard-close.ts';
import { CachedSessions } from './test-cached-sessions.ts';

const clock = systemClock;

/** Sessions with a real terminal; what their commands put into the background is ended with the test. */
async function place(t: test.TestContext) {
  const top = await temporaryFolder(t);
  const [workspace, spoolRoot] = [join(top, 'workspace'), join(top, 'spool')];
  await mkdir(workspace);
  const terminal = createTerminalTool({ clock, defaultTimeoutMs: 20_000, env: process.env });
  const sessions = await CachedSessions.open({ tools: [terminal], workspace, spoolRoot });
  const known: SessionId[] = [];
  t.after(async () => {
    for (const sessionId of known) await removeSpool({ clock }, join(spoolRoot, sessionId));
    await sessions.close();
  });
  const newSession = () => {
    const sessionId = sessions.newSession();
    known.push(sessionId);
    return sessionId;
  };
  /** A turn that runs this command; what it gave. */
  const command = async (sessionId: SessionId, line: string): Promise<string> => {
    sessions.script = [callsTools({ name: 'terminal', arguments: { command: line } }), says('done')];
    await sessions.hears(sessionId, line);
    await sessions.run(sessionId);
    const results = (await sessions.store.read.entries(sessionId, { after: 0, limit: 1_000 })).flatMap((entry) =>
      entry.kind === 'message' && entry.message.role === 'tool' ? [entry.message.parts[0].text] : [],
    );
    return results.at(-1) ?? '';
  };
  /** Leaves something behind that goes on; the processes of it. */
  const leaveRunning = async (sessionId: SessionId): Promise<number[]> => {
    await command(sessionId, `sleep 600 > /dev/null 2>&1 & echo $! >> ${sessionId}.pids`);
    return pidsIn(join(workspace, `${sessionId}.pids`), 1);
  };
  const hardClose = createHardClose({
    whenIdle: () => Promise.resolve(),
    dropAgent: (sessionId) => sessions.cache.drop(sessionId),
    holdings: [{ name: 'commands', end: (sessionId) => endSpool({ clock }, join(spoolRoot, sessionId)) }],
    log: silentLog,
  });
  const closes = () => sessions.models.map(({ closeCount }) => closeCount);
  return { sessions, spoolRoot, newSession, command, leaveRunning, hardClose, closes };
}

test('C44 C45 C48 a session that was idle for hours, swept and written to again finds all as it was, with a new client', async (t) => {
  const { sessions, spoolRoot, newSession, command, leaveRunning, closes } = await place(t);
  const sessionId = newSession();
  const surroundings = 'pwd; ls; env | grep -v "^TALARIA_CALL" | sort';
  const pids = await leaveRunning(sessionId);
  const before = await command(sessionId, surroundings);
  assert.match(before, /\/workspace\n[^]*\.pids\n[^]*^PATH=/m);
  await sessions.clock.advance(7 * 3_600_000);
  assert.deepEqual([sessions.cache.counts().size, sessions.cache.counts().sweeps, closes()], [0, 1, [1]]);
  assert.deepEqual(await Promise.all(pids.map(isGone)), [false]);

  assert.equal(await command(sessionId, surroundings), before);
  assert.deepEqual(closes(), [1, 0], 'only the model client is new');
  assert.deepEqual(await Promise.all(pids.map(isGone)), [false]);
  const running = await listRunning(spoolRoot);
  assert.deepEqual(
    running.map(({ session, isBackground }) => [session, isBackground]),
    [[sessionId, true]],
  );
  const [{ messages: first } = { messages: [] }, last] = [sessions.requests[0], sessions.requests.at(-1)];
  assert.deepEqual(last?.messages.slice(0, first.length), first, 'its history comes from the store');
  assert.equal(sessions.heads, 1);
});

test('C46 a released agent closes its model client and does not keep it', async (t) => {
  const { sessions, newSession, command, closes } = await place(t);
  const sessionId = newSession();
  await command(sessionId, 'true');
  const { agent, giveBack } = await sessions.cache.borrow(sessionId, 'always the same', () => assert.fail());
  giveBack();
  sessions.cache.drop(sessionId);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(closes(), [1]);
  await agent.clients.get(scriptedRuntime());
  assert.deepEqual(closes(), [1, 1], 'whoever comes late gets another one, which nobody has to close');
});

test('C47 a session that is closed for good loses its processes and its agent, and no other session does', async (t) => {
  const { sessions, spoolRoot, newSession, leaveRunning, hardClose, closes } = await place(t);
  const [one, two] = [newSession(), newSession()];
  const mine = await leaveRunning(one);
  const others = await leaveRunning(two);
  await Promise.all([hardClose(one), hardClose(one)]);
  await hardClose(one);
  await allGone(mine);
  assert.deepEqual(await Promise.all(others.map(isGone)), [false]);
  assert.deepEqual(
    (await listRunning(spoolRoot)).map(({ session }) => session),
    [two],
  );
  assert.deepEqual([closes(), sessions.cache.counts().size], [[1, 0], 1]);
});

test('C47 what was said and printed stays, so that a closed session can be read and taken up again', async (t) => {
  const { sessions, spoolRoot, newSession, command, hardClose } = await place(t);
  const sessionId = newSession();
  await command(sessionId, 'echo printed once');
  const before = await sessions.store.read.entries(sessionId, { after: 0, limit: 1_000 });
  const call = before.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'tool' ? [entry.message.parts[0].callId] : [],
  )[0];
  await hardClose(sessionId);
  assert.equal(await readFile(join(spoolRoot, sessionId, call ?? '', 'output'), 'utf8'), 'printed once\n');
  assert.deepEqual(await sessions.store.read.entries(sessionId, { after: 0, limit: 1_000 }), before);
  assert.match(await command(sessionId, 'echo printed again'), /printed again/);
});

// --- in order ------------------------------------------------------------------------------------------------------

test('a turn under way is over before anything is taken from under it', async () => {
  const done: string[] = [];
  const turn = Promise.withResolvers<void>();
  const hardClose = createHardClose({
    whenIdle: () => turn.promise.then(() => void done.push('turn')),
    dropAgent: () => done.push('agent'),
    holdings: [{ name: 'commands', end: async () => void done.push('commands') }],
    log: silentLog,
  });
  const closing = hardClose(countingIdSource().next('ses'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(done, []);
  turn.resolve();
  await closing;
  assert.deepEqual(done, ['turn', 'agent', 'commands']);
});

test('one thing that can not be ended keeps nothing else alive, and whoever closes hears of it', async () => {
  const ended: string[] = [];
  let isBroken = true;
  const hardClose = createHardClose({
    whenIdle: () => Promise.resolve(),
    dropAgent: () => {},
    holdings: [
      {
        name: 'browser',
        end: () => {
          if (isBroken) throw new Error('the browser does not answer');
          ended.push('browser');
          return Promise.resolve();
        },
      },
      { name: 'commands', end: async () => void ended.push('commands') },
    ],
    log: silentLog,
  });
  const sessionId = countingIdSource().next('ses');
  await assert.rejects(hardClose(sessionId), /the browser does not answer/);
  assert.deepEqual(ended, ['commands']);
  isBroken = false;
  await hardClose(sessionId);
  assert.deepEqual(ended, ['commands', 'browser', 'commands']);
});
