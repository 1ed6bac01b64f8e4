import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteChannel, replyPlace, targetTo, webhookChannel } from './reply-place.ts';

test('a message is answered where it came from', () => {
  assert.deepEqual(replyPlace({ channel: 'telegram', target: 'web:5' }), { channel: 'telegram', target: 'web:5' });
});

test('what has no way back is answered where it says, and kept in the session if it says nothing', () => {
  for (const channel of [webhookChannel, noteChannel]) {
    assert.deepEqual(replyPlace({ channel, target: 'telegram:5:7' }), { channel: 'telegram', target: '5:7' });
    assert.deepEqual(replyPlace({ channel, target: '' }), { channel, target: '' });
    const place = { channel: 'telegram', target: '-100/3' };
    assert.deepEqual(replyPlace({ channel, target: targetTo(place) }), place);
  }
});
