import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInIdentity, buildSystemPrompt, joinSections, promptSections, sectionsOf } from './system-prompt.ts';
import { toolNotes } from './tool-notes.ts';

const inputs = {
  soul: null,
  tools: [],
  workspace: '/home/ada/.talaria/workspace',
  project: '',
  memory: '',
  skills: '',
  channel: 'cli',
  day: '2026-03-01',
};

test('the prompt of a fresh home is small', () => {
  const tools = ['terminal', 'browser', 'web_search', 'web_extract'];
  assert.ok(Buffer.byteLength(buildSystemPrompt({ ...inputs, tools })) <= 1_000);
});

test('sections stand in one order, whatever they say', () => {
  const all = promptSections({
    ...inputs,
    soul: 'IDENTITY',
    tools: ['terminal'],
    project: 'PROJECT',
    memory: 'MEMORY',
    skills: 'SKILLS',
    channel: 'telegram',
  });
  assert.deepEqual(
    all.map(({ name }) => name),
    ['identity', 'how to work', 'notes on tools', 'project', 'memory', 'skills', 'channel', 'date'],
  );
  assert.ok(all.every(({ text }) => text !== ''));
  const prompt = joinSections(all).systemPrompt;
  const places = ['IDENTITY', '# How to work', 'sandbox', 'PROJECT', 'MEMORY', 'SKILLS', 'Telegram', '2026-03-01'].map(
    (word) => prompt.indexOf(word),
  );
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
  );
});

test('the user’s own description replaces the built-in identity, and memory has its section', () => {
  const prompt = buildSystemPrompt({ ...inputs, soul: 'You are Iris.\n', memory: '# What you remember\n- likes tea' });
  assert.match(prompt, /^You are Iris\./);
  assert.doesNotMatch(prompt, /You are Talaria/);
  assert.match(prompt, /# What you remember\n- likes tea\n/);
});

test('an empty SOUL.md or one of comments is the built-in identity', () => {
  const plain = buildSystemPrompt(inputs);
  assert.ok(plain.startsWith(builtInIdentity));
  for (const soul of [
    `${builtInIdentity}\n\n<!--\nfor you\n-->\n`,
    '',
    ' \n',
    '<!-- to be written -->',
    '<!-- never closed',
  ])
    assert.equal(buildSystemPrompt({ ...inputs, soul }), plain);
});

test('what a comment in SOUL.md says is for the person who edits it', () => {
  const prompt = buildSystemPrompt({ ...inputs, soul: 'You are Iris.\n<!-- a name\nof hers -->\n' });
  assert.match(prompt, /^You are Iris\.\n\n# How to work/);
});

test('what is too long is cut at its limit, and says so', () => {
  const prompt = buildSystemPrompt({ ...inputs, soul: 'x'.repeat(100_000) });
  assert.ok(prompt.length < 25_000);
  assert.match(prompt, /cut here/);
});

test('a note is there only if its tool is, and once if several tools bring it', () => {
  assert.equal(toolNotes(['read_file', 'memory', 'constructor']), '');
  assert.match(toolNotes(['terminal']), /^- Use hosts or outside[^\n]*$/);
  assert.match(toolNotes(['web_search', 'browser', 'web_extract']), /^- What pages[^\n]*$/);
  assert.equal(toolNotes(['terminal', 'browser']), toolNotes(['browser', 'terminal']));
});

test('a channel is mentioned only where it matters for how an answer is written', () => {
  assert.match(buildSystemPrompt({ ...inputs, channel: 'telegram' }), /Telegram/);
  for (const channel of ['cli', 'web', 'api', '', 'toString'])
    assert.equal(buildSystemPrompt({ ...inputs, channel }), buildSystemPrompt(inputs));
});

test('a frozen prompt is taken apart as it was put together, whatever its sections contain', () => {
  const written = promptSections({ ...inputs, memory: 'a\n\n# How to work\n\nb', skills: '\n\nodd\n\n' });
  const head = joinSections(written);
  assert.deepEqual(
    sectionsOf(head),
    written.filter(({ text }) => text !== ''),
  );
});

test('a prompt that was stored without its sections, or with wrong ones, is one section', () => {
  const whole = [{ name: 'whole prompt', text: 'old' }];
  assert.deepEqual(sectionsOf({ systemPrompt: 'old' }), whole);
  assert.deepEqual(sectionsOf({ systemPrompt: 'old', sections: [{ name: 'x', chars: 99 }] }), whole);
});
