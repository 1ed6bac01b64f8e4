import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { HomeError, prepareHome, resolveHome, soulSeed, type HomeErrorReason } from './home.ts';

const isRoot = process.getuid?.() === 0;

test('the home is ~/.talaria, or what TALARIA_HOME says, always absolute', () => {
  assert.equal(resolveHome({ HOME: '/home/ann' }), '/home/ann/.talaria');
  assert.equal(resolveHome({ HOME: '/home/ann', TALARIA_HOME: '' }), '/home/ann/.talaria');
  assert.equal(resolveHome({ HOME: '/home/ann', TALARIA_HOME: '~/x/../y' }), '/home/ann/y');
  assert.equal(resolveHome({ HOME: '/home/ann', TALARIA_HOME: '~' }), '/home/ann');
  assert.equal(resolveHome({ HOME: '/home/ann', TALARIA_HOME: '~bob' }), join(process.cwd(), '~bob'));
  assert.equal(resolveHome({ HOME: '/home/ann', TALARIA_HOME: 'here' }), join(process.cwd(), 'here'));
  assert.equal(resolveHome({ TALARIA_HOME: '/srv/talaria/' }), '/srv/talaria');
  assert.equal(resolveHome({}), join(homedir(), '.talaria'));
});

describe('prepareHome', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'talaria-home-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
  const refuses = async (path: string, reason: HomeErrorReason, text: RegExp, uid?: number) => {
    await assert.rejects(prepareHome(path, uid), (error: unknown) => {
      assert.ok(error instanceof HomeError, String(error));
      assert.equal(error.reason, reason);
      assert.match(error.message, text);
      assert.doesNotMatch(error.message, /\n/);
      assert.ok(error.message.includes(path));
      return true;
    });
  };

  test('creates the home and its folders for this user alone, and may be repeated', async () => {
    const home = join(folder, 'deep', 'home');
    await prepareHome(home);
    await prepareHome(home);
    assert.deepEqual((await readdir(home)).sort(), ['SOUL.md', 'logs', 'memories', 'skills', 'workspace']);
    for (const name of ['', 'logs', 'memories', 'skills', 'workspace']) {
      assert.equal(await modeOf(join(home, name)), 0o700, name);
    }
    assert.equal(await modeOf(join(home, 'SOUL.md')), 0o600);
    assert.equal(await readFile(join(home, 'SOUL.md'), 'utf8'), soulSeed);
  });

  test('leaves what is there as it is', async () => {
    const home = join(folder, 'home');
    await mkdir(home, { mode: 0o750 });
    await chmod(home, 0o750);
    await writeFile(join(home, 'SOUL.md'), 'me');
    await prepareHome(home);
    assert.equal(await modeOf(home), 0o750);
    assert.equal(await readFile(join(home, 'SOUL.md'), 'utf8'), 'me');
  });

  test('closes an empty folder that was made for it', async () => {
    await chmod(folder, 0o755);
    await prepareHome(folder);
    assert.equal(await modeOf(folder), 0o700);
  });

  test('accepts a link to a folder', async () => {
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    await prepareHome(join(folder, 'link'));
    assert.equal((await readdir(join(folder, 'real'))).length, 5);
  });

  test('refuses a file, and a home below a file', async () => {
    const file = join(folder, 'file');
    await writeFile(file, 'x');
    await refuses(file, 'not-a-folder', /is not a folder; move it away, or set TALARIA_HOME/);
    await refuses(join(file, 'home'), 'not-a-folder', /is not a folder/);
    await symlink(join(folder, 'nowhere'), join(folder, 'broken'));
    await refuses(join(folder, 'broken'), 'not-a-folder', /is not a folder/);
  });

  test('refuses a home of another user, for the superuser too', async () => {
    await refuses(
      folder,
      'other-owner',
      /belongs to another user \(number \d+; this is 54321\); run as its owner/,
      54_321,
    );
    assert.deepEqual(await readdir(folder), []);
  });

  test('refuses a home that this user may not write to', { skip: isRoot && 'root may write everywhere' }, async () => {
    await mkdir(join(folder, 'home'), { mode: 0o500 });
    await refuses(join(folder, 'home'), 'not-writable', /can't be written to; give this user access/);
    await refuses(join(folder, 'home', 'inner'), 'not-writable', /can't be written to/);
  });

  describe('on a small file system of its own', { skip: !canMount() && 'mounting needs root' }, () => {
    // The mount is the child's alone and ends with it.
    const refusalOn = (options: string, before: string, home = folder) => {
      const script = `
        import { readdirSync } from 'node:fs';
        const { prepareHome } = await import(${JSON.stringify(join(import.meta.dirname, 'home.ts'))});
        const refusal = await prepareHome(${JSON.stringify(home)}).catch(({ reason, message }) => ({ reason, message }));
        console.log(JSON.stringify({ ...refusal, left: readdirSync(${JSON.stringify(folder)}).filter((name) => name[0] === '.') }));
      `;
      const shell = `mount -t tmpfs -o ${options} tmpfs "$0" && ${before}; exec "$1" --input-type=module -e "$2"`;
      const args = ['--mount', 'sh', '-c', shell, folder, process.execPath, script];
      return JSON.parse(
        execFileSync('unshare', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      ) as unknown;
    };

    test('refuses a full disk', () => {
      assert.deepEqual(refusalOn('size=64k', 'head -c 65536 /dev/zero > "$0/filler"'), {
        reason: 'full',
        message: `The disk that holds ${folder} is full; make room, or set TALARIA_HOME to another folder.`,
        left: [],
      });
    });

    test('refuses a read-only disk', () => {
      assert.deepEqual(refusalOn('ro,size=64k', 'true'), {
        reason: 'read-only',
        message: `${folder} is on a read-only file system; set TALARIA_HOME to another folder.`,
        left: [],
      });
    });

    test('refuses a home that would have to be made there', () => {
      const home = join(folder, 'a', 'home');
      assert.deepEqual(refusalOn('ro,size=64k', 'true', home), {
        reason: 'read-only',
        message: `${home} is on a read-only file system; set TALARIA_HOME to another folder.`,
        left: [],
      });
    });
  });

  test('gives up where the file system makes no folders', { skip: process.platform !== 'linux' }, () =>
    refuses('/proc/talaria/home', 'not-a-folder', /set TALARIA_HOME to another folder/),
  );
});

function canMount(): boolean {
  if (process.platform !== 'linux' || !isRoot) return false;
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
