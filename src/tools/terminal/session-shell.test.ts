import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { sleep, systemClock } from '../../lib/clock.ts';
import { callSpool } from './call-spool.ts';
import { listHosts, shellFolders } from './session-host.ts';
import { hostLeftCode, hostScript } from './shell-scripts.ts';
import { noSandbox } from './terminal-deps.ts';
import { isGone, until } from './test-processes.ts';
import { testBubblewrap, testShell, type TestShell } from './test-shell.ts';

const hasBubblewrap = existsSync('/usr/bin/bwrap');
const sandboxes = [noSandbox, ...(hasBubblewrap ? [testBubblewrap] : [])];
const needsBubblewrap = { skip: hasBubblewrap ? false : 'bubblewrap is not installed' };

async function hostOf({ spoolRoot, sessionId }: TestShell) {
  const host = (await listHosts(join(spoolRoot, sessionId))).at(-1);
  assert.ok(host);
  const [pid = ''] = (await readFile(join(host.folder, 'claim'), 'utf8')).split('\n');
  return { ...host, pid: Number(pid) };
}

for (const sandbox of sandboxes) {
  const options = { sandbox: () => Promise.resolve(sandbox) };

  test(`C45 folder, variables, functions, aliases and options last from call to call (${sandbox.level})`, async (t) => {
    const { run, workspace } = await testShell(t, options);
    await mkdir(join(workspace, 'sub dir'));
    await run(
      [
        'cd "sub dir"; export SHOWN="two  words"; plain=$\'a\\nb\'; list=(1 "2 3"); readonly FIXED=5',
        'greet() { echo "hello $1"; }; export -f greet; alias shout="echo LOUD"; set -o pipefail; shopt -s extglob; umask 027',
      ].join('\n'),
    );
    const seen = [
      'pwd; echo "$SHOWN|$plain|${list[1]}|$FIXED"; env | grep -c ^SHOWN=; greet you; bash -c "greet child"; shout',
      'false | true; echo $?; shopt -q extglob && echo extglob; umask',
    ].join('\n');
    const expected = `${join(workspace, 'sub dir')}\ntwo  words|a\nb|2 3|5\n1\nhello you\nhello child\nLOUD\n1\nextglob\n0027`;
    assert.equal(await run(seen), expected);
    assert.equal(await run(seen), expected, 'it lasts though nothing was set again');
  });

  test(`what a command does to its shell does not end the session's (${sandbox.level})`, async (t) => {
    const { run, workspace } = await testShell(t, options);
    assert.equal(await run('kept=1; exit 3'), '[exit code 3]');
    assert.equal(await run('echo $kept; set -e; kept=2; false; echo never'), '1\n[exit code 1]');
    assert.equal(await run('echo $kept; set +e; exec sh -c "echo replaced"'), '2\nreplaced');
    assert.equal(await run('echo $-; set +e; trap "echo bye" EXIT; kept=3'), 'ehBc\nbye');
    assert.equal(await run('echo $kept; kept=4; kill -9 $$'), '3\n[ended by SIGKILL]');
    assert.equal(
      await run('echo $kept; if then'),
      [
        '3',
        "bash: eval: line 1: syntax error near unexpected token `then'",
        "bash: eval: line 1: `echo $kept; if then'",
        '[exit code 2]',
      ]
        .slice(1)
        .join('\n'),
    );
    assert.match(await run('set -x; echo traced'), /^traced\n\+\+ echo traced$|^\+\+ echo traced\ntraced$/);
    assert.match(await run('echo again; set +x'), /^(?!.*__t_)[^]*again/);
    assert.equal(await run('mkdir gone; cd gone; rmdir ../gone'), '[no output]');
    assert.equal(
      await run('pwd'),
      `[the folder ${workspace}/gone is not there any more; this runs in ${workspace}]\n${workspace}`,
    );
  });

  test(`C45 functions and aliases with the names of the shell's own commands change nothing of what lasts (${sandbox.level})`, async (t) => {
    const { run, workspace } = await testShell(t, options);
    await mkdir(join(workspace, 'sub'));
    const names = 'printf declare set shopt umask read exit trap command mv echo compgen export';
    await run(`for name in ${names}; do eval "$name() { builtin echo WRONG; }"; done; builtin alias echo="echo WRONG"`);
    await run('cd() { builtin cd "$@" && ls; }; kept=1; builtin cd sub');
    assert.equal(await run('builtin pwd; builtin echo $kept; kept=2'), `${join(workspace, 'sub')}\n1`);
    assert.equal(await run('builtin echo $kept; unset -f printf; type -t cd declare'), '2\nfunction\nfunction');
    assert.equal(await run('rmdir ../sub'), '[no output]');
    assert.match(await run('builtin pwd'), /^\[the folder \S+\/sub is not there any more; this runs in (\S+)\]\n\1$/);
  });

  test(`C45 a variable that no program can be started beside lasts, and so does what came with it (${sandbox.level})`, async (t) => {
    const { run } = await testShell(t, options);
    await run('set -e; cd /; declare -rx OLD=1; export BIG=$(head -c 1000000 /dev/zero | tr "\\0" x)');
    assert.equal(await run('echo $PWD ${#BIG} $OLD; unset BIG; /bin/echo started'), '/ 1000000 1\nstarted');
  });

  test(`a trap that looks at every command sees those that were asked for (${sandbox.level})`, async (t) => {
    const { run } = await testShell(t, options);
    assert.equal(await run("trap 'echo seen' DEBUG\necho a; kept=1"), 'seen\na\nseen');
    assert.equal(await run('echo $kept'), '1');
  });

  test(`C48 the shell is the same after the process that used it was killed, and the host is still the one (${sandbox.level})`, async (t) => {
    const it = await testShell(t, options);
    const level = sandbox.level === 'none' ? 'noSandbox' : 'testBubblewrap';
    const script = `
      const { testShell, testBubblewrap } = await import(${JSON.stringify(new URL('./test-shell.ts', import.meta.url).href)});
      const { noSandbox } = await import(${JSON.stringify(new URL('./terminal-deps.ts', import.meta.url).href)});
      const options = { sandbox: () => Promise.resolve(${level}) };
      const it = await testShell({ after() {} }, options, ${JSON.stringify(it.sessionId)}, ${JSON.stringify(join(it.workspace, '..'))});
      await it.run('mkdir place; cd place; export NAME=kept; (sleep 600 & echo $! > ../pid)');
      await it.run('sleep 600; echo ran >> ../runs', { background: true });
      process.send('ready');
      await it.run('touch ../up; sleep 600');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await new Promise((resolve) => child.once('message', resolve));
    await until(() => stat(join(it.workspace, 'up')).catch(() => null));
    const before = await hostOf(it);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    assert.equal(
      await it.run('pwd; echo $NAME; kill -0 $(cat ../pid) && echo alive'),
      `${it.workspace}/place\nkept\nalive`,
    );
    assert.match(await it.process({ action: 'list' }), /^p1 running \(\d+ s\): sleep 600; echo ran >> \.\.\/runs$/);
    assert.deepEqual(await hostOf(it), before);
  });

  test(`a time limit and a stop end the whole tree of a command and nothing else (${sandbox.level})`, async (t) => {
    const it = await testShell(t, options);
    await it.run('sleep 600', { background: true });
    const tree = "setsid sleep 601 & (trap '' TERM; sleep 602) & sleep 603 & touch up; wait";
    const living = () => it.run('ps -eo args | grep -oE "^sleep 60[0-3]" | sort -u | tr "\\n" " "');
    assert.match(await it.run(tree, { timeout_s: 1 }), /^\[ended after 1 s, its time limit/);
    if (sandbox.level === 'bubblewrap') assert.equal(await living(), 'sleep 600');
    await rm(join(it.workspace, 'up'));
    const stop = new AbortController();
    const running = it.outcome(tree, {}, it.context(stop.signal));
    await until(() => stat(join(it.workspace, 'up')).catch(() => null));
    stop.abort();
    assert.deepEqual(await running, { kind: 'failed', text: '[stopped before it finished]' });
    if (sandbox.level === 'bubblewrap') assert.equal(await living(), 'sleep 600');
    assert.match(await it.process({ action: 'list' }), /^p1 running/);
  });

  test(`C47 the end of a session ends its shell with all that runs in it, and no other session's (${sandbox.level})`, async (t) => {
    const [one, two] = [await testShell(t, options), await testShell(t, options)];
    for (const { run } of [one, two]) {
      await run("(trap '' TERM; setsid sleep 600 >/dev/null 2>&1 &) ; sleep 600 & sleep 0.01");
      await run('sleep 600', { background: true });
    }
    const hosts = [await hostOf(one), await hostOf(two)];
    await one.tools.holding.end(one.sessionId);
    assert.deepEqual(await one.tools.holding.list(), []);
    assert.equal(await isGone(hosts[0]?.pid ?? 0), true);
    assert.equal(await isGone(hosts[1]?.pid ?? 0), false);
    const left = (await two.tools.holding.list()).map(({ kind, isBusy }) => `${kind} ${isBusy}`).sort();
    assert.deepEqual(left, ['process true', 'process true', 'shell false']);
    await one.tools.holding.end(one.sessionId);
    const note = "[the session's sandbox had ended; folder, variables and functions are as they were]";
    assert.equal(await one.run('echo again'), `${note}\nagain`);
  });
}

test(
  'C44 C45 a server in the background is reached by the next command, and both see the same processes',
  needsBubblewrap,
  async (t) => {
    const it = await testShell(t, { sandbox: () => Promise.resolve(testBubblewrap) });
    const server =
      'exec perl -MIO::Socket -e \'$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:8123", Listen => 5) or die; $| = 1; print "up\\n"; while ($c = $s->accept) { print $c "hello\\n"; close $c }\'';
    assert.match(await it.run(server, { background: true }), /^\[p1 runs in the background/);
    await until(async () => ((await it.process({ action: 'poll', id: 'p1' })).startsWith('up') ? true : null));
    assert.equal(await it.run('exec 5<>/dev/tcp/127.0.0.1/8123; cat <&5'), 'hello');
    assert.match(await it.run('ps -eo args'), /^perl -MIO/m);
    assert.equal(await it.run('echo secret > /tmp/kept; cat /tmp/kept'), 'secret');
    assert.equal(await it.run('cat /tmp/kept'), 'secret', 'its files last as well');
  },
);

test(
  'a sandbox that dies takes its processes, not the shell: the next command is told what was lost, once',
  needsBubblewrap,
  async (t) => {
    const it = await testShell(t, { sandbox: () => Promise.resolve(testBubblewrap) });
    await it.run('cd /; export NAME=kept');
    await it.run('sleep 600', { background: true });
    const running = it.outcome('echo before; kill -9 -1; sleep 600');
    assert.deepEqual(await running, {
      kind: 'failed',
      text: "before\n[it is not known whether it finished: the session's sandbox ended while it ran; look at what it did before you run it again]",
    });
    const note =
      "[the session's sandbox had ended; folder, variables and functions are as they were; lost: p1 (sleep 600)]";
    assert.equal(await it.run('pwd; echo $NAME'), `${note}\n/\nkept`);
    assert.equal(await it.run('pwd'), '/');
    assert.match(await it.process({ action: 'list' }), /^p1 lost with its sandbox/);
  },
);

test(
  'what was replaced outside is guarded again before the next command, and what that costs is told',
  needsBubblewrap,
  async (t) => {
    const { run, workspace, process } = await testShell(t, {
      sandbox: () =>
        Promise.resolve({
          ...testBubblewrap,
          wrap: async (request) => {
            const { argv, env } = await testBubblewrap.wrap(request);
            const kept = join(workspace, 'kept');
            return { argv: argv.toSpliced(argv.indexOf('--chdir'), 0, '--ro-bind', kept, kept), env };
          },
        }),
    });
    await writeFile(join(workspace, 'kept'), 'mine\n');
    await run('x=1; sleep 100', { background: true });
    await run('x=2');
    await writeFile(join(workspace, 'other'), 'changed\n');
    await rename(join(workspace, 'other'), join(workspace, 'kept'));
    assert.equal(
      await run('echo evil >kept; echo $x'),
      [
        '[a protected file was replaced from outside, so the sandbox was started anew; folder, variables and functions are as they were; lost: p1 (x=1; sleep 100)]',
        'bash: line 1: kept: Read-only file system',
        '2',
      ].join('\n'),
    );
    assert.equal(await readFile(join(workspace, 'kept'), 'utf8'), 'changed\n');
    assert.match(await process({ action: 'list' }), /^p1 lost/);
  },
);

test('a command that fails at something protected is told why', needsBubblewrap, async (t) => {
  const { run, workspace } = await testShell(t, {
    sandbox: () =>
      Promise.resolve({
        ...testBubblewrap,
        wrap: async (request) => {
          const { argv, env } = await testBubblewrap.wrap(request);
          const kept = join(workspace, '.envrc');
          return { argv: argv.toSpliced(argv.indexOf('--chdir'), 0, '--ro-bind', kept, kept), env };
        },
      }),
  });
  await writeFile(join(workspace, '.envrc'), '');
  assert.equal(
    await run('echo x >.envrc'),
    [
      'bash: line 1: .envrc: Read-only file system',
      '[exit code 1]',
      "[.envrc is protected: commands in the sandbox can't change or create it; outside: true asks the user]",
    ].join('\n'),
  );
});

test('a sandbox that can not be started is told with its reason, and nothing was run', async (t) => {
  const broken = {
    ...noSandbox,
    wrap: () => Promise.resolve({ argv: ['/bin/sh', '-c', 'echo no room >&2; exit 9'], env: {} }),
  };
  const it = await testShell(t, { sandbox: () => Promise.resolve(broken) });
  assert.deepEqual(await it.outcome('touch ran'), {
    kind: 'failed',
    text: "The command was not run: the session's sandbox could not be started (no room).",
  });
  assert.deepEqual(await readdir(it.workspace), []);
});

test('C88 C92 a host that had left before it took the call is replaced, and the command runs once', async (t) => {
  const it = await testShell(t);
  await it.run('NAME=kept');
  const host = await hostOf(it);
  const inside = await childrenOf(host.pid);
  for (const pid of inside) process.kill(pid, 'SIGSTOP');
  const context = it.context();
  const running = it.outcome('echo run >> runs; echo $NAME', {}, context);
  const spool = callSpool(context.spoolFolder, context.callId);
  await until(() => spool.readClaim());
  // What the supervisor writes when its host leaves by itself.
  await writeFile(join(host.folder, 'exit'), '0\n');
  for (const pid of [host.pid, ...inside]) process.kill(pid, 'SIGKILL');
  assert.deepEqual(await running, { kind: 'finished', text: 'kept' });
  assert.equal(await readFile(join(it.workspace, 'runs'), 'utf8'), 'run\n');
});

test('a host leaves when nothing runs any more but what put its sandbox up', needsBubblewrap, async (t) => {
  const { workspace } = await testShell(t);
  const quick = hostScript.replace('-t 20 ', '-t 0.05 ');
  assert.notEqual(quick, hostScript);
  // As the way to the network does, which is there before the host.
  const start = 'sleep 600 & exec bash -c "$1" host "$2" "$2" own : :';
  const argv = ['sh', '-c', start, 'sh', quick, workspace];
  const place = { cwd: workspace, env: {}, readable: [], writable: [workspace], hidden: [], network: 'off' as const };
  const { argv: wrapped } = await testBubblewrap.wrap({ ...place, argv });
  const child = spawn(wrapped[0] ?? '', wrapped.slice(1), { stdio: ['pipe', 'ignore', 'ignore'] });
  const patience = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(patience);
  assert.equal(code, hostLeftCode);
});

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').map(Number);
}

test(
  'nothing that a command puts into the place of a pipe or of the state is opened outside',
  needsBubblewrap,
  async (t) => {
    const it = await testShell(t, { sandbox: () => Promise.resolve(testBubblewrap) });
    const { state, wire } = shellFolders(join(it.spoolRoot, it.sessionId));
    await writeFile(join(it.workspace, '../secret'), '#cwd /secret\n');
    await it.run(`rm -f ${state}/state; ln -s ${it.workspace}/../secret ${state}/state; trap "" EXIT`);
    assert.match(await it.run('echo fine', { outside: true }), /^fine$/);
    await it.run(`rm -f ${state}/state; mkfifo ${state}/state; trap "" EXIT; kill -9 $$`);
    assert.match(await it.run('pwd', { outside: true }), new RegExp(`^${it.workspace}$`));
    assert.match(await it.run(`echo x > ${wire}/planted; ln -s / ${wire}/link`), /Read-only file system/);
  },
);

test('no key and nothing of Talaria reaches a command; what the operator names does', async (t) => {
  const env = {
    PATH: '/usr/bin:/bin',
    OPENAI_API_KEY: 'canary-1',
    TALARIA_API_KEY: 'canary-2',
    TALARIA_HOME: 'canary-3',
    MY_TOKEN: 'named',
    SSH_AUTH_SOCK: 'canary-4',
  };
  const it = await testShell(t, { env, envNames: ['MY_TOKEN', 'TALARIA_HOME'] });
  for (const more of [{}, { outside: true }, { pty: true }]) {
    const text = await it.run('env; cat /proc/$PPID/environ 2>/dev/null | tr "\\0" "\\n"', more);
    assert.match(text, /^MY_TOKEN=named$/m);
    assert.doesNotMatch(text, /canary/);
  }
});

test('a terminal is one that programs can draw on, and a command without one is told of none', async (t) => {
  const { run } = await testShell(t, { env: { PATH: process.env['PATH'], HOME: '/' } });
  assert.equal(await run('echo ${TERM:-none}'), 'dumb');
  assert.equal(await run('echo $TERM; tput cols; kept=1', { pty: true }), 'xterm\n120');
  assert.equal(await run('echo ${TERM:-none} $kept'), 'dumb 1');
});

test('a command on a terminal sees one, and its input reaches it', async (t) => {
  const it = await testShell(t);
  assert.equal(
    await it.run('[ -t 1 ] && echo terminal; stty size; cd /; NAME=kept', { pty: true }),
    'terminal\n40 120',
  );
  assert.equal(await it.run('[ -t 1 ] || echo none; pwd; echo $NAME'), 'none\n/\nkept');
  assert.equal(await it.run('cat; wc -c', { stdin: 'given\n' }), 'given\n0');
});

test('the folder of a call holds for that call, and outside runs where the shell is, with nothing else of it', async (t) => {
  const it = await testShell(t);
  await mkdir(join(it.workspace, 'a'));
  await mkdir(join(it.workspace, 'b'));
  assert.equal(await it.run('cd a; NAME=x; pwd'), join(it.workspace, 'a'));
  assert.equal(await it.run('pwd; echo "[$NAME]"', { outside: true }), `${join(it.workspace, 'a')}\n[]`);
  assert.equal(await it.run('pwd; echo $NAME', { cwd: 'b' }), `${join(it.workspace, 'b')}\nx`);
  assert.equal(await it.run('pwd'), join(it.workspace, 'a'), 'the shell is where it was');
  await it.run('cd ..', { cwd: 'b' });
  assert.equal(await it.run('pwd'), it.workspace, 'unless the command went somewhere by itself');
});

test('C87 C88 C92 killed at any moment of the start, a command runs once or its outcome is unknown, never twice', async (t) => {
  for (let waitMs = 0; waitMs <= 60; waitMs += 12) {
    const it = await testShell(t);
    const context = it.context();
    const command = 'echo run >> runs; sleep 0.05; echo done';
    const { callId, sessionId } = context;
    const script = `
      const { testShell } = await import(${JSON.stringify(new URL('./test-shell.ts', import.meta.url).href)});
      const it = await testShell({ after() {} }, {}, ${JSON.stringify(sessionId)}, ${JSON.stringify(join(it.workspace, '..'))});
      process.send('ready');
      await it.outcome(${JSON.stringify(command)}, {}, { ...it.context(), callId: ${JSON.stringify(callId)} });
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await new Promise((resolve) => child.once('message', resolve));
    await sleep(systemClock, waitMs);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    const attached = await it.tools.tools[0]?.attach?.({ command }, context);
    assert.deepEqual(attached, { kind: 'finished', text: 'done' }, `killed after ${waitMs} ms`);
    assert.equal(await readFile(join(it.workspace, 'runs'), 'utf8'), 'run\n');
  }
});
