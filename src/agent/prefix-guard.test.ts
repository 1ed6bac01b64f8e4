import assert from 'node:assert/strict';
import test from 'node:test';
import { promptStep, type PromptNow } from './prefix-guard.ts';

const now: PromptNow = {
  runtime: 'p/m',
  units: ['tools', 'system', 'hello'],
  headSeq: 1,
  headReason: 'session-started',
  effort: null,
  wasAnswered: false,
  wasRewound: false,
};
const first = promptStep(now, null);
const trail = { units: first.added, headSeq: 1, effort: null };

test('the first prompt keeps nothing and says why', () => {
  assert.deepEqual([first.kept, first.added.length, first.prefixBreak], [0, 3, 'first-call']);
  assert.equal(promptStep({ ...now, wasAnswered: true }, null).prefixBreak, 'other-model');
});

test('C95 a prompt that goes on where the one before ended keeps all of it', () => {
  const step = promptStep({ ...now, units: [...now.units, 'hi', 'more'] }, trail);
  assert.deepEqual([step.kept, step.added.length, step.prefixBreak], [3, 2, null]);
});

test('C95 a prompt that differs without a reason is unexplained, from its first different unit on', () => {
  const step = promptStep({ ...now, units: ['tools', 'system!', 'hello', 'hi'] }, trail);
  assert.deepEqual([step.kept, step.added.length, step.prefixBreak], [1, 3, 'unexplained']);
  assert.equal(promptStep({ ...now, units: ['tools'] }, trail).prefixBreak, 'unexplained');
});

test('C94 a model that leaves out its thought explains a change of how to think, and nothing else', () => {
  const changed = { ...now, units: ['tools', 'other setting', 'hello'] };
  assert.equal(promptStep({ ...changed, settingUnit: 1 }, trail).prefixBreak, 'thought-missing');
  assert.equal(promptStep({ ...changed, settingUnit: 2 }, trail).prefixBreak, 'unexplained');
});

test('C94 a new head explains it with its own reason, another effort with that', () => {
  const changed = { ...now, units: ['other tools', 'system', 'hello'] };
  const newHead = { ...changed, headSeq: 9, headReason: 'registry-changed' } as const;
  assert.equal(promptStep(newHead, trail).prefixBreak, 'registry-changed');
  assert.equal(promptStep({ ...changed, effort: 'high' }, trail).prefixBreak, 'effort-changed');
});

test('C94 a rewind explains that the prompt is shorter or goes on differently', () => {
  const rewound = { ...now, wasRewound: true };
  assert.equal(promptStep({ ...rewound, units: ['tools', 'system', 'hi'] }, trail).prefixBreak, 'rewound');
  assert.equal(promptStep({ ...rewound, units: ['tools', 'system'] }, trail).prefixBreak, 'rewound');
  assert.equal(promptStep({ ...rewound, units: [...now.units, 'more'] }, trail).prefixBreak, null);
});
