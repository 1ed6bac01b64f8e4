import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallId, ModelCallId } from '../protocol/ids.ts';
import type { Entry, EntryBody } from '../protocol/messages.ts';
import { createStyle } from '../tui/style.ts';
import { createTranscript } from './transcript.ts';

const style = createStyle(false);
const callId = 'cal_1' as CallId;
const result = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n');

const bodies: readonly EntryBody[] = [
  { kind: 'head', reason: 'session-started', head: { systemPrompt: 'Be kind.', tools: [] } },
  {
    kind: 'message',
    message: {
      role: 'assistant',
      parts: [{ kind: 'tool-call', callId, providerCallId: 'p', name: 'look', arguments: '{}' }],
    },
    modelCallId: 'mdl_1' as ModelCallId,
  },
  {
    kind: 'message',
    message: { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome: 'finished', text: result }] },
  },
  { kind: 'titled', title: 'Lines', by: 'model' },
  {
    kind: 'compression',
    step: {
      kind: 'done',
      why: 'person',
      headSeq: 1,
      toSeq: 3,
      preface: '',
      summary: '## Goal\nto look',
      by: 'model',
      keeps: [],
      digests: [{ callId, text: '[look: finished]' }],
      tokensBefore: 900,
      tokensAfter: 90,
    },
  },
];

function shown(isWhole: boolean): string[] {
  const transcript = createTranscript(style, isWhole);
  return bodies.flatMap((body, index) => {
    const entry: Entry = { ...body, seq: index + 1, at: 0, turnId: null };
    return transcript.lines(entry).map((line) => line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, 'TIME'));
  });
}

test('a long result is cut, and what only the machine needs is left out', () => {
  const lines = shown(false);
  assert.equal(lines.at(-2), '  … 18 more lines; --all shows them');
  assert.equal(lines.length, 15);
});

test('with everything: whole results, and what the model is told in place of what was said', () => {
  const lines = shown(true);
  assert.ok(lines.includes('  line 30'));
  assert.deepEqual(
    lines.filter((line) => !/line \d+$/.test(line) && line !== ''),
    [
      '· TIME the prompt begins, with 0 tools and 8 characters',
      '▸ look … done',
      '· TIME called "Lines", by a model',
      '· TIME shortened: about 900 tokens became 90',
      '  up to entry 3 the model is told:',
      '    ## Goal',
      '    to look',
      '  and these results in one line each:',
      '    [look: finished]',
    ],
  );
});
