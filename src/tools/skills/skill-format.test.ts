import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { firstInvisible } from '../invisible.ts';
import { simpleFrontMatter } from './simple-front-matter.ts';
import { nameProblem, readSkill } from './skill-format.ts';
import { builtInSkills, skillText } from './test-skills.ts';

const problemOf = async (text: string) => {
  const read = await readSkill(text);
  return read.kind === 'broken' ? read.problem : null;
};

describe('the format of a skill', () => {
  test('all keys of the format are read, others are left alone', async () => {
    const text = [
      '\uFEFF---',
      'name: pdf-forms',
      'description: >-',
      '  Fills in forms,',
      '  and checks them.',
      'license: Apache-2.0',
      'compatibility: "Needs: pdftk"',
      'metadata: { author: ada, version: 1.0, tags: [a, b] }',
      'allowed-tools: Bash(git:*) Read',
      'argument-hint: "[file]"',
      '---',
      '',
      '# Forms',
      '---',
      'more',
      '',
    ].join('\r\n');
    assert.deepEqual(await readSkill(text), {
      kind: 'skill',
      header: {
        name: 'pdf-forms',
        description: 'Fills in forms, and checks them.',
        license: 'Apache-2.0',
        compatibility: 'Needs: pdftk',
        metadata: { author: 'ada', version: '1', tags: '["a","b"]' },
        allowedTools: ['Bash(git:*)', 'Read'],
      },
      body: '# Forms\n---\nmore',
    });
  });

  test('what is wrong is said in a sentence', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['', /does not begin with front matter/],
      ['# Title\n', /does not begin with front matter/],
      ['---\nname: a\ndescription: b\n', /does not begin with front matter/],
      ['---\n---\nbody', /no keys|no `name`/],
      ['---\n- a\n---\n', /has no keys/],
      ['---\nname: [a\n---\n', /no valid YAML/],
      ['---\nname: a\nname: b\ndescription: c\n---\n', /no valid YAML/],
      ['---\ndescription: b\n---\n', /no `name`/],
      ['---\nname: 12\ndescription: b\n---\n', /no `name`/],
      ['---\nname: A\ndescription: b\n---\n', /"A" is no name for a skill/],
      ['---\nname: a\n---\n', /no `description`/],
      ['---\nname: a\ndescription: "  "\n---\n', /no `description`/],
      [`---\nname: a\ndescription: ${'x'.repeat(1_025)}\n---\n`, /has 1025 characters/],
      [`---\nname: a\ndescription: b\ncompatibility: ${'x'.repeat(501)}\n---\n`, /longer than 500/],
      ['---\nname: a\ndescription: b\nlicense: 3\n---\n', /`license` is no text/],
      ['---\nname: a\ndescription: b\nmetadata: text\n---\n', /`metadata` is no list/],
      [`---\nname: a\ndescription: b\nx: ${'y'.repeat(17_000)}\n---\n`, /longer than 16384/],
    ];
    for (const [text, expected] of cases)
      assert.match((await problemOf(text)) ?? 'nothing', expected, text.slice(0, 60));
  });

  test('front matter that multiplies itself is refused, quickly', async () => {
    const lines = Array.from(
      { length: 20 },
      (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}]`,
    );
    const text = `---\nname: a\ndescription: b\na0: &a0 [x]\n${lines.join('\n')}\n---\n`;
    assert.match((await problemOf(text)) ?? 'nothing', /can't be read|no valid YAML/);
  });

  test('names are those of the format', () => {
    for (const name of ['a', '3d', 'pdf-forms', 'a-1-b', 'x'.repeat(64)]) assert.equal(nameProblem(name), null, name);
    for (const name of ['', '-a', 'a-', 'a--b', 'A', 'a_b', 'a.b', '../a', 'ü', 'a b', 'x'.repeat(65), '.history']) {
      assert.match(nameProblem(name) ?? 'nothing', /is no name for a skill/, name);
    }
  });

  test('simple front matter means what YAML says it means', () => {
    const words = fc.stringMatching(/^[A-Za-z][ -~]{0,40}$/);
    const line = fc.tuple(fc.stringMatching(/^[a-z][a-z-]{0,8}$/), words).map(([key, value]) => `${key}: ${value}`);
    const text = fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, (front) => {
        const simple = simpleFrontMatter(front);
        if (simple !== null) assert.deepEqual(simple, parse(front));
      }),
      { numRuns: 2_000 },
    );
    assert.deepEqual(simpleFrontMatter('name: a\ndescription: It is, well, b (c) - d'), {
      name: 'a',
      description: 'It is, well, b (c) - d',
    });
    for (const odd of ['a: b: c', 'a: b #c', 'a: true', 'a: b\n  c', 'a: "b"', 'a: b ', 'a:', 'a: b\na: c', 'a: b:']) {
      assert.equal(simpleFrontMatter(odd), null, odd);
    }
  });

  test('the skills that come with the program are good, and cost a start no YAML parser', async () => {
    const names = await readdir(builtInSkills);
    assert.ok(names.length >= 5);
    for (const name of names) {
      const text = await readFile(join(builtInSkills, name, 'SKILL.md'), 'utf8');
      const read = await readSkill(text);
      assert.equal(read.kind === 'skill' && read.header.name, name);
      assert.ok(simpleFrontMatter(text.split('---\n')[1]?.trimEnd() ?? '') !== null, name);
      assert.equal(firstInvisible(text), null, name);
    }
  });

  test('characters that nobody sees are found, and pictures and scripts that need joiners are not taken for them', () => {
    const seen = [
      '✔️ 👩‍👩‍👧 1️⃣ 👍🏽 🇩🇪',
      'می‌خواهم',
      'క్\u200cష க்\u200cஷ ක්\u200dෂ',
      '\uFEFFstart',
      'tabs\tand\r\nlines',
      '日本語 é',
    ];
    for (const text of seen) assert.equal(firstInvisible(text), null, text);
    const unseen = {
      'a\u200bb': 'U+200B',
      'a\u{e0041}': 'U+E0041',
      '👍\ufe0f\ufe0f': 'U+FE0F',
      'a\u202eb': 'U+202E',
      'a\u0007': 'U+0007',
      'a\u200db': 'U+200D',
      'a\u3164': 'U+3164',
      'a\u{e0101}': 'U+E0101',
    };
    for (const [text, code] of Object.entries(unseen)) assert.equal(firstInvisible(text), code);
  });

  test('a skill text of the tests is a skill', async () => assert.equal(await problemOf(skillText('x')), null));
});
