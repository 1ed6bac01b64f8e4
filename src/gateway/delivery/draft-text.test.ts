import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { draftBody, draftRoom, draftText } from './draft-text.ts';

const room = draftRoom(400);

void describe('the text of a draft', () => {
  void test('an open code block is closed, a closed one is left alone', () => {
    assert.equal(draftBody('Look:\n```ts\nconst a', room), 'Look:\n```ts\nconst a\n```');
    assert.equal(draftBody('  ~~~~ py\n  a\n', room), '  ~~~~ py\n  a\n  ~~~~');
    assert.equal(draftBody('```\na\n```\nand', room), '```\na\n```\nand');
  });

  void test('a line that may become a fence waits until it is whole', () => {
    for (const tail of ['`', '``', '```', '```t', '```ts', '~', '~~~ x']) {
      assert.equal(draftBody(`Look:\n${tail}`, room), 'Look:');
    }
    assert.equal(draftBody('```ts\na\n``', room), '```ts\na\n```');
    assert.equal(draftBody('```ts\na\n```', room), '```ts\na\n```');
    assert.equal(draftBody('`word` and', room), '`word` and');
  });

  void test('what does not fit is cut, with its code block closed, and stays as it is however much follows', () => {
    const long = `\`\`\`\n${'x'.repeat(1_000)}`;
    const shown = draftBody(long, room);
    assert.equal(shown, `${long.slice(0, room.bodyMax)}…\n\`\`\``);
    assert.equal(draftBody(`${long}\n\`\`\`\nmore`, room), shown);
    assert.ok(draftText(shown, 'y'.repeat(room.lineMax)).length <= 400);
  });

  void test('half a character is not shown', () => {
    assert.equal(draftBody('a\uD83D', room), 'a');
    assert.equal(draftBody('😀'.repeat(500), room), `${'😀'.repeat(Math.floor(room.bodyMax / 2))}…`);
  });

  void test('the line stands below, or alone', () => {
    assert.deepEqual([draftText('a', 'b'), draftText('', 'b'), draftText('a', '')], ['a\n\nb', 'b', 'a']);
  });
});
