import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { planOf, type Step } from './plan.ts';

const allTools = new Set(['terminal', 'read_file', 'write_file', 'memory']);

const call = (name: string, input: object): Step => ({
  kind: 'calls',
  calls: [{ name, arguments: JSON.stringify(input) }],
});
const run = (command: string) => call('terminal', { command });
const read = (path: string, window: object = {}) => call('read_file', { path, ...window });
const write = (path: string, content: string) => call('write_file', { path, content });
const remember = (text: string) => call('memory', { action: 'add', text });

const requests: readonly [words: string, steps: readonly Step[]][] = [
  ['run ls -la', [run('ls -la')]],
  ['Run ls.', [run('ls')]],
  ['run find .', [run('find .')]],
  ['run cd .. && pwd', [run('cd .. && pwd')]],
  ['please run git status', [run('git status')]],
  ['Could you please run git status, please?', [run('git status')]],
  ['can you run ls?', [run('ls')]],
  ['run ls *.t?', [run('ls *.t?')]],
  ['execute `echo "a and then b"`', [run('echo "a and then b"')]],
  ['run the command `ls`', [run('ls')]],
  ['run this:\n```sh\nset -e\nls and then\n```', [run('set -e\nls and then')]],
  ['$ echo a and then b', [run('echo a and then b')]],
  ['$ls', [run('ls')]],
  ['read README.md', [read('README.md')]],
  ['Read the file notes', [read('notes')]],
  ['show me file X', [read('X')]],
  ['show me the file src/a.ts please', [read('src/a.ts')]],
  ['show me `my file`', [read('my file')]],
  ['open "my notes.txt".', [read('my notes.txt')]],
  ['read readme', [read('readme')]],
  ['cat X', [read('X')]],
  ['what is in notes.txt?', [read('notes.txt')]],
  ['read README.md.', [read('README.md')]],
  ['read a.ts lines 10-20', [read('a.ts', { offset: 10, limit: 11 })]],
  ['read a.ts, line 5', [read('a.ts', { offset: 5, limit: 1 })]],
  ['write hello to notes.txt', [write('notes.txt', 'hello')]],
  ['write "hello to all" into the file notes', [write('notes', 'hello to all')]],
  ['put 1, 2 and 3 in list.txt', [write('list.txt', '1, 2 and 3')]],
  ['create file a.txt with hello world', [write('a.txt', 'hello world')]],
  ['create a new file called a with the text x', [write('a', 'x')]],
  ['remember that I prefer tea.', [remember('I prefer tea.')]],
  ['Remember: I run and read a lot', [remember('I run and read a lot')]],
  ['run a.sh and then read out.txt', [run('a.sh'), read('out.txt')]],
  ['run date, then run uptime', [run('date'), run('uptime')]],
  ['run date\n\nrun uptime\n$ pwd', [run('date'), run('uptime'), run('pwd')]],
  ['run date and run uptime', [run('date'), run('uptime')]],
  [
    'run date and run uptime at once',
    [
      {
        kind: 'calls',
        calls: [
          { name: 'terminal', arguments: '{"command":"date"}' },
          { name: 'terminal', arguments: '{"command":"uptime"}' },
        ],
      },
    ],
  ],
  [
    'read both a.txt and b.txt and then run ls',
    [
      {
        kind: 'calls',
        calls: [
          { name: 'read_file', arguments: '{"path":"a.txt"}' },
          { name: 'read_file', arguments: '{"path":"b.txt"}' },
        ],
      },
      run('ls'),
    ],
  ],
  [
    'echo  Hello, *world*\n\nand then run ls',
    [{ kind: 'say', text: ' Hello, *world*\n\nand then run ls'.trimStart(), isExact: true }],
  ],
  ['say hi', [{ kind: 'say', text: 'hi', isExact: true }]],
  ['count to 5', [{ kind: 'say', text: '1, 2, 3, 4, 5.', isExact: false }]],
  ['count slowly to 3', [{ kind: 'say', text: '1, 2, 3.', isExact: false }]],
  ['think about tea and then run ls', [{ kind: 'think', about: 'tea' }, run('ls')]],
  ['call tool nope with {"a":1', [{ kind: 'calls', calls: [{ name: 'nope', arguments: '{"a":1' }] }]],
  ['call the tool terminal', [{ kind: 'calls', calls: [{ name: 'terminal', arguments: '{}' }] }]],
];

for (const [words, steps] of requests) {
  test(`${JSON.stringify(words)} is understood`, () => {
    assert.deepEqual(planOf(words, allTools), steps);
  });
}

const noRequests = [
  'run the tests',
  'run out of milk',
  'read me a story',
  'open your mind',
  'write a poem about cats',
  'cat videos are great',
  'what is love?',
  'should I run ls?',
];

for (const words of noRequests) {
  test(`${JSON.stringify(words)} asks for no tool`, () => {
    assert.deepEqual(
      planOf(words, allTools).map((step) => step.kind),
      ['say'],
    );
  });
}

const answers: readonly [words: string, expected: RegExp][] = [
  ['hello', /^Hello!/],
  ['Hi there!', /^Hello!/],
  ['thanks', /welcome/],
  ['what can you do?', /`run ls -la` runs a command/],
  ['help', /`run ls -la` runs a command/],
  ['who are you', /I am Talaria/],
  ['how do I connect a model?', /talaria model providers/],
  ['How can I use Claude', /talaria model set anthropic/],
  ['what is a session?', /talaria sessions list/],
  ['where is my data', /~\/\.talaria/],
  ['where are my files stored?', /state\.db/],
  ['how do I back up?', /talaria backup FILE/],
  ['how do I make a backup', /talaria backup FILE/],
  ['how do I open the web chat', /talaria gateway/],
  ['how does memory work', /MEMORY\.md/],
];

for (const [words, expected] of answers) {
  test(`${JSON.stringify(words)} is answered from what is known about Talaria`, () => {
    const [step, ...rest] = planOf(words, allTools);
    assert.deepEqual(rest, []);
    assert.ok(step?.kind === 'say');
    assert.match(step.text, expected);
    assert.doesNotMatch(step.text, /needs a real model/);
  });
}

const only = (words: string, tools = allTools) => {
  const [step] = planOf(words, tools);
  assert.ok(step?.kind === 'say');
  return step.text;
};

test('words that ask for a missing tool are told so, and suggestions name none', () => {
  const none = new Set<string>();
  assert.equal(only('run ls', none), 'That takes the tool `terminal`, which is not switched on here.');
  assert.equal(only('read a.txt', none), 'That takes the tool `read_file`, which is not switched on here.');
  assert.equal(only('write a to b.txt', none), 'That takes the tool `write_file`, which is not switched on here.');
  assert.equal(only('remember me', none), 'That takes the tool `memory`, which is not switched on here.');
  assert.doesNotMatch(only('help', none), /run ls|notes|remember/);
});

test('anything else is repeated in one line, with what to try instead', () => {
  assert.match(
    only('Why is\nthe sky blue?'),
    /^You wrote: “Why is the sky blue\?”\. That needs a real model; I am only the offline rehearsal/,
  );
  const long = only(`${'very '.repeat(100_000)}long`);
  assert.ok((long.split('\n')[0] ?? '').length < 250);
  assert.match(only('   '), /^There were no words in that message\./);
});

test('in a message of several steps the one not understood is named', () => {
  assert.deepEqual(planOf('run ls\nsing a song\nhello', allTools), [
    run('ls'),
    { kind: 'say', text: 'I did not understand “sing a song”.', isExact: false },
    { kind: 'say', text: 'Hello! Ask me `what can you do`, or try `run ls -la`.', isExact: false },
  ]);
});

test('a list of too many steps is refused as a whole', () => {
  const text = 'That message has 21 steps, and I take at most 20 at a time. Nothing was done.';
  assert.equal(only('run ls\n'.repeat(21)), text);
});

test('counting has an end', () => {
  assert.match(only('count to 999999999'), /999, 1000\. I stop here: 1000 is as far as I count\.$/);
  assert.equal(only('count to 0'), 'There is nothing to count.');
});

// A pattern that backtracks without end would never come back from one of these.
test('hostile and odd words are answered with well-formed text', () => {
  const words = [
    ' '.repeat(7_999),
    '\n'.repeat(7_999),
    'run '.repeat(1_999),
    'and then '.repeat(800),
    '`'.repeat(7_999),
    '"'.repeat(7_999),
    'write a to '.repeat(700),
    'x'.repeat(1_000_000),
    ' and\tthen'.repeat(100_000),
    'lone \ud800 surrogate',
    'nul \0 character',
    `write ${' '.repeat(7_000)} to`,
    `please ${'please '.repeat(1_000)}run ls`,
  ];
  for (const text of words) {
    for (const step of planOf(text, allTools)) if (step.kind === 'say') assert.ok(step.text.isWellFormed());
  }
});

test('whatever the words are, there is a plan', () => {
  const words = fc.array(
    fc.constantFrom(
      'run',
      'read',
      'and',
      'then',
      'a.txt',
      '`',
      '"',
      '\n',
      'both',
      'at once',
      'write',
      'to',
      '$',
      'count',
      '5',
      '```',
      ',',
    ),
  );
  fc.assert(
    fc.property(words, (list) => {
      assert.ok(planOf(list.join(' '), allTools).length > 0);
    }),
  );
});
