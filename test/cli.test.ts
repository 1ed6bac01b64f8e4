/** The program as its users meet it: real processes, real homes, with and without a gateway. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { SessionEvent } from '../src/protocol/events.ts';
import type { Entry } from '../src/protocol/messages.ts';
import {
  freshFolder,
  freshHome,
  runTalaria,
  startGateway,
  startTalaria,
  type Finished,
} from './support/talaria-process.ts';

type EndLine = { kind: 'end'; outcome: string; text: string; session: string | null };

function jsonLines<T>(text: string): T[] {
  return text
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** One clear line on stderr, nothing on stdout, this exit code. */
function assertRefused(result: Finished, code: number, message: RegExp): void {
  assert.match(result.stderr, /^talaria: [^\n]+\n$/);
  assert.match(result.stderr, message);
  assert.doesNotMatch(result.stderr, /\n {4}at /);
  assert.deepEqual({ code: result.code, stdout: result.stdout }, { code, stdout: '' });
}

async function assertAnswered(result: Finished, reply: RegExp): Promise<void> {
  assert.deepEqual({ code: result.code, stderr: result.stderr }, { code: 0, stderr: '' });
  assert.match(result.stdout, reply);
  assert.ok(result.stdout.endsWith('\n'));
}

describe('asking once', { concurrency: true }, () => {
  test('prints the final reply and nothing else', async (t) => {
    const home = await freshHome(t);
    await assertAnswered(await runTalaria(t, ['-p', 'hello'], { home }), /rehearsal/);
    assert.equal((await stat(home)).mode & 0o777, 0o700);
  });

  test('takes the prompt from standard input, or adds it to the one given', async (t) => {
    const home = await freshHome(t);
    await assertAnswered(await runTalaria(t, [], { home, input: 'run echo "$((6*7))"' }), /42/);
    const both = await runTalaria(t, ['-p', 'hello', '--session', 'both'], { home, input: 'more to read\n' });
    assert.equal(both.code, 0);
    const shown = await runTalaria(t, ['sessions', 'show', 'both', '--json'], { home });
    const asked = jsonLines<Entry>(shown.stdout).find((entry) => entry.kind === 'message');
    assert.deepEqual(asked?.message, {
      role: 'user',
      parts: [{ kind: 'text', text: 'hello\n\nmore to read\n' }],
      isUnattended: true,
    });
  });

  test('does not wait for an input that the program before it never closes', async (t) => {
    const home = await freshHome(t);
    await assertAnswered(await runTalaria(t, ['-p', 'hello'], { home, input: null }), /rehearsal/);
  });

  test('with --json prints one event per line and ends with the outcome', async (t) => {
    const home = await freshHome(t);
    const result = await runTalaria(t, ['-p', 'run echo hi', '--json', '--session', 'mine'], { home });
    assert.deepEqual([result.code, result.stderr], [0, '']);
    const lines = jsonLines<SessionEvent | EndLine>(result.stdout);
    const end = lines.pop();
    const entries = lines.filter((line) => line.kind === 'entry').map(({ entry }) => entry);
    assert.deepEqual(
      entries.map((entry) => entry.seq),
      entries.map((_, index) => index + 1),
    );
    assert.equal(entries.at(-1)?.kind, 'turn-closed');
    const last = entries.findLast((entry) => entry.kind === 'message');
    assert.ok(last?.kind === 'message' && last.message.role === 'assistant');
    const text = last.message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    assert.deepEqual(end, { kind: 'end', outcome: 'answered', text, session: 'mine' });
  });

  test('goes on with a named session and with the latest one', async (t) => {
    const home = await freshHome(t);
    assertRefused(await runTalaria(t, ['-p', 'hi', '--continue'], { home }), 1, /no session to continue/);
    await runTalaria(t, ['-p', 'one', '--session', 'first'], { home });
    await runTalaria(t, ['-p', 'two', '--session', 'second'], { home });
    await runTalaria(t, ['-p', 'three', '--session', 'first'], { home });
    const end = jsonLines<EndLine>((await runTalaria(t, ['-p', 'four', '--continue', '--json'], { home })).stdout).at(
      -1,
    );
    assert.equal(end?.session, 'first');
    const listed = jsonLines<{ name: string; messages: number }>(
      (await runTalaria(t, ['sessions', 'list', '--json'], { home })).stdout,
    );
    assert.deepEqual(
      listed.map(({ name, messages }) => ({ name, messages })),
      [
        { name: 'first', messages: 6 },
        { name: 'second', messages: 2 },
      ],
    );
  });

  test('through a gateway gives the same and leaves the home to it', async (t) => {
    const home = await freshHome(t);
    const gateway = await startGateway(t, { home });
    await assertAnswered(await runTalaria(t, ['-p', 'run echo "$((6*7))"', '--session', 'mine'], { home }), /42/);
    const json = await runTalaria(t, ['-p', 'hello', '--continue', '--json'], { home });
    assert.deepEqual(
      [json.code, jsonLines<EndLine>(json.stdout).at(-1)?.outcome, jsonLines<EndLine>(json.stdout).at(-1)?.session],
      [0, 'answered', 'mine'],
    );
    const status = await runTalaria(t, ['status', '--json'], { home });
    const report = JSON.parse(status.stdout) as { pid: number; turns: { done: number } };
    assert.deepEqual([report.pid, report.turns.done], [gateway.process.pid, 2]);
    assert.equal((await gateway.stop()).code, 0);
    assertRefused(await runTalaria(t, ['status'], { home }), 1, /no gateway runs .* talaria gateway/);
  });

  test('uses the key of a gateway that wants one', async (t) => {
    const home = await freshHome(t);
    const set = await runTalaria(t, ['config', 'set', 'channels.api.key', 'a-long-enough-key'], { home });
    assert.equal(set.code, 0, set.stderr);
    await startGateway(t, { home });
    await assertAnswered(await runTalaria(t, ['-p', 'hello'], { home }), /rehearsal/);
  });
});

describe('wrong usage', { concurrency: true }, () => {
  const cases: [name: string, args: string[], input: string | Uint8Array | undefined, message: RegExp][] = [
    ['an unknown command', ['gatewya'], undefined, /did you mean talaria gateway\?/],
    ['an unknown option', ['-p', 'x', '--jsno'], undefined, /did you mean --json\?/],
    ['a missing operand', ['backup'], undefined, /needs FILE/],
    ['an empty prompt', ['-p', ' \n'], undefined, /prompt is empty/],
    ['no prompt at all', [], '', /prompt is empty/],
    ['binary input', ['-p', 'what is this'], Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 1, 2), /not UTF-8 text/],
    ['input that is no UTF-8', [], Uint8Array.of(0x68, 0xff, 0xfe), /not UTF-8 text/],
    ['a lone surrogate', [], Uint8Array.of(0x68, 0xed, 0xa0, 0x80), /not UTF-8 text/],
    [
      'a prompt of 10 MB',
      [],
      'x'.repeat(10_000_000),
      /has 10,000,000 bytes, the limit is 1,000,000; put it into a file/,
    ],
    ['a session name that leads out', ['-p', 'x', '--session', '../x'], undefined, /a session name has 1 to 64/],
    ['two sessions at once', ['-p', 'x', '--session', 'a', '--continue'], undefined, /exclude each other/],
    ['a port that is none', ['gateway', '--port', '70000'], undefined, /from 0 to 65535/],
    ['deleting with nobody to ask', ['sessions', 'delete', 'x'], undefined, /add --yes/],
  ];
  for (const [name, args, input, message] of cases) {
    test(`is ${name}: exit code 2, one line, nothing touched`, async (t) => {
      const home = await freshHome(t);
      const result = await runTalaria(t, args, input === undefined ? { home } : { home, input });
      assertRefused(result, 2, message);
      assert.equal(existsSync(home), false);
    });
  }

  test('has help everywhere, and --version is one line', async (t) => {
    const home = await freshHome(t);
    for (const args of [['--help'], ['sessions', '--help'], ['help', 'restore'], ['config', 'set', '-h']]) {
      const result = await runTalaria(t, args, { home });
      assert.deepEqual([result.code, result.stderr], [0, '']);
      assert.match(result.stdout, /^Usage: talaria/);
    }
    assert.match((await runTalaria(t, ['--version'], { home })).stdout, /^\d+\.\d+\.\d+\n$/);
    assert.equal(existsSync(home), false);
  });
});

describe('one home, one process', { concurrency: true }, () => {
  test('a second gateway is told who holds the home', async (t) => {
    const home = await freshHome(t);
    const gateway = await startGateway(t, { home });
    const second = await runTalaria(t, ['gateway', '--port', '0'], { home });
    assertRefused(second, 1, new RegExp(`gateway \\(pid ${gateway.process.pid}, ${gateway.url}\\)`));
  });

  test('a second one-shot waits a little and is told who holds the home', async (t) => {
    const home = await freshHome(t);
    const first = startTalaria(t, ['-p', 'run sleep 30', '--json'], { home });
    await first.printed(/"call-started"/);
    assertRefused(await runTalaria(t, ['-p', 'hello'], { home }), 1, new RegExp(`talaria -p \\(pid ${first.pid}\\)`));
  });

  test('the next start takes over at once after a kill -9', async (t) => {
    const home = await freshHome(t);
    const gateway = await startGateway(t, { home });
    gateway.process.kill('SIGKILL');
    await gateway.process.ended;
    await assertAnswered(await runTalaria(t, ['-p', 'hello'], { home }), /rehearsal/);
    const next = await startGateway(t, { home });
    assert.notEqual(next.process.pid, gateway.process.pid);
  });
});

describe('a gateway that goes away under a question', { concurrency: true }, () => {
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`by ${signal}: the question is answered once all the same`, async (t) => {
      const home = await freshHome(t);
      const gateway = await startGateway(t, { home });
      const asking = startTalaria(t, ['-p', 'run sleep 3', '--json', '--session', 'mine'], { home });
      await asking.printed(/"call-started"/);
      gateway.process.kill(signal);
      const result = await asking.ended;
      const lines = jsonLines<SessionEvent | EndLine>(result.stdout);
      const end = lines.pop() as EndLine;
      assert.deepEqual([result.code, end.outcome, end.session], [0, 'answered', 'mine'], result.stderr);
      const shown = await runTalaria(t, ['sessions', 'show', 'mine', '--json'], { home });
      const stored = jsonLines<Entry>(shown.stdout);
      const seen = lines.filter((line) => line.kind === 'entry').map(({ entry }) => entry);
      assert.deepEqual(seen, stored);
      const questions = stored.filter((entry) => entry.kind === 'message' && entry.message.role === 'user');
      assert.equal(questions.length, 1);
    });
  }

  test('and comes back: the new gateway answers', async (t) => {
    const home = await freshHome(t);
    const gateway = await startGateway(t, { home });
    const asking = startTalaria(t, ['-p', 'run sleep 2', '--json', '--session', 'mine'], { home });
    await asking.printed(/"call-started"/);
    gateway.process.kill('SIGKILL');
    const next = startTalaria(t, ['gateway', '--port', '0'], { home });
    const result = await asking.ended;
    assert.equal(jsonLines<EndLine>(result.stdout).at(-1)?.outcome, 'answered', result.stderr);
    next.kill('SIGTERM');
  });
});

describe('Ctrl-C', { concurrency: true }, () => {
  test('while the prompt is read: nothing was begun', async (t) => {
    const home = await freshHome(t);
    const asking = startTalaria(t, [], { home, input: null });
    await asking.printed(/reading the prompt/, 'stderr');
    asking.kill('SIGINT');
    assert.equal((await asking.ended).code, 130);
    assert.equal(existsSync(home), false);
  });

  for (const place of ['in this process', 'in the gateway']) {
    test(`during the turn stops it, ${place}`, async (t) => {
      const home = await freshHome(t);
      if (place === 'in the gateway') await startGateway(t, { home });
      const asking = startTalaria(t, ['-p', 'run sleep 30', '--json', '--session', 'mine'], { home });
      await asking.printed(/"call-started"/);
      asking.kill('SIGINT');
      const result = await asking.ended;
      const end = jsonLines<EndLine>(result.stdout).at(-1);
      assert.deepEqual([result.code, end?.outcome, end?.session], [130, 'stopped', 'mine']);
      const shown = await runTalaria(t, ['sessions', 'show', 'mine', '--json'], { home });
      assert.equal(jsonLines<Entry>(shown.stdout).at(-1)?.kind, 'turn-closed');
    });
  }

  test('twice leaves at once, and the next start finishes the turn', async (t) => {
    const home = await freshHome(t);
    const asking = startTalaria(t, ['-p', 'run trap "" INT TERM; sleep 3; echo over', '--json', '--session', 'mine'], {
      home,
    });
    await asking.printed(/"call-started"/);
    asking.kill('SIGINT');
    asking.kill('SIGINT');
    const { code } = await asking.ended;
    assert.equal(code, 130);
    await assertAnswered(await runTalaria(t, ['-p', 'hello', '--session', 'mine'], { home }), /./);
  });

  test('drains the gateway and ends it well; a second one ends it at once', async (t) => {
    const home = await freshHome(t);
    const idle = await startGateway(t, { home });
    idle.process.kill('SIGINT');
    const drained = await idle.process.ended;
    assert.deepEqual([drained.code, drained.stderr], [0, '']);

    const busy = await startGateway(t, { home });
    const asking = startTalaria(t, ['-p', 'run sleep 30', '--json'], { home });
    await asking.printed(/"call-started"/);
    busy.process.kill('SIGINT');
    while ((await fetch(`${busy.url}/readyz`)).status === 200);
    busy.process.kill('SIGINT');
    assert.equal((await busy.process.ended).code, 1);
  });
});

test('named keys are listed for people and as JSON, and never the keys themselves', async (t) => {
  const home = await freshHome(t);
  await runTalaria(t, ['config', 'set', 'channels.api.key', 'a-long-enough-key'], { home });
  assert.equal((await runTalaria(t, ['keys', 'list', '--json'], { home })).stdout, '[]\n');
  await runTalaria(t, ['keys', 'add', 'laptop'], { home });
  assert.match((await runTalaria(t, ['keys', 'list'], { home })).stdout, /^NAME +MADE\nlaptop +\d{4}-[^\n]+\n$/);
  const [key, ...others] = JSON.parse((await runTalaria(t, ['keys', 'list', '--json'], { home })).stdout) as object[];
  assert.deepEqual([Object.keys(key ?? {}), others], [['name', 'createdAt'], []]);
});

describe('the configuration', { concurrency: true }, () => {
  test('is set, read back, shown and checked', async (t) => {
    const home = await freshHome(t);
    const set = await runTalaria(t, ['config', 'set', 'gateway.port', '9123'], { home });
    assert.deepEqual([set.code, set.stdout], [0, '']);
    assert.match(set.stderr, /takes it up when it is started again/);
    const live = await runTalaria(t, ['config', 'set', 'channels.telegram.owners', '12345'], { home });
    assert.equal(live.stderr, `set channels.telegram.owners in ${join(home, 'config.yaml')}\n`);
    assert.equal((await runTalaria(t, ['config', 'get', 'gateway.port'], { home })).stdout, '9123\n');
    assert.match((await runTalaria(t, ['config', 'show'], { home })).stdout, /port: 9123/);
    assert.equal((await runTalaria(t, ['config', 'path'], { home })).stdout, `${join(home, 'config.yaml')}\n`);
    assert.equal((await runTalaria(t, ['config', 'check'], { home })).code, 0);
    assertRefused(await runTalaria(t, ['config', 'get', 'gateway.prt'], { home }), 1, /gateway\.port|`port`/);
    assertRefused(await runTalaria(t, ['config', 'set', 'gateway.prt', '1'], { home }), 1, /nothing was changed/);
    assertRefused(await runTalaria(t, ['config', 'set', 'gateway.port', 'x'], { home }), 1, /nothing was changed/);
    assert.equal((await runTalaria(t, ['config', 'get', 'gateway.port'], { home })).stdout, '9123\n');
  });

  test('keeps secrets out of config.yaml and out of what is shown', async (t) => {
    const home = await freshHome(t);
    await runTalaria(t, ['config', 'set', 'channels.api.key', 'open-sesame-please'], { home });
    const shown = await runTalaria(t, ['config', 'show'], { home });
    const got = await runTalaria(t, ['config', 'get', 'channels.api.key'], { home });
    const file = await readFile(join(home, 'config.yaml'), 'utf8');
    assert.doesNotMatch(shown.stdout + got.stdout + file, /open-sesame/);
    assert.equal((await stat(join(home, '.env'))).mode & 0o777, 0o600);
  });

  test('has every mistake named with its line, and none of them lets a command begin', async (t) => {
    const home = await freshHome(t);
    await mkdir(home, { mode: 0o700 });
    const path = join(home, 'config.yaml');
    await writeFile(path, 'gateway:\n  prt: 1\n  port: lots\n');
    const checked = await runTalaria(t, ['config', 'check'], { home });
    assert.deepEqual([checked.code, checked.stdout], [1, '']);
    const places = checked.stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(0, line.indexOf(': ')));
    assert.deepEqual(places, [`${path}:2:3`, `${path}:3:9`]);
    assertRefused(await runTalaria(t, ['-p', 'hello'], { home }), 1, /config\.yaml:2:3.*config check/);
  });

  const files: [name: string, bytes: string | Uint8Array, code: number][] = [
    ['empty', '', 0],
    ['only comments', '# nothing\n', 0],
    ['a list', '- a\n- b\n', 1],
    ['half a file', 'gateway:\n  host: "127.0', 1],
    ['UTF-16', Buffer.from('\ufeffgateway: {}\n', 'utf16le'), 1],
  ];
  for (const [name, bytes, code] of files) {
    test(`that is ${name} is judged by check and by a start alike`, async (t) => {
      const home = await freshHome(t);
      await mkdir(home, { mode: 0o700 });
      await writeFile(join(home, 'config.yaml'), bytes);
      const checked = await runTalaria(t, ['config', 'check'], { home });
      const asked = await runTalaria(t, ['-p', 'hello'], { home });
      assert.deepEqual([checked.code, asked.code], [code, code]);
      if (code === 0) return;
      assert.match(checked.stderr, /config\.yaml/);
      assertRefused(asked, 1, /config\.yaml/);
    });
  }
});

describe('sessions', { concurrency: true }, () => {
  for (const place of ['in this process', 'through a gateway']) {
    test(`are exported, imported, searched, shown and deleted ${place}`, async (t) => {
      const home = await freshHome(t);
      const file = join(await freshFolder(t), 'mine.jsonl');
      if (place === 'through a gateway') await startGateway(t, { home });
      await runTalaria(t, ['-p', 'run echo marmalade', '--session', 'mine'], { home });

      assert.equal((await runTalaria(t, ['sessions', 'export', 'mine', file], { home })).code, 0);
      assertRefused(await runTalaria(t, ['sessions', 'export', 'mine', file], { home }), 1, /exists already.*--force/);
      const exported = await readFile(file, 'utf8');
      assert.equal((await runTalaria(t, ['sessions', 'export', 'mine'], { home })).stdout, exported);

      assertRefused(await runTalaria(t, ['sessions', 'import', file], { home }), 1, /mine/);
      const copied = await runTalaria(t, ['sessions', 'import', '-', '--name', 'copy'], { home, input: exported });
      assert.equal(copied.code, 0, copied.stderr);
      const [original, copy] = await Promise.all(
        ['mine', 'copy'].map(async (name) => {
          const shown = await runTalaria(t, ['sessions', 'show', name, '--json'], { home });
          return jsonLines<Entry>(shown.stdout).map(({ kind, seq, at }) => ({ kind, seq, at }));
        }),
      );
      assert.deepEqual(copy, original);
      assert.match(
        (await runTalaria(t, ['sessions', 'show', 'copy'], { home })).stdout,
        /^you .*\nrun echo marmalade\n\n▸ terminal echo marmalade … done\n {2}marmalade\n/,
      );
      assert.match((await runTalaria(t, ['sessions', 'search', 'marmalade'], { home })).stdout, /‹marmalade›/);
      const rebuilt = await runTalaria(t, ['sessions', 'search', '--rebuild', 'marmalade'], { home });
      assert.deepEqual([rebuilt.code, rebuilt.stderr], [0, 'the index was built anew\n']);
      assert.match(rebuilt.stdout, /‹marmalade›/);
      assert.match((await runTalaria(t, ['sessions', 'list'], { home })).stdout, /^NAME +STATE/);

      const forked = await runTalaria(t, ['sessions', 'fork', 'mine', 'fork'], { home });
      assert.deepEqual([forked.code, forked.stdout], [0, 'fork\n']);
      assert.match((await runTalaria(t, ['sessions', 'show', 'fork'], { home })).stdout, /! A copy of mine; /);
      assertRefused(await runTalaria(t, ['sessions', 'fork', 'mine', 'copy'], { home }), 1, /copy/);
      await assertAnswered(await runTalaria(t, ['-p', 'hello', '--session', 'fork'], { home }), /./);
      assert.equal((await runTalaria(t, ['sessions', 'delete', '--yes', 'fork'], { home })).code, 0);

      assertRefused(await runTalaria(t, ['sessions', 'show', 'mime'], { home }), 1, /did you mean "mine"\?/);
      assertRefused(await runTalaria(t, ['sessions', 'delete', '--yes', 'copy', 'mime'], { home }), 1, /mine/);
      assert.equal((await runTalaria(t, ['sessions', 'delete', '--yes', 'copy', 'mine'], { home })).code, 0);
      const left = await runTalaria(t, ['sessions', 'list'], { home });
      assert.deepEqual([left.stdout, left.stderr], ['', 'no sessions yet; start one with: talaria -p "hello"\n']);
    });
  }

  test('are refused for import if they are not what export wrote', async (t) => {
    const home = await freshHome(t);
    for (const input of ['', 'hello\n', '{"half":', '{}\n{}\n', Uint8Array.of(0xff, 0xfe)]) {
      assertRefused(await runTalaria(t, ['sessions', 'import', '-'], { home, input }), 1, /./);
    }
    assertRefused(await runTalaria(t, ['sessions', 'import', '/nowhere/x'], { home }), 1, /\/nowhere\/x.*no such file/);
  });

  test('are shown to a reader who leaves early without a word', async (t) => {
    const home = await freshHome(t);
    await runTalaria(t, ['-p', 'run seq 200000', '--session', 'mine'], { home });
    const showing = startTalaria(t, ['sessions', 'export', 'mine'], { home });
    showing.child.stdout?.destroy();
    const { code, stderr } = await showing.ended;
    assert.deepEqual([code, stderr], [0, '']);
  });
});

describe('backup and restore', { concurrency: true }, () => {
  for (const place of ['in this process', 'through a gateway']) {
    test(`bring everything into another home, ${place}`, async (t) => {
      const home = await freshHome(t);
      const file = join(await freshFolder(t), 'all.tar.gz');
      await runTalaria(t, ['config', 'set', 'channels.api.key', 'open-sesame-please'], { home });
      if (place === 'through a gateway') await startGateway(t, { home });
      await runTalaria(t, ['-p', 'write notes.txt: the cat is out', '--session', 'mine'], { home });
      await mkdir(join(home, 'workspace', 'deep'), { recursive: true });
      await writeFile(join(home, 'workspace', 'deep', 'note.txt'), 'kept');
      const backup = await runTalaria(t, ['backup', file], { home });
      assert.deepEqual([backup.code, backup.stdout], [0, ''], backup.stderr);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      assertRefused(await runTalaria(t, ['backup', file], { home }), 1, /exists already.*--force/);
      assert.equal((await runTalaria(t, ['backup', file, '--force'], { home })).code, 0);

      const other = await freshHome(t);
      const restored = await runTalaria(t, ['restore', file], { home: other });
      assert.equal(restored.code, 0, restored.stderr);
      const [before, after] = await Promise.all(
        [home, other].map((where) => runTalaria(t, ['sessions', 'show', 'mine', '--json'], { home: where })),
      );
      assert.equal(after?.stdout, before?.stdout);
      assert.equal(await readFile(join(other, 'workspace/deep/note.txt'), 'utf8'), 'kept');
      assert.equal(await readFile(join(other, '.env'), 'utf8'), await readFile(join(home, '.env'), 'utf8'));
      assert.deepEqual(leftovers(await readdir(other)), []);
    });
  }

  test('touch nothing until the archive is known to be whole, and delete nothing', async (t) => {
    const home = await freshHome(t);
    const folder = await freshFolder(t);
    const file = join(folder, 'all.tar.gz');
    await runTalaria(t, ['-p', 'hello', '--session', 'old'], { home });
    await runTalaria(t, ['backup', file], { home });
    await runTalaria(t, ['-p', 'hello', '--session', 'newer'], { home });
    assertRefused(await runTalaria(t, ['restore', file], { home }), 1, /--force/);

    const half = join(folder, 'half.tar.gz');
    await writeFile(half, (await readFile(file)).subarray(0, 2_000));
    assertRefused(
      await runTalaria(t, ['restore', half, '--force'], { home }),
      1,
      /not a whole backup.*nothing was changed/,
    );
    await writeFile(half, 'hello');
    assertRefused(await runTalaria(t, ['restore', half, '--force'], { home }), 1, /not a whole backup/);
    assertRefused(await runTalaria(t, ['restore', join(folder, 'none'), '--force'], { home }), 1, /is not a file/);
    assert.deepEqual(leftovers(await readdir(home)), []);
    assert.match((await runTalaria(t, ['sessions', 'list'], { home })).stdout, /newer/);

    const restored = await runTalaria(t, ['restore', file, '--force'], { home });
    assert.equal(restored.code, 0, restored.stderr);
    const listed = (await runTalaria(t, ['sessions', 'list'], { home })).stdout;
    assert.match(listed, /old/);
    assert.doesNotMatch(listed, /newer/);
    const [aside] = leftovers(await readdir(home));
    assert.match(aside ?? '', /^before-restore-/);
    const rescue = await runTalaria(t, ['sessions', 'list'], { home: join(home, aside ?? '') });
    assert.match(rescue.stdout, /newer/);
  });

  test('leave a home alone that a gateway is using', async (t) => {
    const home = await freshHome(t);
    const file = join(await freshFolder(t), 'all.tar.gz');
    const gateway = await startGateway(t, { home });
    await runTalaria(t, ['backup', file], { home });
    assertRefused(
      await runTalaria(t, ['restore', file, '--force'], { home }),
      1,
      new RegExp(`pid ${gateway.process.pid}`),
    );
  });

  function leftovers(names: readonly string[]): string[] {
    return names.filter((name) => /restore|backup|\.tmp|probe|writing/.test(name));
  }
});

describe('the doctor', { concurrency: true }, () => {
  test('finds nothing wrong with a new home, a used one and a running gateway', async (t) => {
    const home = await freshHome(t);
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, 'config.yaml'), 'gateway: { port: 0 }\n').catch(() => {});
    const looked = async () => {
      const { code, stdout, stderr } = await runTalaria(t, ['doctor'], { home });
      assert.deepEqual([code, stderr], [0, ''], stdout);
      assert.doesNotMatch(stdout, /✗/);
      return stdout;
    };
    await looked();
    await runTalaria(t, ['-p', 'hello'], { home });
    assert.match(await looked(), /✓ store .*: 1 session, no damage/);
    await startGateway(t, { home });
    assert.match(await looked(), /✓ store is open in the gateway/);
  });

  test('has a fix for each finding and fails if something is broken', async (t) => {
    const home = await freshHome(t);
    await runTalaria(t, ['-p', 'hello'], { home });
    await writeFile(join(home, 'config.yaml'), 'gatway: {}\n');
    await truncate(join(home, 'state.db'), 5_000);
    const { code, stdout } = await runTalaria(t, ['doctor'], { home });
    assert.equal(code, 1);
    assert.match(stdout, /✗ .*config\.yaml:1:1: .*gateway.* {2}→ /);
    assert.match(stdout, /✗ store: .*damaged.* {2}→ .*restore/);
  });
});
