import assert from 'node:assert/strict';
import test from 'node:test';
import { applyEdits } from './apply-edits.ts';

const edit = (text: string, old: string, now: string, all?: boolean) => applyEdits(text, [{ old, new: now, all }]);
const edited = (text: string, loose: number[] = []) => ({ kind: 'edited', text, loose });
const failed = (problem: string) => ({ kind: 'failed', problem });

test('a piece that is there once is replaced, and dollar signs mean nothing', () => {
  assert.deepEqual(edit('a b c', 'b', "$& $' x"), edited("a $& $' x c"));
  assert.deepEqual(edit('a b c', ' b', ''), edited('a c'));
});

test('a piece that is there more than once is not guessed at', () => {
  assert.deepEqual(
    edit('x\nx\n', 'x', 'y'),
    failed('`old` occurs 2 times. Give more lines around it, or "all": true.'),
  );
  assert.deepEqual(
    edit('aaa', 'aa', 'b'),
    failed('`old` occurs in places that overlap. Give more lines around it, or "all": true.'),
  );
  assert.deepEqual(edit('x\nx\n', 'x', 'y', true), edited('y\ny\n'));
});

test('edits build on each other, and one that does not fit undoes them all', () => {
  const edits = [
    { old: 'one', new: 'two' },
    { old: 'two', new: 'three' },
  ];
  assert.deepEqual(applyEdits('one', edits), edited('three'));
  assert.deepEqual(
    applyEdits('one', [...edits, { old: 'four', new: '' }]),
    failed('`old` of edit 3 is not in the file. Read the file again and copy it exactly.'),
  );
});

test('lines that are indented differently are found, and what replaces them is indented like them', () => {
  const text = 'class A {\n    run() {\n        go();\n    }\n}\n';
  assert.deepEqual(
    edit(text, 'run() {\n    go();\n}', 'run() {\n    stop();\n\n    go();\n}'),
    edited('class A {\n    run() {\n        stop();\n\n        go();\n    }\n}\n', [1]),
  );
  const deep = 'a:\n  b: 1\n  c: 2\n';
  assert.deepEqual(edit(deep, '      b: 1\n      c: 2\n', '      b: 3\n'), edited('a:\n  b: 3\n', [1]));
  assert.deepEqual(
    edit('\tif (x) {\n\t\ty();\n\t}\n', '  if (x) {\n  \ty();\n  }\n', '  z();\n'),
    edited('\tz();\n', [1]),
  );
});

test('tabs are found by spaces and spaces by tabs, and what replaces them has what the file has', () => {
  const tabs = 'if x:\n\tif y:\n\t\tz()\n';
  const four = tabs.replaceAll('\t', '    ');
  const [old, now] = ['if y:\n\tz()', 'if y:\n\tw()\n\tif v:\n\t\tu()'].map((text) => text.replaceAll(/^/gm, '\t'));
  const asSpaces = (text = '') => text.replaceAll('\t', '    ');
  assert.deepEqual(
    edit(tabs, asSpaces(old), asSpaces(now)),
    edited('if x:\n\tif y:\n\t\tw()\n\t\tif v:\n\t\t\tu()\n', [1]),
  );
  assert.deepEqual(
    edit(four, old ?? '', now ?? ''),
    edited(asSpaces('if x:\n\tif y:\n\t\tw()\n\t\tif v:\n\t\t\tu()\n'), [1]),
  );
  assert.deepEqual(
    edit(tabs, 'if x:\n  if y:', 'if x:\n  if y:\n    pass'),
    edited('if x:\n\tif y:\n\t\tpass\n\t\tz()\n', [1]),
  );
});

test('one line is enough to tell tabs from spaces', () => {
  assert.deepEqual(edit('\tif y:\n', '    if y:', '    if y:\n        z()'), edited('\tif y:\n\t\tz()\n', [1]));
});

test('blanks at the ends of lines make no difference', () => {
  assert.deepEqual(edit('a();  \nb();\n', 'a();\nb();\n', 'c();\n'), edited('c();\n', [1]));
});

test('where lines fit loosely in two places, or with a shift that is not the same for all, nothing is done', () => {
  assert.deepEqual(
    edit(' x();\n  x();\n', '\tx();\n', 'y();\n'),
    failed('`old` is not in the file exactly, and fits 2 places loosely. Copy it exactly.'),
  );
  assert.match(JSON.stringify(edit('a\n    b\n', '  a\n  b\n', 'c\n')), /is not in the file/);
  assert.match(JSON.stringify(edit('    a\n', '  \ta\n', 'c\n')), /another indentation/);
});

test('a file with CRLF keeps it', () => {
  assert.deepEqual(edit('a\r\nb\nc\n', 'b\nc\n', 'x\ny\n'), edited('a\r\nx\ny\n'));
  assert.deepEqual(edit('a\r\nb\r\nc\r\n', 'a\nb\n', 'x\ny\n'), edited('x\r\ny\r\nc\r\n'));
  // Also where the piece has no line's end of its own, or half of one.
  assert.deepEqual(edit('a\r\nb\r\n', 'b', 'b\nc'), edited('a\r\nb\r\nc\r\n'));
  assert.deepEqual(edit('a\r\nb\r\n', '\nb', '\nx\nb'), edited('a\r\nx\r\nb\r\n'));
  assert.deepEqual(edit('a\r\nb\r\n', 'b', 'c\nd', true), edited('a\r\nc\r\nd\r\n'));
});

test('an empty piece and an edit that changes nothing are mistakes', () => {
  assert.deepEqual(edit('a', '', 'b'), failed('`old` is empty. To write a whole file, use write_file.'));
  assert.deepEqual(edit('a', 'a', 'a'), failed('The edits change nothing.'));
});
