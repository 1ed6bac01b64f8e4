import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { EntryBody } from '../protocol/messages.ts';
import { SessionView } from './session-view.ts';
import { createStyle } from './style.ts';

const ids = countingIdSource();
const turnId = ids.next('trn');
const callId = ids.next('cal');
const mine = ids.next('inb');
const theirs = ids.next('inb');

function shown(...events: SessionEvent[]): string {
  let text = '';
  const write = (piece: string) => void (text += piece);
  const view = new SessionView({ style: createStyle(false), write, isOwn: (id) => id === mine, columns: () => 30 });
  for (const event of events) view.show(event);
  return text;
}

function entry(body: EntryBody): SessionEvent {
  return { kind: 'entry', entry: { ...body, seq: 1, at: 0, turnId } };
}

const delta = (text: string): SessionEvent => ({ kind: 'text-delta', turnId, text });
const cleared: SessionEvent = { kind: 'draft-cleared', turnId };
const said = (text: string) =>
  entry({
    kind: 'message',
    message: { role: 'assistant', parts: [{ kind: 'text', text }] },
    modelCallId: ids.next('mdl'),
  });
const closed = entry({ kind: 'turn-closed', outcome: 'answered' });
const started: SessionEvent = {
  kind: 'call-started',
  turnId,
  callId,
  name: 'terminal',
  arguments: '{"command":"ls -la","timeout_s":3}',
};
const ended: SessionEvent = { kind: 'call-ended', turnId, callId, outcome: 'finished' };
const result = entry({
  kind: 'message',
  message: { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome: 'finished', text: 'much' }] },
});

describe('the scrolling view of a session', () => {
  test('shows a streamed reply once', () => {
    assert.equal(shown(delta('Hel'), delta('lo'), cleared, said('Hello'), closed), 'Hello\n');
  });

  test('completes a reply whose pieces were lost', () => {
    assert.equal(shown(delta('Hel'), said('Hello'), closed), 'Hello\n');
    assert.equal(shown(said('Hello'), closed), 'Hello\n');
  });

  test('says that an attempt broke off before the next one begins', () => {
    assert.equal(
      shown(delta('Helxx'), cleared, delta('Hello'), cleared, said('Hello'), closed),
      'Helxx\n(broken off, trying again)\nHello\n',
    );
  });

  test('shows the whole stored reply where something else was streamed', () => {
    assert.equal(shown(delta('nonsense'), said('Hello'), closed), 'nonsense\nHello\n');
  });

  test('gives each call one line, also if only the stored result is seen', () => {
    assert.equal(shown(delta('Look:'), started, ended, result, closed), 'Look:\n▸ terminal ls -la … done\n');
    assert.equal(shown(started, result, ended, closed), '▸ terminal ls -la … done\n');
    const asked = entry({
      kind: 'message',
      message: { role: 'assistant', parts: [{ kind: 'tool-call', callId, name: 'terminal', arguments: 'no json' }] },
      modelCallId: ids.next('mdl'),
    });

    test('a file that was sent is named, with the way to get it; what only the model saw is not', () => {
      const content = { sha256: 'h', bytes: 12_000, mediaType: 'image/png' };
      const part = { kind: 'tool-result', callId, outcome: 'finished', text: '' } as const;
      const files = [{ name: 'a\u001b[1m.pdf', content }];
      const sent = entry({
        kind: 'message',
        message: { role: 'tool', parts: [{ ...part, images: [content], files }] },
      });
      assert.equal(
        shown(started, ended, sent, closed),
        '▸ terminal ls -la … done\n[file a.pdf, 12 KB: talaria sessions file "NAME" "a.pdf"]\n',
      );
    });
    assert.equal(shown(asked, result, closed), '▸ terminal no json … done\n');
  });

  test('repeats a call’s name if something was said while it ran', () => {
    assert.equal(
      shown(started, { kind: 'trouble', text: 'hm' }, ended),
      '▸ terminal ls -la … \n! hm\n▸ terminal ls -la … done\n',
    );
  });

  test('catches up with a turn that goes on already', () => {
    const calls = [{ callId, name: 'read_file', arguments: '{"path":"a.txt"}', output: '' }];
    const state: SessionEvent = {
      kind: 'live-state',
      turn: { turnId, text: 'So far', reasoning: '', calls, status: '' },
    };
    assert.equal(shown(state, ended), 'So far\n▸ read_file a.txt … done\n');
  });

  test('does not repeat what a reconnect brings again', () => {
    const state: SessionEvent = {
      kind: 'live-state',
      turn: { turnId, text: 'Hello wor', reasoning: '', calls: [], status: '' },
    };
    assert.equal(shown(delta('Hello'), state, delta('ld'), said('Hello world')), 'Hello world\n');
  });

  test('shows messages from elsewhere, not those typed here', () => {
    const message = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] } as const;
    assert.equal(
      shown(entry({ kind: 'message', message, inboxId: mine }), entry({ kind: 'message', message, inboxId: theirs })),
      'you: hi\n',
    );
  });

  test('shows what nobody wrote as an aside', () => {
    const message = { role: 'user', parts: [{ kind: 'text', text: 'sum it up' }] } as const;
    assert.equal(shown(entry({ kind: 'message', message, inboxId: null })), '(told the model: sum it up)\n');
  });

  test('shows notices and an unusual end', () => {
    assert.equal(
      shown(delta('Hm'), entry({ kind: 'notice', text: 'no key' }), entry({ kind: 'turn-closed', outcome: 'failed' })),
      'Hm\n! no key\n(failed)\n',
    );
  });

  test('shows what is waited for in a line that replaces itself and vanishes', () => {
    const status = (text: string): SessionEvent => ({ kind: 'status', turnId, text });
    const erase = '\r\u001b[K';
    assert.equal(shown(status('a retry'), status('other key'), delta('Hi')), `… a retry${erase}… other key${erase}Hi`);
    assert.equal(shown(delta('Hi'), status('slow'), status(''), closed), `Hi\n… slow${erase}`);
    assert.equal(shown(status('slow'), { kind: 'reasoning-delta', turnId, text: 'hm' }), `… slow${erase}`);
    assert.equal(shown(status('slow'), closed), `… slow${erase}`);
    assert.equal(shown(status('x'.repeat(40))), `… ${'x'.repeat(26)}…`);
    const state: SessionEvent = {
      kind: 'live-state',
      turn: { turnId, text: '', reasoning: '', calls: [], status: 'slow' },
    };
    assert.equal(shown(state, said('Hello')), `… slow${erase}Hello\n`);
  });

  test('shows a question with its choices', () => {
    const deadline = new Date(2026, 0, 31, 9, 5).getTime();
    const asked = (choices: string[] | null) =>
      entry({ kind: 'notice', text: 'Delete it?\u001b[2J', question: { callId, choices, deadline } });
    const until = '  (waits until 2026-01-31 09:05)\n';
    assert.equal(shown(asked(['yes', 'no'])), `? Delete it?\n  1  yes\n  2  no\n${until}`);
    assert.equal(shown(asked(null)), `? Delete it?\n${until}`);
  });

  test('lets no reply or tool take hold of the terminal', () => {
    const nasty = '\u001b]0;title\u0007\u001b[2Jred\r\u009b1m\u202e';
    assert.equal(shown(delta(nasty), cleared, said(nasty), closed), 'red\n');
    assert.equal(shown({ ...started, arguments: `{"command":"ls\\u001b[1m\\n-l"}` }), '▸ terminal ls -l … ');
  });
});
