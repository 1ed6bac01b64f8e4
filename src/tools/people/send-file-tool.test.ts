import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeToolContext, temporaryFolder } from '../fake-tool-context.ts';
import { createSendFileTool } from './send-file-tool.ts';

const tool = createSendFileTool();

test('a file of the workspace is sent as it is, with its kind and its caption', async (context) => {
  const workspace = await temporaryFolder(context);
  await writeFile(join(workspace, 'report.pdf'), 'x'.repeat(2_500));
  const outcome = await tool.run({ path: 'report.pdf', caption: 'See page 2' }, fakeToolContext(workspace));
  assert.ok(outcome.kind === 'finished');
  const [file] = outcome.files ?? [];
  assert.deepEqual(
    { ...outcome, files: [{ ...file, bytes: Buffer.from(file?.bytes ?? []).toString() }] },
    {
      kind: 'finished',
      text: 'Sent report.pdf (3 KB).',
      files: [{ name: 'report.pdf', mediaType: 'application/pdf', bytes: 'x'.repeat(2_500), caption: 'See page 2' }],
    },
  );
});

test('what is not there, empty, no file, too large or outside is refused in a sentence', async (context) => {
  const workspace = await temporaryFolder(context);
  const outside = await temporaryFolder(context);
  await writeFile(join(outside, 'secret'), 'x');
  await symlink(join(outside, 'secret'), join(workspace, 'link'));
  await writeFile(join(workspace, 'empty'), '');
  await writeFile(join(workspace, 'large'), '');
  await truncate(join(workspace, 'large'), 20_000_001);
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  for (const [path, expected] of [
    ['missing', /^missing does not exist\.$/],
    ['empty', /^empty is empty/],
    ['.', /not a regular file/],
    ['pipe', /not a regular file/],
    ['large', /^large has 20\.0 MB; at most 20\.0 MB can be sent\.$/],
    ['link', /outside the workspace/],
    [join(outside, 'secret'), /outside the workspace/],
    ['../secret', /outside the workspace/],
    ['', /path is empty/],
  ] as const) {
    const outcome = await tool.run({ path }, fakeToolContext(workspace));
    assert.equal(outcome.kind, 'failed', path);
    assert.match(outcome.kind === 'failed' ? outcome.text : '', expected);
  }
});

test('whoever opens files decides which may be sent', async () => {
  const asked: unknown[] = [];
  const given = createSendFileTool({
    openForReading: (path, _context, bytesMax) => {
      asked.push([path, bytesMax]);
      return Promise.resolve({ kind: 'opened', name: 'b', shown: 'a/b', bytes: Uint8Array.of(1) });
    },
  });
  const outcome = await given.run({ path: '/a/b' }, fakeToolContext('/nowhere'));
  assert.deepEqual(outcome, {
    kind: 'finished',
    text: 'Sent a/b (1 B).',
    files: [{ name: 'b', mediaType: 'application/octet-stream', bytes: Uint8Array.of(1) }],
  });
  assert.deepEqual(asked, [['/a/b', 20_000_000]]);
});

test('it is safe to run again, and its words are few', () => {
  assert.equal(tool.replay, 'safe');
  assert.ok(JSON.stringify(tool.definition).length < 260, JSON.stringify(tool.definition));
  assert.deepEqual(tool.parse({ path: 'a', caption: 'x'.repeat(1_001) }).ok, false);
});
