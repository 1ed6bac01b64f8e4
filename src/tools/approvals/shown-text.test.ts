import assert from 'node:assert/strict';
import test from 'node:test';
import { shownText, unseenCharacters } from './shown-text.ts';

test('what can be seen is shown as it is', () => {
  const text = 'git commit -m "Grüße, привет, 你好 👍"\nls | wc -l';
  assert.equal(shownText(text), text);
});

test('what can not be seen, or moves other characters, stands as its number', () => {
  assert.equal(shownText('a\u202eb\u200bc\u00a0d\re\tf\0'), 'a‹U+202E›b‹U+200B›c‹U+00A0›d‹U+000D›e‹U+0009›f‹U+0000›');
  assert.equal(shownText('end  \nx'), 'end‹U+0020›‹U+0020›\nx');
});

test('a letter among letters of another script stands as its number', () => {
  assert.equal(shownText('сurl раypal.com'), '‹U+0441›url ‹U+0440›‹U+0430›ypal.com');
});

test('other forms of a plain letter or sign, and signs that are drawn like one, stand as their numbers', () => {
  assert.equal(shownText('rm \u2010rf'), 'rm ‹U+2010›rf');
  assert.equal(
    shownText('https:\u2215\u2215ba\u0261.com\uff0fx \u217c\u0131b'),
    'https:‹U+2215›‹U+2215›ba‹U+0261›.com‹U+FF0F›x ‹U+217C›‹U+0131›b',
  );
  assert.equal(shownText('café naïve Ångström'), 'café naïve Ångström');
});

test('nothing is moved out of sight by what is empty', () => {
  assert.equal(shownText(`echo ok${' '.repeat(500)}; evil`), 'echo ok ‹U+0020 × 498› ; evil');
  assert.equal(shownText(`echo ok${'\n'.repeat(60)}evil`), 'echo ok\n‹U+000A × 58›\nevil');
  const usual = `if x:\n${' '.repeat(40)}y\n\n\n\n\nz`;
  assert.equal(shownText(usual), usual);
});

test('no two texts look the same', () => {
  assert.notEqual(shownText('‹U+202E›'), shownText('\u202e'));
  assert.equal(shownText('rm caf\u00e9 cafe\u0301'), 'rm café cafe‹U+0301›');
});

test('a picture of several characters is seen', () => {
  assert.deepEqual(unseenCharacters('👩‍💻 ❤️ ok'), []);
  assert.deepEqual(unseenCharacters('a\u200db'), ['U+200D']);
});
