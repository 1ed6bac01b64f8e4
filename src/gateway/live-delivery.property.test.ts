import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import type { LiveEvent } from '../protocol/events.ts';
import type { CallId } from '../protocol/ids.ts';
import type { Entry, EntryBody } from '../protocol/messages.ts';
import type { Draft, InboxRecord, JournalSlice, OutboxRecord } from '../store/store.ts';
import { LiveDelivery } from './live-delivery.ts';
import { ScriptedPlatform, type PlatformBehaviour } from './fake-live-platform.ts';

const limit = 400;
const editEveryMs = 1_000;

type Step =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'cleared' | 'call' | 'call-ends' | 'output' | 'restart' }
  | { readonly kind: 'status'; readonly text: string }
  | { readonly kind: 'wait'; readonly ms: number };

const piece = fc.constantFrom(
  'word ',
  'a',
  '\n',
  '\n\n',
  '\n```',
  '\n```ts\n',
  '```',
  '`',
  '\n~~~',
  '  ',
  '😀',
  'x'.repeat(70),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('text' as const), text: piece }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('cleared', 'call', 'call-ends', 'output', 'restart') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('status' as const), text: fc.constantFrom('', '§ ```wait') }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 300, 1_000, 3_000, 40_000) }),
  },
);
const behaviour: fc.Arbitrary<PlatformBehaviour> = fc.record({
  latencyMs: fc.constantFrom(0, 0, 100, 900, 2_500),
  answer: fc.constantFrom('ok', 'ok', 'ok', 'refused', 'throws'),
});
const ending = fc.constantFrom('answered' as const, 'stopped' as const, 'later' as const);

/** One turn of one session, told to the live display and to nobody else. */
class Scene {
  readonly clock = new FakeClock();
  readonly platform = new ScriptedPlatform(this.clock, {
    limits: { textCharsMax: limit, dedupes: false },
    editEveryMs,
  });
  readonly ids = countingIdSource();
  readonly sessionId = this.ids.next('ses');
  readonly turnId = this.ids.next('trn');
  readonly calls: CallId[] = [];
  draft: Omit<Draft, 'sessionId'> | null = null;
  /** Which attempt of the model, and what it has written so far. */
  attempt = 0;
  text = '';
  readonly shown: { readonly attempt: number; readonly chars: number }[] = [];
  readonly live: LiveDelivery;

  constructor() {
    const inboxId = this.ids.next('inb');
    const asked = this.entry({ kind: 'message', message: { role: 'user', parts: [] }, inboxId });
    const turn = { id: this.turnId, firstSeq: 1 };
    const journal = { openTurn: turn, entries: [asked] } as unknown as JournalSlice;
    this.live = new LiveDelivery({
      clock: this.clock,
      log: silentLog,
      channels: new Map([['tele', this.platform.channel]]),
      store: {
        noteDraft: async (_sessionId, draft) => void (this.draft = draft),
        read: {
          journal: async () => journal,
          inbox: async () => ({ channel: 'tele', target: 'chat' }) as InboxRecord,
          drafts: async () => [],
        },
      },
    });
    this.platform.onDraft = (text) => this.check(text);
  }

  entry(body: EntryBody): Entry {
    return { ...body, seq: 1, at: 0, turnId: this.turnId };
  }

  see(event: LiveEvent): void {
    this.live.see(this.sessionId, event);
  }

  async perform(action: Step): Promise<void> {
    const { turnId } = this;
    switch (action.kind) {
      case 'text':
        this.text += action.text;
        return this.see({ kind: 'text-delta', turnId, text: action.text });
      case 'cleared':
      case 'restart':
        this.attempt += 1;
        this.text = '';
        return this.see({ kind: action.kind === 'cleared' ? 'draft-cleared' : 'turn-started', turnId });
      case 'call': {
        const callId = this.ids.next('cal');
        this.calls.push(callId);
        return this.see({ kind: 'call-started', turnId, callId, name: '§tool', arguments: '{"command":"a\\n```b"}' });
      }
      case 'call-ends': {
        const callId = this.calls.shift();
        if (callId !== undefined) this.see({ kind: 'call-ended', turnId, callId, outcome: 'finished' });
        return;
      }
      case 'output': {
        const [callId] = this.calls;
        if (callId !== undefined) this.see({ kind: 'call-output', turnId, callId, text: 'out' });
        return;
      }
      case 'status':
        return this.see({ kind: 'status', turnId, text: action.text });
      case 'wait':
        return this.clock.advance(action.ms);
    }
  }

  /** What people are about to see: whole, within what was written, and never less than before. */
  check(text: string): void {
    const { problems } = this.platform;
    if (openFence(text) !== null) problems.push(`a code block is left open in ${JSON.stringify(text)}`);
    const body = text.replace(/(?:^|\n\n)(?:thinking|§[^\n]*)(?: · [^\n]*)?$/, '');
    const chars = charsShown(body, this.text.replace(/^[\r\n]+/, ''));
    if (chars === null) problems.push(`${JSON.stringify(body)} is not how ${JSON.stringify(this.text)} begins`);
    else this.shown.push({ attempt: this.attempt, chars });
  }
}

/** By its own reading of Markdown. Lines too long to be a fence worth keeping are text. */
function openFence(text: string): string | null {
  let open: string | null = null;
  for (const line of text.split('\n')) {
    const marker = /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
    if (marker === undefined || line.length > limit / 2) continue;
    if (open === null) open = marker;
    else if (line.trim() === marker && marker.startsWith(open)) open = null;
  }
  return open;
}

/** How much of what was written is shown, however it is closed; null if it is something else. */
function charsShown(body: string, written: string): number | null {
  const withoutClosing = body.replace(/\n[ \t]*(?:`{3,}|~{3,})$/, '');
  for (const kept of [body, withoutClosing, withoutClosing.replace(/…$/, '')]) {
    if (written.startsWith(kept)) return kept.length;
  }
  return null;
}

const outboxRecord = (scene: Scene): OutboxRecord => ({
  id: scene.ids.next('out'),
  sessionId: scene.sessionId,
  turnId: scene.turnId,
  channel: 'tele',
  target: 'chat',
  text: 'the answer',
  buttons: [],
  file: null,
  draftId: scene.draft?.platformId ?? null,
  state: 'attempting',
  attempts: 1,
  partsSent: 0,
  maybeSent: false,
});

void describe('live display, whatever happens', () => {
  void test('drafts only grow, keep code blocks whole, keep the pace, and nothing is left behind', async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 40 });
    const run = async (script: readonly Step[], answers: readonly PlatformBehaviour[], end: string) => {
      const scene = new Scene();
      const { platform, clock, live } = scene;
      platform.script.push(...answers);
      scene.see({ kind: 'turn-started', turnId: scene.turnId });
      await clock.advance(0);
      for (const action of script) await scene.perform(action);

      if (end === 'later') live.rested(scene.sessionId);
      else {
        const closed = scene.entry({ kind: 'turn-closed', outcome: end as 'answered' | 'stopped' });
        live.see(scene.sessionId, { kind: 'entry', entry: closed });
        if (end === 'answered') {
          const taking = live.take(outboxRecord(scene));
          await clock.advance(20_000);
          const { draftId, done } = await taking;
          assert.equal(draftId, scene.draft?.platformId ?? null, 'the draft on record is the one that is replaced');
          await platform.channel.deliver(
            { ...outboxRecord(scene), text: 'the answer', dedupeId: '1', replaces: draftId, file: null },
            new AbortController().signal,
          );
          done('sent');
        }
      }
      await clock.advance(120_000);
      if (end === 'later') {
        assert.deepEqual([...platform.messages.keys()], scene.draft === null ? [] : [scene.draft.platformId]);
        await live.close();
      } else assert.deepEqual([...platform.messages.values()], end === 'answered' ? ['the answer'] : []);
      assert.deepEqual([live.counts, clock.pendingTimers], [{ running: 0, drafts: 0 }, 0]);

      assert.deepEqual(platform.problems, []);
      const changes = platform.changes.filter(({ kind }) => kind === 'draft' || kind === 'edit');
      for (const [index, change] of changes.entries()) {
        const before = changes[index - 1];
        if (before !== undefined) assert.ok(change.atMs - before.atMs >= editEveryMs, 'no faster than it may');
      }
      for (const [index, { attempt, chars }] of scene.shown.entries()) {
        const before = scene.shown[index - 1];
        if (before?.attempt === attempt) assert.ok(chars >= before.chars, 'never less than before');
      }
      const { typingAtMs } = platform;
      for (const [index, at] of typingAtMs.entries()) assert.ok(at - (typingAtMs[index - 1] ?? -5_000) >= 4_000);
    };
    await fc.assert(fc.asyncProperty(steps, fc.array(behaviour, { maxLength: 20 }), ending, run), { numRuns: 150 });
  });

  void test('when nothing but time goes on, a draft is changed no more often than every 10 s, ever more seldom', async () => {
    const scene = new Scene();
    scene.see({ kind: 'turn-started', turnId: scene.turnId });
    await scene.perform({ kind: 'call' });
    for (let output = 0; output < 3_600; output += 1) {
      await scene.perform({ kind: 'output' });
      await scene.clock.advance(1_000);
    }
    const times = scene.platform.changes.map(({ atMs }) => atMs);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    assert.ok(Math.min(...gaps) >= 10_000 && Math.max(...gaps) <= 120_000);
    assert.deepEqual(
      gaps,
      gaps.toSorted((a, b) => a - b),
    );
    assert.ok(gaps.length < 60);
    await scene.live.close();
  });
});
