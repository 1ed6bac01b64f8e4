import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { seededRandom } from '../../lib/random.ts';
import { temporaryFolder } from '../fake-tool-context.ts';
import { expandWords, type ExpandHost } from './expand-word.ts';
import { readShell } from './parse-shell.ts';
import { outputOfScript } from './script-output.ts';
import { anyChar, anyChars, unknown } from './shell-gaps.ts';
import { assign, initialState, type ShellState } from './shell-state.ts';

const wordsTried = 1_500;

/** Pieces that a word may be made of; most of them mean something to a shell. */
const pieces = [
  'a',
  'b',
  'rm',
  ' ',
  '"',
  "'",
  '\\',
  '~',
  '=',
  ':',
  '-',
  '*',
  '?',
  '#',
  '%',
  '@',
  '\t',
  '{',
  '}',
  '"a b"',
  "'q'",
  '$x',
  '${x}',
  '${y}',
  '"$x"',
  '$e',
  '"$e"',
  '${l}',
  '$@',
  '"$@"',
  '"${arr[@]}"',
  '${arr[1]}',
  '${!r}',
  '\\"',
  '\\$',
  '{a,b}',
  '{1..3}',
  '{c,{d,e}}',
  '$(echo z)',
  '`echo w`',
  '$(printf "%s" "q r")',
  "$'\\x41\\n'",
  '$"l"',
  '${x:-d}',
  '${e:-d}',
  '${e-d}',
  '${x:+p}',
  '${x#a}',
  '${x%c}',
  '${x##*b}',
  '${x/b/B}',
  '${x:1}',
  '${x:0:1}',
  '${x^^}',
];

const host: ExpandHost = { outputOf: (script, state) => outputOfScript(script, state, host) };

function stateOf(cwd: string): ShellState {
  const state = initialState(cwd, '/home/ada', '/home/ada/.talaria');
  for (const [name, value] of Object.entries({ x: 'abc', y: 'u v', e: '', l: ' lead', r: 'x' }))
    assign(state, name, value);
  assign(state, 'arr', ['p q', 'r']);
  state.positional = ['1', '2 3'];
  return state;
}

/** What we make of it; null for what can't be compared: not readable, more than words, not known. */
function ours(text: string, cwd: string): string[] | null {
  const read = readShell(`printf X ${text}`);
  const command = read.ok && read.script.commands.length === 1 ? read.script.commands[0]?.command : undefined;
  if (command?.type !== 'Command' || command.redirects.length > 0) return null;
  const words = command.args.flatMap((part) => (part.type === 'Word' ? [part] : []));
  const fields = expandWords(words, stateOf(cwd), host).slice(1);
  if (words.length !== command.args.length || fields.some((field) => field.includes(unknown))) return null;
  return fields.map((field) => field.replaceAll(anyChars, '*').replaceAll(anyChar, '?'));
}

test('words become what bash makes of them', async (t) => {
  const cwd = await temporaryFolder(t);
  const random = seededRandom(6);
  const pick = (count: number) => Math.floor(random.float() * count);
  const tried = new Map<string, string[]>();
  while (tried.size < wordsTried) {
    const text = Array.from({ length: 1 + pick(6) }, () => pieces[pick(pieces.length)] ?? '').join('');
    // What depends on the rest of the line, or on what a shell makes of a lone dollar.
    if (/\\$|\$$|\$[^\w{(@'"]/.test(text)) continue;
    const fields = ours(text, cwd);
    // printf without arguments prints its format once.
    if (fields !== null) tried.set(text, fields.length === 0 ? [''] : fields);
  }
  const setting = "x=abc; y='u v'; e=; l=' lead'; r=x; arr=('p q' r); set -- 1 '2 3'";
  const lines = [...tried.keys()].map((text, index) => `(printf '\\001%d\\002' ${index}; printf '%s\\0' ${text}\n)\n`);
  const script = `cd '${cwd}'; HOME=/home/ada; ${setting}\n${lines.join('')}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { maxBuffer: 1e8 });
  const theirs = stdout
    .split('\x01')
    .slice(1)
    .map((chunk) =>
      chunk
        .slice(chunk.indexOf('\x02') + 1)
        .split('\0')
        .slice(0, -1),
    );
  assert.deepEqual(
    [...tried].map(([text, fields]) => [text, fields]).filter((_pair, index) => theirs[index] !== undefined),
    [...tried.keys()].map((text, index) => [text, theirs[index]]).filter(([, fields]) => fields !== undefined),
  );
});
