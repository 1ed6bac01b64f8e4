/** Every change of state that is allowed, and that every other one is refused and writes nothing. */
import assert from 'node:assert/strict';
import type { CallId, InboxId, ModelCallId, TurnId } from '../protocol/ids.ts';
import type { CallOutcome } from '../protocol/messages.ts';
import {
  assistantCalls,
  assistantText,
  firstPrompt,
  modelCallEnded,
  modelCallStarted,
  toolResult,
  userText,
  type FakeConversation,
} from './fake-conversation.ts';
import type { CallState, PromptStep, SessionWrite } from './store.ts';
import type { Declare } from './fake-world.ts';

export function transitionSuite(declare: Declare): void {
  // One store for all cases: each has sessions of its own, and opening a store costs more than a case.
  declare('a call starts once and ends once, as whatever it ended', async ({ conversation }, context) => {
    for (const outcome of ['finished', 'failed', 'unknown', 'skipped'] as const) {
      for (const from of ['planned', 'started'] as const) {
        const title = `${from} to ${outcome}`;
        await context.test(title, () => settleFrom(conversation(title), from, outcome));
      }
    }
  });

  declare('a verb that does not fit is refused and writes nothing', async ({ conversation }, context) => {
    for (const [title, makeWrites] of Object.entries(misfits)) {
      await context.test(title, async () => {
        const situation = await arrange(conversation(title), conversation(`beside ${title}`));
        const before = await situation.chat.journal();
        const attempt = situation.chat.commit(...makeWrites(situation));
        await assert.rejects(attempt, { name: 'StoreError', reason: 'conflict' });
        assert.deepEqual(await situation.chat.journal(), before);
      });
    }
  });
}

async function settleFrom(chat: FakeConversation, from: CallState, outcome: CallOutcome): Promise<void> {
  const turnId = await chat.openTurn();
  const [callId] = await chat.planCalls(turnId, 1);
  assert.ok(callId !== undefined);
  const start: SessionWrite = { verb: 'start-call', turnId, callId };
  const settle: SessionWrite = { verb: 'settle-call', turnId, callId, message: toolResult(callId, outcome, 'x') };
  if (from === 'started') {
    await chat.commit(start);
    await assert.rejects(chat.commit(start), { reason: 'conflict' });
  }
  assert.deepEqual(
    (await chat.journal()).unsettledCalls.map((call) => call.state),
    [from],
  );
  await chat.commit(settle);
  const settled = await chat.journal();
  assert.deepEqual(settled.unsettledCalls, []);
  for (const again of [settle, start]) await assert.rejects(chat.commit(again), { reason: 'conflict' });
  assert.deepEqual(await chat.journal(), settled);
}

interface Situation {
  readonly chat: FakeConversation;
  readonly openTurn: TurnId;
  readonly closedTurn: TurnId;
  readonly plannedCall: CallId;
  readonly closedTurnsCall: CallId;
  readonly waiting: InboxId;
  readonly answered: InboxId;
  readonly waitingElsewhere: InboxId;
  readonly turnElsewhere: TurnId;
  readonly endedModelCall: ModelCallId;
  readonly lostModelCall: ModelCallId;
  readonly openModelCall: ModelCallId;
}

/** A session with a closed turn behind it and an open one that has a planned call; another session beside it. */
async function arrange(chat: FakeConversation, other: FakeConversation): Promise<Situation> {
  const closedTurn = await chat.openTurn('one');
  const [closedTurnsCall] = await chat.planCalls(closedTurn, 1);
  assert.ok(closedTurnsCall !== undefined);
  await chat.commit(
    {
      verb: 'settle-call',
      turnId: closedTurn,
      callId: closedTurnsCall,
      message: toolResult(closedTurnsCall, 'finished', ''),
    },
    { verb: 'close-turn', turnId: closedTurn, outcome: 'answered', reply: null },
  );
  const answered = (await chat.journal()).entries.flatMap((entry) => ('inboxId' in entry ? [entry.inboxId] : []))[0];
  assert.ok(answered !== undefined && answered !== null);
  const openTurn = await chat.openTurn('two');
  const endedModelCall = await chat.startModelCall(openTurn);
  await chat.commit({
    verb: 'end-model-call',
    modelCallId: endedModelCall,
    outcome: 'failed',
    usage: null,
    error: 'broken off',
  });
  const [plannedCall] = await chat.planCalls(openTurn, 1);
  assert.ok(plannedCall !== undefined);
  const lostModelCall = await chat.startModelCall(openTurn);
  const openModelCall = await chat.startModelCall(openTurn);
  return {
    chat,
    openTurn,
    closedTurn,
    plannedCall,
    closedTurnsCall,
    waiting: await chat.say('three'),
    answered,
    waitingElsewhere: await other.say('elsewhere'),
    turnElsewhere: await other.openTurn('there'),
    endedModelCall,
    lostModelCall,
    openModelCall,
  };
}

function closing(turnId: TurnId): SessionWrite {
  return { verb: 'close-turn', turnId, outcome: 'answered', reply: null };
}

function settling(turnId: TurnId, callId: CallId, resultOf = callId): SessionWrite {
  return { verb: 'settle-call', turnId, callId, message: toolResult(resultOf, 'finished', '') };
}

function answering(turnId: TurnId, modelCallId: ModelCallId): SessionWrite {
  return { verb: 'append-answer', turnId, modelCallId, message: assistantText('x'), calls: [] };
}

function startingWith(chat: FakeConversation, turnId: TurnId, prompt: PromptStep): SessionWrite {
  return modelCallStarted(turnId, chat.ids.next('mdl'), { prompt });
}

function nudging(turnId: TurnId): SessionWrite {
  return { verb: 'append-nudge', turnId, message: userText('go on') };
}

const misfits: Readonly<Record<string, (situation: Situation) => SessionWrite[]>> = {
  'opening a second turn': ({ chat, waiting }) => [
    { verb: 'open-turn', turnId: chat.ids.next('trn'), promote: [waiting] },
  ],
  'opening a turn under a used id': ({ openTurn, closedTurn, plannedCall, waiting }) => [
    settling(openTurn, plannedCall),
    closing(openTurn),
    { verb: 'open-turn', turnId: closedTurn, promote: [waiting] },
  ],
  'joining a closed turn': ({ closedTurn, waiting }) => [{ verb: 'join-turn', turnId: closedTurn, promote: [waiting] }],
  'promoting a message twice': ({ openTurn, waiting }) => [
    { verb: 'join-turn', turnId: openTurn, promote: [waiting, waiting] },
  ],
  'promoting an answered message': ({ openTurn, answered }) => [
    { verb: 'join-turn', turnId: openTurn, promote: [answered] },
  ],
  "promoting another session's message": ({ openTurn, waitingElsewhere }) => [
    { verb: 'join-turn', turnId: openTurn, promote: [waitingElsewhere] },
  ],
  'promoting a message that is not there': ({ chat, openTurn }) => [
    { verb: 'join-turn', turnId: openTurn, promote: [chat.ids.next('inb')] },
  ],
  'a model call in a closed turn': ({ chat, closedTurn }) => [modelCallStarted(closedTurn, chat.ids.next('mdl'))],
  'starting a model call twice': ({ openTurn, openModelCall }) => [modelCallStarted(openTurn, openModelCall)],
  'ending a model call twice': ({ endedModelCall }) => [
    { verb: 'end-model-call', modelCallId: endedModelCall, outcome: 'completed', usage: null, error: null },
  ],
  'ending a model call that is not there': ({ chat }) => [
    { verb: 'end-model-call', modelCallId: chat.ids.next('mdl'), outcome: 'completed', usage: null, error: null },
  ],
  'ending a model call that was lost': ({ lostModelCall }) => [modelCallEnded(lostModelCall)],
  'a first prompt that keeps something': ({ chat, openTurn }) => [
    startingWith(chat, openTurn, { ...firstPrompt('new'), kept: 1 }),
  ],
  'a first prompt without a reason': ({ chat, openTurn }) => [
    startingWith(chat, openTurn, { ...firstPrompt('new', 'a'), prefixBreak: null }),
  ],
  'a prompt that keeps more than there was': ({ chat, openTurn }) => [
    startingWith(chat, openTurn, firstPrompt('new', 'a', 'b')),
    startingWith(chat, openTurn, { ...firstPrompt('new'), kept: 3, prefixBreak: null }),
  ],
  'a prompt that drops something without a reason': ({ chat, openTurn }) => [
    startingWith(chat, openTurn, firstPrompt('new', 'a', 'b')),
    startingWith(chat, openTurn, { ...firstPrompt('new', 'c'), kept: 1, prefixBreak: null }),
  ],
  'a reason for a break that there is not': ({ chat, openTurn }) => [
    startingWith(chat, openTurn, firstPrompt('new', 'a', 'b')),
    startingWith(chat, openTurn, { ...firstPrompt('new', 'c'), kept: 2, prefixBreak: 'compressed' }),
  ],
  'an answer in a closed turn': ({ closedTurn, openModelCall }) => [answering(closedTurn, openModelCall)],
  'an answer of an unknown model call': ({ chat, openTurn, plannedCall }) => [
    settling(openTurn, plannedCall),
    answering(openTurn, chat.ids.next('mdl')),
  ],
  'a second answer of one model call': ({ openTurn, plannedCall, openModelCall }) => [
    settling(openTurn, plannedCall),
    answering(openTurn, openModelCall),
    answering(openTurn, openModelCall),
  ],
  'an answer while a call has no result': ({ openTurn, openModelCall }) => [answering(openTurn, openModelCall)],
  'an answer whose calls are not all planned': ({ chat, openTurn, plannedCall, openModelCall }) => {
    const [first, second] = [chat.plannedCall('{}'), chat.plannedCall('{}')];
    return [
      settling(openTurn, plannedCall),
      {
        verb: 'append-answer',
        turnId: openTurn,
        modelCallId: openModelCall,
        message: assistantCalls([first, second]),
        calls: [first],
      },
    ];
  },
  'planning a call under a used id': ({ chat, openTurn, plannedCall, openModelCall }) => {
    const again = { ...chat.plannedCall('{}'), id: plannedCall };
    return [
      settling(openTurn, plannedCall),
      {
        verb: 'append-answer',
        turnId: openTurn,
        modelCallId: openModelCall,
        message: assistantCalls([again]),
        calls: [again],
      },
    ];
  },
  'a nudge in a closed turn': ({ closedTurn }) => [nudging(closedTurn)],
  "a nudge in another session's turn": ({ turnElsewhere }) => [nudging(turnElsewhere)],
  'a nudge while a call is planned': ({ openTurn }) => [nudging(openTurn)],
  'a nudge while a call is started': ({ openTurn, plannedCall }) => [
    { verb: 'start-call', turnId: openTurn, callId: plannedCall },
    nudging(openTurn),
  ],
  'starting a call of a closed turn': ({ openTurn, closedTurnsCall }) => [
    { verb: 'start-call', turnId: openTurn, callId: closedTurnsCall },
  ],
  'starting a call in a closed turn': ({ closedTurn, plannedCall }) => [
    { verb: 'start-call', turnId: closedTurn, callId: plannedCall },
  ],
  'starting a call that is not there': ({ chat, openTurn }) => [
    { verb: 'start-call', turnId: openTurn, callId: chat.ids.next('cal') },
  ],
  "settling a call with another's result": ({ openTurn, plannedCall, closedTurnsCall }) => [
    settling(openTurn, plannedCall, closedTurnsCall),
  ],
  'settling a call that is not there': ({ chat, openTurn }) => [settling(openTurn, chat.ids.next('cal'))],
  "a notice in another session's turn": ({ turnElsewhere }) => [
    { verb: 'notice', turnId: turnElsewhere, text: 'lost' },
  ],
  'closing a turn while a call is planned': ({ openTurn }) => [closing(openTurn)],
  'closing a turn while a call is started': ({ openTurn, plannedCall }) => [
    { verb: 'start-call', turnId: openTurn, callId: plannedCall },
    closing(openTurn),
  ],
  'parking a turn while a call is planned': ({ openTurn }) => [
    { verb: 'close-turn', turnId: openTurn, outcome: 'parked', reply: null },
  ],
  'closing a turn twice': ({ openTurn, plannedCall }) => [
    settling(openTurn, plannedCall),
    closing(openTurn),
    closing(openTurn),
  ],
  'closing a turn that is not there': ({ chat }) => [closing(chat.ids.next('trn'))],
  'a reply under a used id': ({ chat, openTurn, plannedCall, waiting }) => {
    const reply = chat.reply('twice');
    const next = chat.ids.next('trn');
    return [
      settling(openTurn, plannedCall),
      { verb: 'close-turn', turnId: openTurn, outcome: 'answered', reply },
      { verb: 'open-turn', turnId: next, promote: [waiting] },
      { verb: 'close-turn', turnId: next, outcome: 'answered', reply },
    ];
  },
};
