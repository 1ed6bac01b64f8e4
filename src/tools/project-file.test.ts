import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { projectFileNames, readProjectFile } from './project-file.ts';

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'talaria-project-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('the first of the known names counts alone', async (t) => {
  const place = await folder(t);
  assert.equal(await readProjectFile(place, ''), null);
  for (const name of projectFileNames.toReversed()) {
    await writeFile(join(place, name), `of ${name}`);
    assert.deepEqual(await readProjectFile(place, ''), { path: name, content: `of ${name}` });
  }
});

test('an empty file says nothing, and the next name is looked for', async (t) => {
  const place = await folder(t);
  await writeFile(join(place, 'AGENTS.md'), ' \n');
  await writeFile(join(place, 'CLAUDE.md'), 'here');
  assert.deepEqual(await readProjectFile(place, ''), { path: 'CLAUDE.md', content: 'here' });
});

test('a subfolder’s file is named by its path in the workspace', async (t) => {
  const place = await folder(t);
  await mkdir(join(place, 'a', 'b'), { recursive: true });
  await writeFile(join(place, 'a', 'b', 'AGENTS.md'), 'deep');
  assert.deepEqual(await readProjectFile(place, 'a/b'), { path: 'a/b/AGENTS.md', content: 'deep' });
  assert.equal(await readProjectFile(place, 'a'), null);
  assert.equal(await readProjectFile(place, 'nowhere'), null);
});

test('links lead nowhere: neither the file nor a folder on the way', async (t) => {
  const [place, outside] = [await folder(t), await folder(t)];
  await writeFile(join(outside, 'AGENTS.md'), 'SECRET');
  await symlink(join(outside, 'AGENTS.md'), join(place, 'AGENTS.md'));
  await symlink(outside, join(place, 'linked'));
  assert.equal(await readProjectFile(place, ''), null);
  assert.equal(await readProjectFile(place, 'linked'), null);
  assert.equal(await readProjectFile(place, '../'), null);
});

test('what is no regular file is passed over, and nobody waits for a pipe', async (t) => {
  const place = await folder(t);
  execFileSync('mkfifo', [join(place, '.talaria.md')]);
  await mkdir(join(place, 'AGENTS.md'));
  await writeFile(join(place, 'CLAUDE.md'), 'here');
  assert.deepEqual(await readProjectFile(place, ''), { path: 'CLAUDE.md', content: 'here' });
});

test('a program or another file that is no text is passed over', async (t) => {
  const place = await folder(t);
  await writeFile(join(place, 'AGENTS.md'), Buffer.from('7f454c4602010100ffd8', 'hex'));
  await writeFile(join(place, 'CLAUDE.md'), 'here');
  assert.deepEqual(await readProjectFile(place, ''), { path: 'CLAUDE.md', content: 'here' });
});

test('a workspace behind a link is a workspace', async (t) => {
  const place = await folder(t);
  await mkdir(join(place, 'real'));
  await symlink(join(place, 'real'), join(place, 'way'));
  await writeFile(join(place, 'real', 'AGENTS.md'), 'here');
  await link(join(place, 'real', 'AGENTS.md'), join(place, 'real', 'copy.md'));
  assert.deepEqual(await readProjectFile(join(place, 'way'), ''), { path: 'AGENTS.md', content: 'here' });
});

test('of a huge file only both ends are read', async (t) => {
  const place = await folder(t);
  await writeFile(join(place, 'AGENTS.md'), `BEGIN${'x'.repeat(5_000_000)}END`);
  const file = await readProjectFile(place, '');
  assert.ok(file !== null && file.content.length < 300_000);
  assert.match(file.content, /^BEGINx[^]*xEND$/);
});
