import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InboundMessage } from '../channel.ts';
import type { WantedFile } from './describe-content.ts';
import { withContents } from './with-contents.ts';

test('a message with files keeps whose words it has', () => {
  const inbound: InboundMessage = {
    channel: 'telegram',
    externalId: '1:1',
    sender: { id: '1', name: 'Ann' },
    place: { kind: 'direct', chat: '1' },
    message: { role: 'user', parts: [{ kind: 'text', text: '[forwarded]\nlook' }], untrusted: 'stranger' },
  };
  const file: WantedFile = {
    kind: 'file',
    fileId: 'f',
    name: 'a.txt',
    mediaType: 'text/plain',
    bytes: 1,
    instead: '[a file]',
  };
  const { message } = withContents(inbound, [{ file, bytes: new Uint8Array([65]) }]);
  assert.deepEqual([message.untrusted, message.parts.map(({ kind }) => kind)], ['stranger', ['text', 'file']]);
});
