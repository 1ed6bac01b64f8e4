import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeToolContext } from '../fake-tool-context.ts';
import type { OpenedFile } from '../opened-file.ts';
import { createSendFileTool } from './send-file-tool.ts';

function tool(opened: OpenedFile, asked: unknown[] = []) {
  return createSendFileTool({
    openForReading: (path, _context, bytesMax) => {
      asked.push([path, bytesMax]);
      return Promise.resolve(opened);
    },
  });
}
const report = { kind: 'opened', name: 'report.pdf', shown: 'out/report.pdf' } as const;
const context = fakeToolContext('/nowhere');

test('a file is sent as it is, with its kind and its caption, and whoever opens files decides which', async () => {
  const asked: unknown[] = [];
  const bytes = Buffer.from('x'.repeat(2_500));
  const outcome = await tool({ ...report, bytes }, asked).run({ path: '/a/b', caption: 'See page 2' }, context);
  assert.deepEqual(outcome, {
    kind: 'finished',
    text: 'Sent out/report.pdf (3 KB).',
    files: [{ name: 'report.pdf', mediaType: 'application/pdf', bytes, caption: 'See page 2' }],
  });
  assert.deepEqual(asked, [['/a/b', 20_000_000]]);
});

test('what may not be read or is empty is refused in a sentence', async () => {
  const refused = tool({ kind: 'refused', problem: 'It is outside.' });
  assert.deepEqual(await refused.run({ path: 'a' }, context), { kind: 'failed', text: 'It is outside.' });
  const empty = await tool({ ...report, bytes: new Uint8Array() }).run({ path: 'a' }, context);
  assert.deepEqual(empty, { kind: 'failed', text: 'out/report.pdf is empty: there is nothing to send.' });
});

test('it is safe to run again, and its words are few', () => {
  const any = tool({ kind: 'refused', problem: '' });
  assert.equal(any.replay, 'safe');
  assert.ok(JSON.stringify(any.definition).length < 260, JSON.stringify(any.definition));
  assert.deepEqual(any.parse({ path: 'a', caption: 'x'.repeat(1_001) }).ok, false);
});
