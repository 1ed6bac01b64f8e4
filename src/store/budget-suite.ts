/** Budgets: reserved before a call, settled after it, never overrun by calls that start at once. */
import assert from 'node:assert/strict';
import type { TurnId } from '../protocol/ids.ts';
import { modelCallEnded, modelCallStarted, someUsage, type FakeConversation } from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';

const overBudget = { name: 'StoreError', reason: 'over-budget' };
const noLimit = { sessionUsd: 0, dayUsd: 0 };

function spending(usd: number | null) {
  return { usage: { ...someUsage, usd } };
}

/** Starts a call that reserves so much, and leaves it under way. */
function reserve(chat: FakeConversation, turnId: TurnId, reservedUsd: number | null, budget = noLimit, day?: string) {
  return chat.startModelCall(turnId, { reservedUsd, budget, ...(day === undefined ? {} : { day }) });
}

export function budgetSuite(declare: Declare): void {
  declare('a call that might take a session over its budget is refused and writes nothing', async (world) => {
    const { store, conversation } = world;
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    const budget = { sessionUsd: 1, dayUsd: 0 };
    const turnId = await chat.openTurn();
    await chat.callModel(turnId, { reservedUsd: 1, budget }, spending(0.5));
    await reserve(chat, turnId, 0.25);
    const before = [await chat.journal(), await store.read.modelCalls(chat.sessionId), await store.read.totals()];
    const attempt = reserve(chat, turnId, 0.5, budget);
    await assert.rejects(attempt, {
      ...overBudget,
      message:
        'The budget for this session is $1.00, of which $0.25 is left, and the next model call may cost $0.50: raise budget.session_usd, or start a new session.',
    });
    const after = [await chat.journal(), await store.read.modelCalls(chat.sessionId), await store.read.totals()];
    assert.deepEqual(after, before);
    // Another session has a budget of its own, and exactly what is left may be spent.
    await reserve(other, await other.openTurn('there'), 1, budget);
    await reserve(chat, turnId, 0.25, budget);
  });

  declare('what was reserved and not spent is free again when the call ends', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const budget = { sessionUsd: 2, dayUsd: 2 };
    for (const usd of [0.5, 0.25, 0.25]) {
      await chat.callModel(turnId, { reservedUsd: 1, budget }, spending(usd));
    }
    await chat.callModel(turnId, { reservedUsd: 1, budget }, { outcome: 'failed', usage: null, error: 'no' });
    await chat.callModel(turnId, { reservedUsd: 1, budget }, spending(1));
    await assert.rejects(reserve(chat, turnId, 0.001, budget), overBudget);
  });

  declare('of two sessions that want the rest of a day at once, one gets it', async ({ ids, conversation }) => {
    const chats = [conversation('alpha'), conversation('beta')] as const;
    const budget = { sessionUsd: 0, dayUsd: 3 };
    const turns = new Map<FakeConversation, TurnId>();
    for (const chat of chats) turns.set(chat, await chat.openTurn());
    await chats[0].callModel(turns.get(chats[0]) ?? null, { reservedUsd: 1, budget }, spending(1));
    const calls = chats.map((chat) =>
      modelCallStarted(turns.get(chat) ?? null, ids.next('mdl'), { reservedUsd: 1.5, budget }),
    );
    const results = await Promise.allSettled(chats.map((chat, index) => chat.commit(...calls.slice(index, index + 1))));
    assert.deepEqual(results.map((result) => result.status).sort(), ['fulfilled', 'rejected']);
    const winner = results.findIndex((result) => result.status === 'fulfilled');
    const [won, lost] = winner === 0 ? chats : [chats[1], chats[0]];
    const loser = calls[1 - winner];
    const wonCall = calls[winner];
    assert.ok(loser !== undefined && wonCall !== undefined);
    await assert.rejects(lost.commit(loser), {
      ...overBudget,
      message:
        'The budget for today is $3.00, of which $0.50 is left, and the next model call may cost $1.50: raise budget.day_usd, or go on tomorrow.',
    });
    await won.commit(modelCallEnded(wonCall.modelCallId, spending(0.5)));
    await lost.commit(loser);
  });

  declare('a day counts its own calls only', async ({ conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    const budget = { sessionUsd: 0, dayUsd: 1 };
    const [turnId, elsewhere] = [await chat.openTurn(), await other.openTurn('there')];
    await chat.callModel(turnId, { day: '2026-01-01' }, spending(1));
    await reserve(chat, turnId, 0.5, budget, '2026-01-02');
    await reserve(other, elsewhere, 0.5, budget, '2026-01-02');
    await assert.rejects(reserve(other, elsewhere, 0.6, budget, '2026-01-02'), overBudget);
    await assert.rejects(reserve(other, elsewhere, 0.01, budget, '2026-01-01'), overBudget);
    // What is under way on days before and after is not of this one.
    await reserve(chat, turnId, 1, budget, '2026-01-04');
    await reserve(other, elsewhere, 1, budget, '2026-01-03');
    await reserve(chat, turnId, 1, budget, '2026-01-05');
  });

  declare('a lost call has cost what was reserved for it', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    await reserve(chat, turnId, 0.75);
    for (const budget of [
      { sessionUsd: 1, dayUsd: 0 },
      { sessionUsd: 0, dayUsd: 1 },
    ]) {
      await assert.rejects(reserve(chat, turnId, 0.5, budget), overBudget);
    }
    await chat.callModel(turnId, { reservedUsd: 0.25, budget: { sessionUsd: 1, dayUsd: 1 } }, spending(0.125));
    await reserve(chat, turnId, 0.125, { sessionUsd: 1, dayUsd: 1 });
  });

  declare('a call without a price is refused only if too much is spent already', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const budget = { sessionUsd: 1, dayUsd: 1 };
    await chat.callModel(turnId, { budget }, spending(null));
    await chat.callModel(turnId, { budget }, spending(1));
    await chat.callModel(turnId, { budget }, spending(0.25));
    await assert.rejects(reserve(chat, turnId, null, { sessionUsd: 1, dayUsd: 0 }), {
      ...overBudget,
      message:
        'The budget for this session is $1.00, of which $0.00 is left: raise budget.session_usd, or start a new session.',
    });
    await assert.rejects(reserve(chat, turnId, null, { sessionUsd: 0, dayUsd: 1 }), overBudget);
    await reserve(chat, turnId, null);
    await reserve(chat, turnId, 100);
  });

  declare('tenths of a dollar add up to a dollar', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const budget = { sessionUsd: 0.3, dayUsd: 0.3 };
    for (let call = 0; call < 3; call++) {
      await chat.callModel(turnId, { reservedUsd: 0.1, budget }, spending(0.1));
    }
    await assert.rejects(reserve(chat, turnId, 0.000_1, budget), /of which \$0\.00 is left.*may cost \$0\.00010:/);
  });

  declare('removing a session gives nothing of its day back', async ({ store, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    const turnId = await chat.openTurn();
    await chat.callModel(turnId, {}, spending(0.75));
    await chat.closeTurn(turnId);
    await store.deleteSession(chat.sessionId);
    const elsewhere = await other.openTurn('there');
    await assert.rejects(reserve(other, elsewhere, 0.5, { sessionUsd: 0, dayUsd: 1 }), overBudget);
  });

  declare('what is reserved when the process dies is spent', async ({ ids, reopen, conversation }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const chat = conversation('alpha');
    await reserve(chat, await chat.openTurn(), 0.75);
    const owner = ids.next('nod');
    const again = await reopen(owner);
    const lease = await again.acquireLease(chat.sessionId, owner, 1000);
    assert.ok(lease !== null);
    const start = (sessionUsd: number, dayUsd: number) =>
      again.commit(lease, [
        modelCallStarted(null, ids.next('mdl'), { reservedUsd: 0.5, budget: { sessionUsd, dayUsd } }),
      ]);
    await assert.rejects(start(1, 0), overBudget);
    await assert.rejects(start(0, 1), overBudget);
    await start(1.25, 1.25);
  });
}
