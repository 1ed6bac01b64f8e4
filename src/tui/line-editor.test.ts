import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { LineEditor } from './line-editor.ts';

function open(t: TestContext, isDumb = false) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: 20 });
  let shown = '';
  output.on('data', (chunk: Buffer) => void (shown += chunk.toString()));
  const texts: string[] = [];
  const editor = new LineEditor({
    input,
    output,
    isDumb,
    onText: (text) => void texts.push(text),
    onKey: () => {},
    onCtrlC: () => {},
    onClose: () => {},
  });
  t.after(() => editor.close());
  return {
    editor,
    texts,
    /** What the keys make it write. */
    async press(keys: string): Promise<string> {
      const before = shown.length;
      input.write(keys);
      await immediate();
      return shown.slice(before);
    },
    shown: () => shown,
  };
}

const left = '\u001b[D';
const backspace = '\u007f';
const oneUp = '\u001b[1A';

describe('the text that is being typed', () => {
  test('a line that wraps is redrawn from its first row', async (t) => {
    const { editor, press, texts } = open(t);
    editor.show('> ');
    await press('abcdefghijklmnopqrstuvwxyz');
    const redrawn = await press(`${left}${backspace}`);
    assert.ok(redrawn.includes(`${oneUp}\u001b[1G\u001b[0J> abcdefghijklmnopqrstuvwxz`), JSON.stringify(redrawn));
    await press('\r');
    assert.deepEqual(texts, ['abcdefghijklmnopqrstuvwxz']);
  });

  test('a line that wraps is wiped as a whole', async (t) => {
    const { editor, press, shown } = open(t);
    editor.show('> ');
    await press('abcdefghijklmnopqrstuvwxyz');
    editor.wipe();
    assert.ok(shown().endsWith(`${oneUp}\u001b[1G\u001b[0J`), JSON.stringify(shown()));
    editor.show('> ');
    assert.ok(shown().includes('\u001b[0J> abcdefghijklmnopqrstuvwxyz'));
  });

  test('a long text can be pasted in one go', async (t) => {
    const { editor, press, texts } = open(t);
    editor.show('> ');
    const text = `${'word '.repeat(20_000)}\n${'x'.repeat(5_000)}`;
    await press(`\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`);
    assert.ok(editor.hasText);
    await press('\r');
    assert.deepEqual(texts, [text]);
    assert.ok(!editor.hasText);
  });

  test('a terminal that knows no control sequences is sent none', async (t) => {
    const { editor, shown } = open(t, true);
    editor.wipe();
    editor.close();
    await immediate();
    assert.equal(shown().includes('\u001b'), false, JSON.stringify(shown()));
  });
});
