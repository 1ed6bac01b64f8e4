import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentPath, filesOf, fileSize } from './entry-files.ts';
import type { CallId, InboxId } from './ids.ts';
import type { Entry } from './messages.ts';

const content = { sha256: 'h', bytes: 3, mediaType: 'image/png' };
const place = { seq: 7, at: 0, turnId: null };

test('every file of an entry has a name, pictures by their place in the log', () => {
  const received: Entry = {
    kind: 'message',
    inboxId: 'inb_1' as InboxId,
    message: {
      role: 'user',
      parts: [
        { kind: 'text', text: 'look' },
        { kind: 'image', content },
        { kind: 'file', name: 'a.pdf', content },
        { kind: 'image', content: { ...content, mediaType: 'image/svg+xml' } },
      ],
    },
    ...place,
  };
  assert.deepEqual(
    filesOf(received).map(({ name, way }) => [name, way]),
    [
      ['image-7.png', 'received'],
      ['a.pdf', 'received'],
      ['image-7-2.bin', 'received'],
    ],
  );
  const result = { kind: 'tool-result', callId: 'cal_1' as CallId, outcome: 'finished', text: '' } as const;
  const made: Entry = {
    kind: 'message',
    message: { role: 'tool', parts: [{ ...result, images: [content], files: [{ name: 'b.pdf', content }] }] },
    ...place,
  };
  assert.deepEqual(
    filesOf(made).map(({ name, way }) => [name, way]),
    [
      ['image-7.png', 'seen'],
      ['b.pdf', 'sent'],
    ],
  );
  assert.deepEqual(filesOf({ kind: 'turn-opened', ...place }), []);
});

test('sizes are told in few characters, and any name fits into an address', () => {
  assert.deepEqual([0, 999, 1_000, 12_345, 20_000_000].map(fileSize), ['0 B', '999 B', '1 KB', '12 KB', '20.0 MB']);
  assert.equal(contentPath('ab', 'a b/\ud800?.pdf'), '/api/contents/ab?name=a%20b%2F%EF%BF%BD%3F.pdf');
});
