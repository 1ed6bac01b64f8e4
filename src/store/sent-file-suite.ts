/** Results with bytes: what a call made or sends is stored with its result, all of it or nothing. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { present } from '../lib/assert.ts';
import type { CallId, TurnId } from '../protocol/ids.ts';
import type { SentFile, StoredContent, ToolMessage } from '../protocol/messages.ts';
import { toolResult, type FakeConversation } from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';
import type { Content, Reply, SessionWrite } from './store.ts';

function content(mediaType: string, ...numbers: readonly number[]): { kept: Content; stored: StoredContent } {
  const bytes = Uint8Array.from(numbers);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { kept: { sha256, bytes }, stored: { sha256, bytes: bytes.length, mediaType } };
}

const [report, picture] = [content('application/pdf', 1, 2, 3), content('image/png', 9)];
const file: SentFile = { name: 'report \ud800.pdf', content: report.stored };

function sends(callId: CallId): ToolMessage {
  const [part] = toolResult(callId, 'finished', 'Sent.').parts;
  return { role: 'tool', parts: [{ ...part, images: [picture.stored], files: [file], untrusted: 'web' }] };
}

type Settle = SessionWrite & { verb: 'settle-call' };

async function started(chat: FakeConversation): Promise<{ turnId: TurnId; callId: CallId }> {
  const turnId = await chat.openTurn();
  const callId = present((await chat.planCalls(turnId, 1))[0], 'the call');
  await chat.commit({ verb: 'start-call', turnId, callId });
  return { turnId, callId };
}

function settle(chat: FakeConversation, turnId: TurnId, callId: CallId, changes: Partial<Reply> = {}): Settle {
  const replies = [chat.reply('See page 2', { file, ...changes })];
  const contents = [report.kept, picture.kept, report.kept];
  return { verb: 'settle-call', turnId, callId, message: sends(callId), contents, replies };
}

export function sentFileSuite(declare: Declare): void {
  declare('a result is stored with its bytes and with what it sends', async ({ store, owner, conversation }) => {
    const chat = conversation('alpha');
    const { turnId, callId } = await started(chat);
    await chat.showDraft('draft');
    const write = settle(chat, turnId, callId);
    await chat.commit(write);
    const entry = (await chat.journal()).entries.at(-1);
    assert.deepEqual(entry?.kind === 'message' && entry.message, sends(callId));
    assert.deepEqual(await store.read.content(report.kept.sha256), report.kept.bytes);
    assert.deepEqual(await store.read.content(picture.kept.sha256), picture.kept.bytes);
    const [claimed] = await store.claimDeliveries(owner, 10);
    assert.deepEqual(claimed, {
      id: write.replies?.[0]?.outboxId,
      sessionId: chat.sessionId,
      turnId,
      channel: 'web',
      target: 'to alpha',
      text: 'See page 2',
      buttons: [],
      file,
      // Work in progress goes on below it.
      draftId: null,
      state: 'attempting',
      attempts: 1,
      partsSent: 0,
      maybeSent: false,
    });
    await store.settleDelivery(claimed.id, { kind: 'sent', platformId: '7' });
    assert.equal((await store.read.drafts('web')).length, 1);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('files and answers of a session go out in their order', async ({ store, owner, conversation }) => {
    const chat = conversation('alpha');
    const { turnId, callId } = await started(chat);
    const first = settle(chat, turnId, callId);
    const second = chat.reply('', { file: { ...file, name: 'again' } });
    await chat.commit({ ...first, replies: [...(first.replies ?? []), second] });
    await chat.commit({ verb: 'close-turn', turnId, outcome: 'answered', reply: chat.reply('Done.') });
    const sent: (string | undefined)[] = [];
    for (let left = 3; left > 0; left -= 1) {
      const claimed = await store.claimDeliveries(owner, 10);
      assert.equal(claimed.length, 1);
      for (const one of claimed) {
        sent.push(one.file?.name ?? one.text);
        await store.settleDelivery(one.id, { kind: 'sent', platformId: null });
      }
    }
    assert.deepEqual(sent, [file.name, 'again', 'Done.']);
  });

  declare('a result that does not fit leaves neither bytes nor anything to send', async (world) => {
    const { store, ids, conversation } = world;
    const chat = conversation('alpha');
    const { turnId, callId } = await started(chat);
    const before = await chat.journal();
    const refused = { name: 'StoreError', reason: 'conflict' };
    await assert.rejects(
      chat.commit(settle(chat, turnId, callId), { verb: 'start-call', turnId, callId: ids.next('cal') }),
      refused,
    );
    await assert.rejects(chat.commit({ ...settle(chat, turnId, callId), contents: [] }), refused);
    assert.deepEqual(await chat.journal(), before);
    assert.equal(await store.read.content(report.kept.sha256), null);
    assert.equal((await store.read.totals()).outboxPending, 0);
  });

  declare('what a session does not hold can not be sent in it, or in none', async ({ store, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    await chat.say('one', { contents: [report.kept] });
    await other.say('one');
    const refused = { name: 'StoreError', reason: 'conflict' };
    await assert.rejects(store.queueMessage(other.direct('x', { file })), refused);
    await assert.rejects(store.queueMessage(chat.direct('x', { file, sessionId: null })), refused);
    assert.equal(await store.queueMessage(chat.direct('x', { file })), true);
    const { sha256 } = report.kept;
    assert.deepEqual(
      [
        await store.read.holdsContent(chat.sessionId, sha256),
        await store.read.holdsContent(other.sessionId, sha256),
        await store.read.holdsContent(chat.sessionId, 'x'),
      ],
      [true, false, false],
    );
  });

  declare('bytes of results stay as long as a session that refers to them', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    const { turnId, callId } = await started(chat);
    await chat.commit(settle(chat, turnId, callId));
    await chat.closeTurn(turnId);
    const { session, entries } = await chat.journal();
    const copy = { name: 'copy', title: '', createdAt: session.createdAt, entries };
    const id = ids.next('ses');
    await store.importSession(id, 'web:direct:copy', 'owner', copy);
    // One that comes from elsewhere names what is not here.
    const [report2] = [content('application/pdf', 4)];
    const elsewhere = entries.map((entry) =>
      JSON.parse(JSON.stringify(entry).replaceAll(report.kept.sha256, report2.kept.sha256)),
    ) as typeof entries;
    await store.importSession(ids.next('ses'), 'k', 'owner', { ...copy, name: 'elsewhere', entries: elsewhere });
    assert.equal(await store.deleteSession(chat.sessionId), true);
    assert.deepEqual(await store.read.content(report.kept.sha256), report.kept.bytes);
    assert.deepEqual(await store.read.content(picture.kept.sha256), picture.kept.bytes);
    assert.equal(await store.read.holdsContent(id, report.kept.sha256), true);
    await store.deleteSession(id);
    assert.equal(await store.read.content(report.kept.sha256), null);
    assert.deepEqual(await store.read.content(picture.kept.sha256), picture.kept.bytes);
    assert.deepEqual(await store.checkIntegrity(), []);
  });
}
