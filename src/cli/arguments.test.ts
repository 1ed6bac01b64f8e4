import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseArguments, type CommandSpec } from './arguments.ts';
import { helpText } from './help.ts';

const table: CommandSpec[] = [
  {
    path: [],
    summary: 'talk',
    options: [
      { name: 'prompt', short: 'p', value: 'TEXT', summary: 'ask' },
      { name: 'json', summary: 'JSON' },
    ],
    operands: [],
  },
  { path: ['gateway'], summary: 'serve', options: [{ name: 'port', value: 'N', summary: 'port' }], operands: [] },
  { path: ['sessions', 'list'], summary: 'list them', options: [], operands: [] },
  {
    path: ['sessions', 'export'],
    summary: 'write one',
    options: [],
    operands: [
      { name: 'NAME', need: 'required' },
      { name: 'FILE', need: 'optional' },
    ],
  },
  {
    path: ['sessions', 'delete'],
    summary: 'delete some',
    options: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
    operands: [{ name: 'NAME', need: 'one-or-more' }],
  },
];

/** The result as plain data. */
function parse(...argv: string[]): unknown {
  const parsed = parseArguments(table, argv);
  if (parsed.kind !== 'command') return parsed;
  const names = ['prompt', 'json', 'port', 'yes'].filter((name) => parsed.input.has(name));
  return {
    command: parsed.command.path.join(' '),
    options: Object.fromEntries(names.map((name) => [name, parsed.input.value(name)])),
    operands: parsed.input.operands,
    verbose: parsed.verbose,
  };
}

test('an option that may be given more than once keeps all of its values in their order', () => {
  const spec: CommandSpec = {
    path: ['add'],
    summary: 'add one',
    options: [{ name: 'env', value: 'NAME=VALUE', isList: true, summary: 'a variable' }],
    operands: [{ name: 'TARGET', need: 'one-or-more' }],
  };
  const parsed = parseArguments([spec], ['add', '--env', 'A=1', '--env=B=2', '--', 'run', '--env', 'C=3']);
  assert.deepEqual(parsed.kind === 'command' ? [parsed.input.values('env'), parsed.input.operands] : parsed, [
    ['A=1', 'B=2'],
    ['run', '--env', 'C=3'],
  ]);
});

const plain = { options: {}, operands: [], verbose: false };

describe('the command line', () => {
  test('without a word is the program itself', () => {
    assert.deepEqual(parse(), { ...plain, command: '' });
  });

  test('takes an option value as the next word, after =, or by the short name', () => {
    const expected = { ...plain, command: '', options: { prompt: 'a b' } };
    assert.deepEqual(parse('--prompt', 'a b'), expected);
    assert.deepEqual(parse('--prompt=a b'), expected);
    assert.deepEqual(parse('-p', 'a b'), expected);
  });

  test('takes text that begins with a dash as a value', () => {
    assert.deepEqual(parse('-p', '- a list'), { ...plain, command: '', options: { prompt: '- a list' } });
    assert.deepEqual(parse('--prompt=--json'), { ...plain, command: '', options: { prompt: '--json' } });
    assert.deepEqual(parse('-p', ''), { ...plain, command: '', options: { prompt: '' } });
  });

  test('does not let a forgotten value swallow the next option', () => {
    assert.deepEqual(parse('-p', '--json'), {
      kind: 'wrong',
      problem: '-p needs a TEXT after it; write --prompt=--json if that is it (see talaria --help)',
    });
    assert.deepEqual(parse('gateway', '--port'), {
      kind: 'wrong',
      problem: '--port needs a N after it (see talaria gateway --help)',
    });
  });

  test('finds commands of two words and their operands', () => {
    assert.deepEqual(parse('sessions', 'list'), { ...plain, command: 'sessions list' });
    assert.deepEqual(parse('sessions', 'export', 'a', '-'), {
      ...plain,
      command: 'sessions export',
      operands: ['a', '-'],
    });
    assert.deepEqual(parse('sessions', 'delete', 'a', '-y', 'b'), {
      ...plain,
      command: 'sessions delete',
      options: { yes: null },
      operands: ['a', 'b'],
    });
  });

  test('takes everything after -- as operands', () => {
    assert.deepEqual(parse('sessions', 'delete', '--', '--yes', '-x'), {
      ...plain,
      command: 'sessions delete',
      operands: ['--yes', '-x'],
    });
    assert.deepEqual(parse('sessions', 'export', '-5'), { ...plain, command: 'sessions export', operands: ['-5'] });
  });

  test('takes --verbose before or after the command', () => {
    assert.deepEqual(parse('--verbose', 'gateway'), { ...plain, command: 'gateway', verbose: true });
    assert.deepEqual(parse('gateway', '--verbose'), { ...plain, command: 'gateway', verbose: true });
  });

  test('names the nearest command for an unknown one', () => {
    assert.deepEqual(parse('gatewya'), {
      kind: 'wrong',
      problem: 'unknown command "gatewya"; did you mean talaria gateway?',
    });
    assert.deepEqual(parse('sessions', 'lst'), {
      kind: 'wrong',
      problem: 'unknown command "sessions lst"; did you mean talaria sessions list?',
    });
    assert.deepEqual(parse('hello there'), {
      kind: 'wrong',
      problem: 'unknown command "hello there"; see talaria --help',
    });
  });

  test('names the nearest option for an unknown one', () => {
    assert.deepEqual(parse('--jsn'), {
      kind: 'wrong',
      problem: 'unknown option "--jsn"; did you mean --json? (see talaria --help)',
    });
    assert.deepEqual(parse('gateway', '-x'), {
      kind: 'wrong',
      problem: 'unknown option "-x" (see talaria gateway --help)',
    });
  });

  test('keeps a long wrong word short and on one line', () => {
    const problem = (parse(`--${'x\n'.repeat(1_000)}`) as { problem: string }).problem;
    assert.ok(problem.length < 200 && !problem.includes('\n'), problem);
  });

  test('refuses missing and surplus operands, values for switches, and repetition', () => {
    const problems = [
      parse('sessions', 'export'),
      parse('sessions', 'delete', '--yes'),
      parse('sessions', 'list', 'x'),
      parse('--json=1'),
      parse('--json', '--json'),
      parse('sessions'),
      parse('-p', 'x', 'sessions'),
    ].map((result) => (result as { problem: string }).problem);
    assert.deepEqual(problems, [
      'talaria sessions export needs NAME (see talaria sessions export --help)',
      'talaria sessions delete needs NAME (see talaria sessions delete --help)',
      'unexpected "x" after talaria sessions list (see talaria sessions list --help)',
      '--json takes no value (see talaria --help)',
      '--json was given twice',
      'talaria sessions needs one of: list, export, delete',
      'unexpected "sessions" after talaria (see talaria --help)',
    ]);
  });

  test('asks for help of the program, a group and a command, wherever --help stands', () => {
    assert.deepEqual(parse('--help'), { kind: 'help', path: [] });
    assert.deepEqual(parse('-h'), { kind: 'help', path: [] });
    assert.deepEqual(parse('help'), { kind: 'help', path: [] });
    assert.deepEqual(parse('help', 'sessions', 'list'), { kind: 'help', path: ['sessions', 'list'] });
    assert.deepEqual(parse('sessions', '--help'), { kind: 'help', path: ['sessions'] });
    assert.deepEqual(parse('--help', 'sessions'), { kind: 'help', path: ['sessions'] });
    assert.deepEqual(parse('sessions', 'export', '--help'), { kind: 'help', path: ['sessions', 'export'] });
    assert.deepEqual(parse('help', 'gatwey'), {
      kind: 'wrong',
      problem: 'unknown command "gatwey"; did you mean talaria gateway?',
    });
  });

  test('asks for the version of the program only', () => {
    assert.deepEqual(parse('--version'), { kind: 'version' });
    assert.equal((parse('gateway', '--version') as { kind: string }).kind, 'wrong');
  });
});

describe('help', () => {
  test('of the program shows its commands and options', () => {
    assert.equal(
      helpText(table, []),
      `Usage: talaria [OPTIONS]
       talaria COMMAND …

Talk.

Commands:
  gateway   serve
  sessions  list, export, delete

Options:
  -p, --prompt TEXT  ask
      --json         JSON
      --verbose      debug log and stack traces on stderr
  -h, --help         show this help
      --version      show the version

Everything is kept in $TALARIA_HOME, by default ~/.talaria.
`,
    );
  });

  test('of a command shows its operands', () => {
    assert.match(
      helpText(table, ['sessions', 'export']),
      /^Usage: talaria sessions export \[OPTIONS\] NAME \[FILE\]\n/,
    );
    assert.match(helpText(table, ['sessions', 'delete']), /^Usage: talaria sessions delete \[OPTIONS\] NAME…\n/);
    assert.match(helpText(table, ['sessions']), /^Usage: talaria sessions COMMAND …\n\nCommands:\n {2}list/);
  });
});
