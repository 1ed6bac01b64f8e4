import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import * as yaml from 'yaml';
import { removeInYaml, setInYaml } from './edit-yaml.ts';
import { shieldReferences } from './environment.ts';
import type { KeyPath } from './key-tree.ts';

function set(text: string, key: string, value: unknown): string {
  const edited = setInYaml(yaml, text, key.split('.'), value);
  assert.equal(edited.kind, 'edited');
  return edited.kind === 'edited' ? edited.text : '';
}

const file = `# the top

gateway:            # the service
  host:   localhost # aligned   on purpose
  port: 8477        # the port

  # agents
  agent_cache: { max_size: 128,   idle_ttl_s: 3600 } # warm


model:
    provider:   # nothing yet
    name: "a # b"   # quoted
    api_key:
      - \${A}   # first
toolsets: [core,web] # inline
notes: |
  text # no comment
last: 1 # end
# the end`;

describe('setInYaml changes one value and not a byte beside it', () => {
  const cases: [what: string, key: string, value: unknown, from: string, to: string][] = [
    ['a number', 'gateway.port', 9000, 'port: 8477 ', 'port: 9000 '],
    ['a plain text', 'gateway.host', '0.0.0.0', 'host:   localhost ', 'host:   0.0.0.0 '],
    ['a quoted text', 'model.name', 'c', '"a # b"   #', 'c   #'],
    ['a text that needs quotes', 'gateway.host', 'a: #b', 'localhost', '"a: #b"'],
    ['a text that looks like a number', 'gateway.host', '1e3', 'localhost', '"1e3"'],
    ['a text of two lines', 'gateway.host', 'a\nb', 'localhost', '"a\\nb"'],
    ['a reference', 'model.name', '${B}', '"a # b"', '${B}'],
    ['an inline value', 'gateway.agent_cache.max_size', 5, 'max_size: 128,', 'max_size: 5,'],
    ['an inline list', 'toolsets', ['core', 'a, b'], '[core,web]', '[ core, "a, b" ]'],
    ['an empty value', 'model.provider', 'openai', 'provider:   #', 'provider: openai   #'],
    ['a new key at the end of a section', 'gateway.busy_mode', 'queue', '} # warm\n', '} # warm\n  busy_mode: queue\n'],
    [
      'a new key in a section of another indentation',
      'model.api_mode',
      'responses',
      '${A}   # first\n',
      '${A}   # first\n    api_mode: responses\n',
    ],
    ['a new inline key', 'gateway.agent_cache.extra', '${X}', '3600 } # warm', '3600, extra: "${X}" } # warm'],
    ['a new section', 'log.level', 'debug', 'last: 1 # end\n', 'last: 1 # end\nlog:\n  level: debug\n'],
    ['a section below a new section', 'a.b.c', [1], 'last: 1 # end\n', 'last: 1 # end\na:\n  b:\n    c: [ 1 ]\n'],
    ['a section as a value', 'last', { a: [1], b: 'x' }, 'last: 1 ', 'last: { a: [ 1 ], b: x } '],
    ['nothing', 'last', null, 'last: 1 ', 'last: null '],
  ];
  for (const [what, key, value, from, to] of cases) {
    test(`${what}: ${key}`, () => {
      assert.ok(file.includes(from));
      assert.equal(
        set(file, key, value),
        file.replace(from, () => to),
      );
    });

    test(`${what}, with Windows line ends: ${key}`, () => {
      const crlf = (text: string) => text.replaceAll('\n', '\r\n');
      assert.equal(
        set(crlf(file), key, value),
        crlf(file).replace(crlf(from), () => crlf(to)),
      );
    });
  }

  test('a key in a file of comments only', () => {
    assert.equal(set('# a\n# b', 'gateway.port', 1), '# a\n# b\ngateway:\n  port: 1\n');
    assert.equal(set('', 'gateway.port', 1), 'gateway:\n  port: 1\n');
  });

  test('a key in a section that is empty so far', () => {
    assert.equal(
      set('gateway: # mine\n  # port: 1\nlog: {}\n', 'gateway.port', 2),
      'gateway: # mine\n  port: 2\n  # port: 1\nlog: {}\n',
    );
    assert.equal(set('gateway: {}\n', 'gateway.port', 2), 'gateway: { port: 2 }\n');
  });

  test('a key after a block of text', () => {
    assert.equal(set('a: |\n  x\n  y\n', 'b', 1), 'a: |\n  x\n  y\nb: 1\n');
  });
});

describe('setInYaml keeps comments and order where it must write the file anew', () => {
  test('a section replaced by another', () => {
    const text = '# top\na: # first\n  b: 1 # one\n# before c\nc: 2 # two\n';
    assert.equal(set(text, 'a', { d: 1 }), '# top\na:\n  d: 1\n# before c\nc: 2 # two\n');
  });

  test('a block of text replaced', () => {
    assert.equal(set('a: |\n  x\n# keep\nb: ${X}\n', 'a', 'y'), 'a: y\n# keep\nb: ${X}\n');
  });

  test('an item of a list', () => {
    const edited = setInYaml(yaml, '# top\nlist:\n  - a # one\n  - b # two\n', ['list', 1], 'c');
    assert.deepEqual(edited, { kind: 'edited', text: '# top\nlist:\n  - a # one\n  - c # two\n' });
  });
});

describe('setInYaml leaves to a person', () => {
  test('what is shared through an alias', () => {
    const text = 'a: &x\n  b: 1\nc: *x\n';
    assert.deepEqual(setInYaml(yaml, text, ['c', 'b'], 2), { kind: 'stuck' });
  });

  test('what lies below a plain value', () => {
    assert.deepEqual(setInYaml(yaml, 'a: 1\n', ['a', 'b'], 2), { kind: 'stuck' });
  });
});

test('setInYaml: an alias itself can be replaced, and a merged key overridden', () => {
  assert.equal(set('a: &x\n  b: 1\nc: *x\n', 'c', 2), 'a: &x\n  b: 1\nc: 2\n');
  assert.equal(set('a: &x\n  b: 1\nc:\n  <<: *x\n', 'c.b', 2), 'a: &x\n  b: 1\nc:\n  <<: *x\n  b: 2\n');
});

describe('removeInYaml', () => {
  const remove = (text: string, key: string) => {
    const edited = removeInYaml(yaml, text, key.split('.'));
    return edited.kind === 'edited' ? edited.text : edited.kind;
  };
  test('takes out one value with all below it, and not a byte beside it', () => {
    const before =
      '# top\na: 1 # one\nb:\n  x: { y: 1 } # x\n  # about z\n  z:\n    q: |\n      text\n    r: [1]\n\nc: 3\n';
    assert.equal(remove(before, 'b.x'), before.replace('  x: { y: 1 } # x\n', ''));
    assert.equal(remove(before, 'b.z'), before.replace('  z:\n    q: |\n      text\n    r: [1]\n', ''));
    assert.equal(remove(before, 'a'), before.replace('a: 1 # one\n', ''));
    assert.equal(remove('a: 1\r\nb: 2', 'b'), 'a: 1\r\n');
    assert.equal(remove('s: { a: 1, b: ${B} }\n', 's.a'), 's: { b: ${B} }\n');
  });
  test('takes out a section of which nothing is left', () => {
    assert.equal(remove('a: 1\nm:\n  n:\n    o: { p: 1 }\n', 'm.n.o'), 'a: 1\n');
    assert.deepEqual(yaml.parse(remove('# mine\nm: { n: 1 }\n', 'm.n')) ?? {}, {});
  });
  test('leaves to a person what is not there as such', () => {
    for (const key of ['b.x', 'c.x', 'd', 'a.x']) {
      assert.equal(remove('a: &a { x: 1 }\nb: *a\nc: { <<: *a, y: 1 }\n', key), 'stuck', key);
    }
  });
});

test('whatever is set is read back, everything else means what it meant, and comments stay', () => {
  const texts = [
    file,
    'a: 1\n',
    '',
    '# only\n',
    'gateway: {port: 1, host: x}\n',
    'gateway:\nmodel: ~\n',
    'gateway: { agent_cache: {} }',
  ];
  const path = fc.constantFrom<KeyPath[]>(
    ['gateway', 'port'],
    ['gateway', 'agent_cache', 'max_size'],
    ['gateway'],
    ['model', 'name'],
    ['toolsets'],
    ['new', 'deep', 'key'],
    ['a'],
  );
  const leaf = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.stringMatching(/^[-:#{}[\],&*!|>'"%@` \n${}A]*$/),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom('${A}', 'null', '~', 'yes', '012', '0x1f', '- a', '? b', '<<'),
  );
  const value = fc.oneof(
    leaf,
    fc.array(leaf, { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), leaf, { maxKeys: 3 }),
  );
  const parse = (text: string) => (yaml.parse(shieldReferences(text)) ?? {}) as Record<string, unknown>;
  const comments = (text: string) => [...text.matchAll(/^.*(# .*)$/gm)].map((match) => match[1] ?? '');
  fc.assert(
    fc.property(fc.constantFrom(...texts), path, value, (text, at, wanted) => {
      const edited = setInYaml(yaml, text, at, wanted);
      assert.equal(edited.kind, 'edited');
      if (edited.kind !== 'edited') return;
      const expected = yaml.parseDocument(shieldReferences(text));
      if (expected.contents === null) expected.contents = expected.createNode({}) as never;
      for (let length = 1; length < at.length; length++) {
        if (!yaml.isMap(expected.getIn(at.slice(0, length))))
          expected.setIn(at.slice(0, length), expected.createNode({}));
      }
      expected.setIn(at, JSON.parse(shieldReferences(JSON.stringify(wanted))));
      assert.deepEqual(parse(edited.text), expected.toJS());
      if (at.length === 1 && at[0] === 'gateway') return;
      for (const comment of comments(text)) assert.ok(edited.text.includes(comment), comment);
    }),
    { numRuns: 500 },
  );
});
