import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSystemPrompt } from './system-prompt.ts';

const inputs = { soul: null, memory: '', skills: '', workspace: '/home/ada/.talaria/workspace', day: '2026-03-01' };

test('the prompt of a fresh home is small', () => {
  assert.ok(Buffer.byteLength(buildSystemPrompt(inputs)) <= 2_500);
});

test('the user’s own description replaces the built-in identity, and memory has its section', () => {
  const prompt = buildSystemPrompt({ ...inputs, soul: 'You are Iris.\n', memory: '# What you remember\n- likes tea' });
  assert.match(prompt, /^You are Iris\./);
  assert.doesNotMatch(prompt, /You are Talaria/);
  assert.match(prompt, /# What you remember\n- likes tea\n/);
});

test('what is too long is cut at its limit, and says so', () => {
  const prompt = buildSystemPrompt({ ...inputs, soul: 'x'.repeat(100_000) });
  assert.ok(prompt.length < 25_000);
  assert.match(prompt, /cut here/);
});
