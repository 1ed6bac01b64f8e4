import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseDotEnv, setInDotEnv } from './dot-env.ts';

describe('parseDotEnv', () => {
  test('understands every way to write a value', () => {
    const text = `# comment
PLAIN=value
  export EXPORTED=yes
SPACED =  a b  # comment
HASH=a#b
EMPTY=
ONLY_COMMENT= # nothing
SINGLE='a "b" \\n #c' # comment
DOUBLE="line\\n\\"two\\" \\\\ \\$ \\q #"
URL=postgres://u:p@h/d?x=1&y=2
PLAIN=last one counts\r
DOLLAR=\${PLAIN}
`;
    assert.deepEqual(Object.fromEntries(parseDotEnv(text).values), {
      PLAIN: 'last one counts',
      EXPORTED: 'yes',
      SPACED: 'a b',
      HASH: 'a#b',
      EMPTY: '',
      ONLY_COMMENT: '',
      SINGLE: 'a "b" \\n #c',
      DOUBLE: 'line\n"two" \\ $ \\q #',
      URL: 'postgres://u:p@h/d?x=1&y=2',
      DOLLAR: '${PLAIN}',
    });
    assert.deepEqual(parseDotEnv(text).problems, []);
  });

  test('names the line of everything else and never shows it', () => {
    const text = 'A=1\n  secret\nB: 2\n1C=3\nD="open\nE=\'open\nF="a" b\n=x\n';
    const form = 'this line is neither NAME=value nor a comment that begins with #';
    const open = (name: string) => `the value of ${name} has a quotation mark that is not closed at its end`;
    const problem = (line: number, column: number, message: string) => ({
      file: '.env',
      line,
      column,
      path: '',
      message,
    });
    assert.deepEqual(parseDotEnv(text).problems, [
      problem(2, 3, form),
      problem(3, 1, form),
      problem(4, 1, form),
      problem(5, 3, open('D')),
      problem(6, 3, open('E')),
      problem(7, 3, open('F')),
      problem(8, 1, form),
    ]);
  });
});

describe('setInDotEnv', () => {
  test('changes the line of a name and keeps all others as they are', () => {
    const before = '# mine\n\nexport A=1 # one\n  B = 2\nbad line\nA=3\n\n\n';
    const changes = new Map([
      ['A', 'new'],
      ['C', 'it is'],
    ]);
    assert.equal(setInDotEnv(before, changes), "# mine\n\nexport A=new\n  B = 2\nbad line\nA=new\nC='it is'\n");
  });

  test('begins a file, and keeps Windows line ends', () => {
    assert.equal(setInDotEnv('', new Map([['A', '1']])), 'A=1\n');
    assert.equal(setInDotEnv('B=2\r\n', new Map([['A', '1']])), 'B=2\r\nA=1\r\n');
  });

  test('writes any value so that it is read back', () => {
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[ '"#$\\\n\r=a]*$/));
    fc.assert(
      fc.property(value, value, (first, second) => {
        const text = setInDotEnv(setInDotEnv('X=1\n', new Map([['A', first]])), new Map([['B', second]]));
        const { values, problems } = parseDotEnv(text);
        assert.deepEqual(problems, []);
        assert.deepEqual(Object.fromEntries(values), { X: '1', A: first, B: second });
      }),
    );
  });
});
