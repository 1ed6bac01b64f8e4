import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { countingIdSource } from '../../lib/ids.ts';
import type { SessionEvent } from '../../protocol/events.ts';
import type { EntryBody } from '../../protocol/messages.ts';
import { TurnWatch, type TurnStep } from './turn-watch.ts';

const ids = countingIdSource();
const inboxId = ids.next('inb');
const turnId = ids.next('trn');
const otherTurnId = ids.next('trn');
const callId = ids.next('cal');
const modelCallId = ids.next('mdl');

/** A log that grows, and what is live beside it. */
class Story {
  readonly #watch = new TurnWatch(inboxId, 0);
  #seq = 0;
  readonly steps: TurnStep[] = [];

  see(event: SessionEvent): this {
    this.steps.push(...this.#watch.see(event));
    return this;
  }
  entry(body: EntryBody, of = turnId): this {
    this.#seq += 1;
    return this.see({ kind: 'entry', entry: { ...body, seq: this.#seq, at: 0, turnId: of } });
  }
  asked(): this {
    const message = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] } as const;
    return this.entry({ kind: 'turn-opened' }).entry({ kind: 'message', message, inboxId });
  }
  write(...pieces: string[]): this {
    for (const text of pieces) this.see({ kind: 'text-delta', turnId, text });
    return this;
  }
  cleared(): this {
    return this.see({ kind: 'draft-cleared', turnId });
  }
  said(text: string, of = turnId): this {
    const message = { role: 'assistant', parts: [{ kind: 'text', text }] } as const;
    return this.entry({ kind: 'message', message, modelCallId }, of);
  }
  closed(): this {
    return this.entry({ kind: 'turn-closed', outcome: 'answered' });
  }
  /** What a client has got so far. */
  get streamed(): string {
    let text = '';
    let hasEnded = false;
    for (const step of this.steps) {
      if (step.kind === 'text') text += hasEnded ? `|${step.text}` : step.text;
      if (step.kind !== 'progress') hasEnded = step.kind === 'message-ended';
    }
    return text;
  }
}

describe('a draft that is streamed', () => {
  test('comes piece by piece, and once', () => {
    const story = new Story().asked().write('He', 'llo').cleared().said('Hello').closed();
    assert.deepEqual(story.steps, [
      { kind: 'text', text: 'He' },
      { kind: 'text', text: 'llo' },
      { kind: 'message-ended' },
      { kind: 'ended', end: { turnId, outcome: 'answered', notice: null, stop: 'answer', texts: ['Hello'] } },
    ]);
  });

  test('of a second try that goes on from the first is sent where it is new', () => {
    const story = new Story().asked().write('Hello').cleared().write('Hel', 'lo ', 'you').cleared().said('Hello you');
    assert.deepEqual(
      story.steps.map((step) => (step.kind === 'text' ? step.text : step.kind)),
      ['Hello', ' ', 'you', 'message-ended'],
    );
  });

  test('of a second try with other words follows as a paragraph of its own, and that is told', () => {
    const story = new Story().asked().write('Hello').cleared().write('Hey', ' there').cleared().said('Hey there');
    assert.deepEqual(story.steps, [
      { kind: 'text', text: 'Hello' },
      { kind: 'progress', progress: { restarted: true } },
      { kind: 'text', text: '\n\nHey' },
      { kind: 'text', text: ' there' },
      { kind: 'message-ended' },
    ]);
  });

  test('is completed from the stored message where pieces were missed', () => {
    assert.equal(new Story().asked().write('Hel').said('Hello').streamed, 'Hello');
    assert.equal(new Story().asked().said('Hello').streamed, 'Hello');
    const live = { turnId, text: 'Hello y', reasoning: '', calls: [], status: '' };
    const story = new Story().asked().write('Hel').see({ kind: 'live-state', turn: live }).write('ou');
    assert.equal(story.streamed, 'Hello you');
  });

  test('of empty lines alone is no message', () => {
    assert.deepEqual(new Story().asked().write('\n', ' ').cleared().said('\n ').steps, []);
    assert.equal(new Story().asked().write('\n', 'x').streamed, '\nx');
  });

  test('always ends with the stored message, whatever happened on the way', () => {
    const piece = fc.constantFrom('a', 'b', 'ab', ' ', '\n');
    const tries = fc.array(fc.array(piece, { maxLength: 5 }), { maxLength: 4 });
    fc.assert(
      fc.property(tries, fc.array(piece, { minLength: 1, maxLength: 5 }), fc.boolean(), (failed, last, isSeen) => {
        const story = new Story().asked();
        for (const pieces of failed) story.write(...pieces).cleared();
        const final = last.join('');
        if (isSeen) story.write(...last);
        story.cleared().said(final);
        const isRestarted = story.steps.some((step) => step.kind === 'progress');
        if (final.trim() === '') return;
        if (isRestarted) assert.ok(story.streamed.endsWith(final), story.streamed);
        else assert.equal(story.streamed, final);
      }),
    );
  });
});

describe('what belongs to a message', () => {
  test('is what its own turn says after it, not what was said before it came', () => {
    const story = new Story()
      .said('of another turn', otherTurnId)
      .entry({ kind: 'turn-opened' })
      .write('before')
      .said('before')
      .asked()
      .write('after')
      .cleared()
      .said('after')
      .said('of another turn', otherTurnId)
      .closed();
    assert.equal(story.streamed, 'after');
    assert.deepEqual(story.steps.at(-1), {
      kind: 'ended',
      end: { turnId, outcome: 'answered', notice: null, stop: 'answer', texts: ['after'] },
    });
  });

  test('tells an entry once although it comes twice', () => {
    const entry = { kind: 'notice', text: 'Going on.', seq: 3, at: 0, turnId } as const;
    const story = new Story().asked().see({ kind: 'entry', entry }).see({ kind: 'entry', entry });
    assert.deepEqual(story.steps, [{ kind: 'progress', progress: { notice: 'Going on.' } }]);
  });

  test('shows a call that was seen live, and one that was not, each once', () => {
    const call = { kind: 'tool-call', callId, name: 'terminal', arguments: '{}' } as const;
    const message = { role: 'assistant', parts: [call] } as const;
    const result = { kind: 'tool-result', callId, outcome: 'failed', text: '' } as const;
    const settled = { kind: 'message', message: { role: 'tool', parts: [result] } } as const;
    const shown = ['started', 'failed'].map((state) => ({
      kind: 'progress',
      progress: { tool: 'terminal', state, call_id: callId },
    }));
    const seen = new Story()
      .asked()
      .entry({ kind: 'message', message, modelCallId })
      .see({ kind: 'call-started', turnId, callId, name: 'terminal', arguments: '{}' })
      .see({ kind: 'call-ended', turnId, callId, outcome: 'failed' })
      .entry(settled);
    assert.deepEqual(seen.steps, shown);
    const missed = new Story().asked().entry({ kind: 'message', message, modelCallId }).entry(settled);
    assert.deepEqual(missed.steps, shown);
  });

  test('names a file that was sent, as a message of its own', () => {
    const content = { sha256: 'h', bytes: 12_000, mediaType: 'application/pdf' };
    const call = { kind: 'tool-call', callId, name: 'send_file', arguments: '{}' } as const;
    const result = { kind: 'tool-result', callId, outcome: 'finished', text: 'Sent.' } as const;
    const files = [{ name: 'a.pdf', content }];
    const said = { role: 'assistant', parts: [{ kind: 'text', text: 'There.' }] } as const;
    const story = new Story()
      .asked()
      .entry({ kind: 'message', message: { role: 'assistant', parts: [call] }, modelCallId })
      .entry({ kind: 'message', message: { role: 'tool', parts: [{ ...result, images: [content], files }] } })
      .entry({ kind: 'message', message: said, modelCallId })
      .entry({ kind: 'turn-closed', outcome: 'answered' });
    const texts = ['[file a.pdf, 12 KB: in the session]', 'There.'];
    assert.deepEqual(
      story.steps.filter(({ kind }) => kind !== 'progress'),
      [
        ...texts.flatMap((text) => [{ kind: 'text', text }, { kind: 'message-ended' }]),
        { kind: 'ended', end: { turnId, outcome: 'answered', notice: null, stop: 'answer', texts } },
      ],
    );
  });

  test('shows what a turn waits for when that changes', () => {
    const status = (words: string): SessionEvent => ({ kind: 'status', turnId, text: words });
    const live = { turnId, text: '', reasoning: '', calls: [], status: 'Waiting.' };
    const story = new Story()
      .asked()
      .see(status(''))
      .see(status('Waiting.'))
      .see({ kind: 'live-state', turn: live })
      .see(status(''))
      .see(status(''));
    assert.deepEqual(
      story.steps,
      ['Waiting.', ''].map((words) => ({ kind: 'progress', progress: { status: words } })),
    );
  });

  test('shows what a call asks a person, and the notice that explains the end', () => {
    const question = { callId, choices: ['yes', 'no'], deadline: 9 };
    const story = new Story()
      .asked()
      .entry({ kind: 'notice', text: 'May I?', question })
      .entry({ kind: 'notice', text: 'It is broken.' })
      .entry({ kind: 'turn-closed', outcome: 'failed' });
    assert.deepEqual(story.steps, [
      { kind: 'progress', progress: { question: 'May I?', choices: ['yes', 'no'], call_id: callId } },
      { kind: 'progress', progress: { notice: 'It is broken.' } },
      { kind: 'ended', end: { turnId, outcome: 'failed', notice: 'It is broken.', stop: 'answer', texts: [] } },
    ]);
  });
});
