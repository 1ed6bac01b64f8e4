import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerResult } from './open-connection.ts';
import { resultOutcome } from './result-outcome.ts';

const bytes = new Uint8Array(Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001', 'hex'));
const data = Buffer.from(bytes).toString('base64');
const svg = Buffer.from('<svg/>xxx').toString('base64');

test('text stays, pictures are shown, all else is named', () => {
  const result: ServerResult = {
    content: [
      { type: 'text', text: 'hello' },
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'image', data: svg, mimeType: 'image/svg+xml' },
      { type: 'audio', data, mimeType: 'audio/wav' },
      { type: 'resource_link', name: 'page', uri: 'https://example.com/', description: 'a page' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
      { type: 'resource', resource: { uri: 'file:///a.png', blob: data, mimeType: 'image/png' } },
      { type: 'resource', resource: { uri: 'file:///a.zip', blob: data, mimeType: 'application/zip' } },
    ],
    structuredContent: { left: 'out' },
  };
  assert.deepEqual(resultOutcome(result), {
    kind: 'finished',
    text: [
      'hello',
      '[picture 1]',
      '[picture, image/svg+xml, 9 bytes: can not be shown]',
      '[sound, audio/wav, 24 bytes: can not be shown]',
      '[link to page: https://example.com/ (a page)]',
      '[file:///a.txt]\ninside',
      '[file:///a.png] [picture 2]',
      '[file:///a.zip, application/zip, 24 bytes: can not be shown]',
    ].join('\n'),
    untrusted: 'mcp',
    images: [
      { mediaType: 'image/png', bytes },
      { mediaType: 'image/png', bytes },
    ],
  });
});

test('what a picture is is told by its bytes, and what is none is not shown as one', () => {
  const jpeg = Buffer.from('ffd8ffc0000b0800010001', 'hex').toString('base64');
  const outcome = resultOutcome({
    content: [
      { type: 'image', data: jpeg, mimeType: 'image/png' },
      { type: 'image', data: Buffer.from('<html>').toString('base64'), mimeType: 'image/png' },
      { type: 'image', data: '', mimeType: 'image/png' },
      { type: 'image', data: Buffer.from('GIF89a').toString('base64'), mimeType: 'image/gif' },
      { type: 'resource', resource: { uri: 'a:b', blob: svg, mimeType: 'image/png' } },
    ],
  });
  assert.deepEqual(outcome, {
    kind: 'finished',
    text: [
      '[picture 1]',
      '[picture, image/png, 6 bytes: can not be shown]',
      '[picture, image/png, 0 bytes: can not be shown]',
      '[picture, image/gif, 6 bytes: can not be shown]',
      '[a:b] [picture, image/png, 9 bytes: can not be shown]',
    ].join('\n'),
    untrusted: 'mcp',
    images: [{ mediaType: 'image/jpeg', bytes: new Uint8Array(Buffer.from(jpeg, 'base64')) }],
  });
});

test('what is only there in another form is told as JSON, nothing is said to be nothing, and all is bounded', () => {
  assert.deepEqual(resultOutcome({ content: [], structuredContent: { a: 1 } }), {
    kind: 'finished',
    text: '{"a":1}',
    untrusted: 'mcp',
  });
  assert.deepEqual(resultOutcome({ content: [] }), { kind: 'finished', text: '(nothing)', untrusted: 'mcp' });
  const images = Array.from({ length: 1_500 }, () => ({ type: 'image' as const, data, mimeType: 'image/png' }));
  const many = resultOutcome({ content: images });
  assert.equal(many.kind === 'finished' ? many.images?.length : 0, 4);
  assert.match(many.kind === 'finished' ? many.text : '', /500 more parts left out/);
  const long = resultOutcome({ content: [{ type: 'text', text: 'x'.repeat(3_000_000) }] });
  assert.ok(long.kind === 'finished' && long.text.length <= 1_000_000);
});
