import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import type { EntryBody } from '../protocol/messages.ts';
import { turnMarks, wasShown } from './turn-marks.ts';

const ids = countingIdSource();
const turnId = ids.next('trn');
const [inboxId, callId] = [ids.next('inb'), ids.next('cal')];

function entries(...bodies: EntryBody[]) {
  return bodies.map((body, index) => ({ ...body, seq: index + 1, at: 0, turnId }));
}
const said = (marks: object): EntryBody => ({
  kind: 'message',
  inboxId,
  message: { role: 'user', parts: [{ kind: 'text', text: 'hello' }], ...marks },
});
const result = (marks: object): EntryBody => ({
  kind: 'message',
  message: { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome: 'finished', text: 'x', ...marks }] },
});

describe('the marks of a turn', () => {
  test('a person alone leaves none', () => {
    assert.deepEqual(turnMarks(entries(said({}), result({})), turnId), { untrusted: null, isUnattended: false });
  });

  test('the newest result that holds what a stranger wrote counts', () => {
    const log = entries(said({}), result({ untrusted: 'web' }), result({ untrusted: 'mcp' }), result({}));
    assert.deepEqual(turnMarks(log, turnId), { untrusted: 'mcp', isUnattended: false });
  });

  test('what was read in another turn does not count', () => {
    assert.deepEqual(turnMarks(entries(said({}), result({ untrusted: 'web' })), ids.next('trn')), {
      untrusted: null,
      isUnattended: false,
    });
  });

  test('a turn begun by a program is unattended until a person joins it', () => {
    const begun = said({ untrusted: 'webhook', isUnattended: true });
    assert.deepEqual(turnMarks(entries(begun), turnId), { untrusted: 'webhook', isUnattended: true });
    assert.deepEqual(turnMarks(entries(begun, said({})), turnId), { untrusted: 'webhook', isUnattended: false });
  });
});

test('what people wrote and tools returned was shown; what the model made up was not', () => {
  const modelCallId = ids.next('mdl');
  const answer: EntryBody = {
    kind: 'message',
    modelCallId,
    message: { role: 'assistant', parts: [{ kind: 'text', text: 'https://made.up' }] },
  };
  const log = entries(said({}), result({ text: 'see https://real.test/a' }), answer);
  assert.deepEqual(
    ['hello', 'https://real.test/a', 'https://made.up', 'nowhere'].map((text) => wasShown(log, text)),
    [true, true, false, false],
  );
});
