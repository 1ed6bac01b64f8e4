import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalWords } from '../protocol/approval-words.ts';
import type { Store } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import { TestChat } from './commands/test-chat.ts';
import { createMayApprove, type MayApprove } from './may-approve.ts';
import { ends, type Answer } from './test-gateway.ts';

/** A chat whose model asks for a tool that asks a person, and then says what came of it. */
async function chatThatAsks(
  choices: readonly string[] | null,
  questions = 1,
  besides: Pick<Parameters<typeof TestChat.open>[0] & object, 'busyMode' | 'wrapStore'> & {
    readonly isApproval?: true;
    readonly mayApprove?: MayApprove;
  } = {},
): Promise<TestChat> {
  const { mayApprove, isApproval, ...options } = besides;
  const marks = isApproval === undefined ? {} : { isApproval };
  const tool: Tool = {
    definition: { name: 'ask', description: '', parameters: {} },
    effect: 'read',
    replay: 'never',
    parse: (value) => ({ ok: true, value }),
    run: () => Promise.resolve({ kind: 'ask', text: 'Shall I?', choices, deadline: 10 ** 15, ...marks }),
    answered: (_input, answer) => Promise.resolve({ kind: 'finished', text: `they said ${answer}` }),
  };
  const answer: Answer = async function* (request) {
    const results = request.messages.flatMap((message) => (message.role === 'tool' ? [message.parts[0].text] : []));
    if (results.length > 0) yield { kind: 'text-delta', text: results.join(', ') };
    else
      for (let count = 0; count < questions; count += 1)
        yield { kind: 'tool-call', providerCallId: `p${count}`, name: 'ask', arguments: '{}' };
    yield ends(results.length > 0 ? 'answer' : 'tool-calls');
  };
  const policy = { allowedUsers: ['*'], owners: ['7'] };
  const approving = mayApprove === undefined ? {} : { mayApprove };
  const services = { status: () => Promise.reject(new Error('not asked')), ...approving };
  return TestChat.open({ tool, policy, services, ...options }, answer);
}

test('a question comes with buttons, and the pressed one is the answer, once', async () => {
  const chat = await chatThatAsks(['yes', 'no']);
  assert.deepEqual(await chat.says('go'), ['Shall I?']);
  const [yes, no] = chat.buttons;
  assert.ok(yes !== undefined && no !== undefined);
  assert.deepEqual([yes.label, no.label], ['yes', 'no']);
  assert.deepEqual(await chat.presses(yes.value), ['yes', 'they said yes']);
  assert.equal(chat.isSettled, true);
  assert.match((await chat.presses(no.value)).join(), /not be answered any more/);
  assert.equal(chat.isSettled, true);
  await chat.close();
});

test('what is written while words are waited for is the answer, in every busy mode, and once', async () => {
  for (const busyMode of ['steer', 'queue', 'interrupt'] as const) {
    const chat = await chatThatAsks(null, 1, { busyMode });
    await chat.says('go', { externalId: 'm-go' });
    assert.deepEqual(await chat.says('go', { externalId: 'm-go' }), [], 'what comes again is no answer');
    assert.deepEqual(await chat.says('the blue one', { externalId: 'm-blue' }), ['they said the blue one']);
    assert.deepEqual(await chat.says('the blue one', { externalId: 'm-blue' }), []);
    assert.deepEqual(chat.prompts.at(-1), ['go', '', '', 'the blue one']);
    await chat.close();
  }
});

test('an answer whose process died before it was given is given when the message comes again', async () => {
  let isDying = true;
  const wrapStore = (store: Store): Store => ({
    ...store,
    answerCall: (...call) => (isDying ? Promise.reject(new Error('died')) : store.answerCall(...call)),
  });
  const chat = await chatThatAsks(null, 1, { wrapStore });
  await chat.says('go');
  await assert.rejects(chat.says('the blue one', { externalId: 'm-blue' }), /died/);
  isDying = false;
  assert.deepEqual(await chat.says('the blue one', { externalId: 'm-blue' }), ['they said the blue one']);
  await chat.close();
});

test('where there are choices one of them is an answer; anything else is told what is waited for, once', async () => {
  const chat = await chatThatAsks(['Yes, do', 'No']);
  await chat.says('go');
  const told = await chat.says('well', { externalId: 'm-well' });
  assert.deepEqual(told, [
    'What you sent is kept, but this waits for an answer first:\nShall I?\nPress a button, or send one of: Yes, do, No',
  ]);
  assert.deepEqual(await chat.says('well', { externalId: 'm-well' }), []);
  assert.deepEqual(await chat.says('yes, DO'), ['they said Yes, do']);
  await chat.close();
});

test('what was only handed on answers nothing', async () => {
  const chat = await chatThatAsks(null);
  await chat.says('go');
  const message = { role: 'user', parts: [{ kind: 'text', text: '[forwarded]\nred' }], untrusted: 'stranger' } as const;
  assert.match((await chat.says('', { message })).join(), /Write it in your own words\.$/);
  assert.deepEqual(await chat.says('blue'), ['they said blue']);
  await chat.close();
});

test('words give no permission', async () => {
  for (const choices of [null, Object.values(approvalWords)]) {
    const chat = await chatThatAsks(choices, 1, { isApproval: true });
    await chat.says('go');
    for (const words of ['yes', approvalWords.once]) {
      assert.match((await chat.says(words)).join(), /Press a button, or send \/approve or \/deny\.$/);
    }
    assert.equal((await chat.session())?.turn, 'open');
    await chat.close();
  }
});

test('a message that interrupts is told of no question', async () => {
  const chat = await chatThatAsks(['yes', 'no'], 1, { busyMode: 'interrupt' });
  await chat.says('go');
  const told = await chat.says('something else');
  assert.ok(!told.join().includes('waits for an answer'), told.join());
  await chat.close();
});

test('nobody but those of the conversation can press its buttons', async () => {
  const chat = await chatThatAsks(['yes', 'no']);
  const inGroup = chat.as({ place: { kind: 'group', chat: 'g' } });
  await inGroup.says('go');
  const value = inGroup.buttons[0]?.value ?? '';
  const other = inGroup.as({ sender: { id: '8', name: 'Grace' } });
  assert.match((await other.presses(value)).join(), /not asked of you/);
  assert.equal(other.isSettled, false, 'the buttons stay for whom they are');
  assert.deepEqual(await inGroup.presses(value), ['yes', 'they said yes']);
  await chat.close();
});

test('a question of a conversation that was left can still be answered by its button', async () => {
  const chat = await chatThatAsks(['yes', 'no']);
  await chat.says('go');
  const value = chat.buttons[0]?.value ?? '';
  const session = await chat.session();
  assert.ok(session);
  await chat.gateway.store.closeSession(session.id);
  assert.deepEqual(await chat.presses(value), ['yes', 'they said yes']);
  await chat.close();
});

test('a button whose value means nothing does nothing', async () => {
  const chat = await chatThatAsks(['yes', 'no']);
  await chat.says('go');
  const value = chat.buttons[0]?.value ?? '';
  for (const wrong of [value.replace(/\d$/, '9'), 'hello', '', '//new yes', 'cal_0:1']) {
    assert.equal((await chat.presses(wrong)).length, 1, wrong);
  }
  assert.deepEqual(await chat.presses(value), ['yes', 'they said yes']);
  await chat.close();
});

test("a button of somebody else's command does nothing, and stays for whom it is", async () => {
  const chat = await TestChat.open({ policy: { allowedUsers: ['*'], owners: ['7'] } });
  const inGroup = chat.as({ place: { kind: 'group', chat: 'g' } });
  const other = inGroup.as({ sender: { id: '8', name: 'Grace' } });
  await other.says('what Grace said');
  await inGroup.says('one');
  await inGroup.says('/reset');
  const value = inGroup.buttons[0]?.value ?? '';
  for (const who of [other, other.as({ sender: { id: '9', name: 'Eve' } })]) {
    assert.deepEqual(await who.presses(value), ['This is not asked of you.']);
    assert.equal(who.isSettled, false);
  }
  await other.says('and more');
  assert.equal(chat.prompts.at(-1)?.[0], 'what Grace said');
  assert.deepEqual(await inGroup.presses(value), ['Done.', `${(await inGroup.session())?.name} is empty again.`]);
  await chat.close();
});

test('a button is about the conversation that it was shown in, also when another one has taken its place', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const first = await chat.session();
  assert.ok(first);
  await chat.says('/reset');
  const { value = '' } = chat.buttons[0] ?? {};
  await chat.says('/new');
  await chat.says('two');
  assert.deepEqual(await chat.presses(value), ['This can not be answered any more.']);
  assert.equal(chat.isSettled, true);
  await chat.says('three');
  assert.deepEqual(chat.prompts.at(-1), ['two', 'answer 2', 'three']);
  await chat.says('/resume ' + first.name);
  assert.deepEqual(await chat.presses(value), ['Done.', `${first.name} is empty again.`]);
  await chat.close();
});

test('a command by button is answered once', async () => {
  const chat = await chatThatAsks(null);
  assert.equal((await chat.presses('/help', 'p1')).length, 2);
  assert.deepEqual(await chat.presses('/help', 'p1'), ['Done.']);
  await chat.close();
});

test('/approve and /deny answer the newest question with its yes or no', async () => {
  for (const [command, said] of [
    ['/approve', 'they said Yes, run it'],
    ['/deny', 'they said No'],
  ] as const) {
    const chat = await chatThatAsks(['Yes, run it', 'No', 'Always']);
    await chat.says('go');
    const told = await chat.says(command);
    assert.equal(told.at(-1), said);
    assert.match((await chat.says(command)).join(), /No question waits/);
    await chat.close();
  }
});

test('of two questions the newest is answered first', async () => {
  const chat = await chatThatAsks(['yes', 'no'], 2);
  await chat.says('go');
  await chat.says('/deny');
  assert.equal((await chat.says('/approve')).at(-1), 'they said yes, they said no');
  await chat.close();
});

test('a question without choices is answered with /answer', async () => {
  const chat = await chatThatAsks(null);
  assert.match((await chat.says('go')).join(), /Write your answer\./);
  assert.match((await chat.says('/approve')).join(), /Answer with \/answer and your words/);
  assert.match((await chat.says('/answer')).join(), /Answer with \/answer/);
  assert.equal((await chat.says('/answer to the left')).at(-1), 'they said to the left');
  await chat.close();
});

test('/answer takes a choice in any case, and nothing that is none', async () => {
  const chat = await chatThatAsks(['Left', 'Right']);
  await chat.says('go');
  assert.match((await chat.says('/answer up')).join(), /one of: Left, Right/);
  assert.match((await chat.says('/approve')).join(), /one of: Left, Right/);
  assert.equal((await chat.says('/answer right')).at(-1), 'they said Right');
  await chat.close();
});

const allWords = Object.values(approvalWords);
const grace = { sender: { id: '8', name: 'Grace' } };

test('a permission is given by the owner alone, and a refused press leaves the buttons', async () => {
  const chat = await chatThatAsks(allWords, 1, { isApproval: true });
  const user = chat.as(grace);
  await user.says('go');
  const [once] = user.buttons;
  assert.ok(once !== undefined);
  assert.deepEqual(await user.presses(once.value), ['Only the owner may answer this: it asks for permission.']);
  assert.equal(user.isSettled, false);
  for (const words of ['/approve', '/deny', '/answer Once']) {
    assert.match((await user.says(words)).join(), /Only the owner may answer/);
  }
  // The owner presses it where they see it, in whoever's conversation it is asked.
  assert.equal((await chat.presses(once.value))[0], 'Once');
  assert.equal(chat.isSettled, true);
  assert.match((await user.presses(once.value)).join(), /not be answered any more/);
  await chat.close();
});

test('where users may give permission, everybody does so in their own conversation only', async () => {
  const chat = await chatThatAsks(allWords, 1, { isApproval: true, mayApprove: createMayApprove(() => 'user') });
  const user = chat.as(grace);
  const other = chat.as({ sender: { id: '9', name: 'Edsger' } });
  await user.says('go');
  const value = user.buttons[1]?.value ?? '';
  assert.match((await other.presses(value)).join(), /Only the owner/);
  assert.deepEqual(await user.presses(value), ['This session', 'they said This session']);
  await chat.close();
});

test('/approve says for how long, and /deny says no', async () => {
  for (const [command, said] of [
    ['/approve', 'they said Once'],
    ['/approve once', 'they said Once'],
    ['/approve Session', 'they said This session'],
    ['/approve always', 'they said Always'],
    ['/deny', 'they said No'],
    ['/answer this session', 'they said This session'],
  ] as const) {
    const chat = await chatThatAsks(allWords, 1, { isApproval: true });
    await chat.says('go');
    assert.equal((await chat.says(command)).at(-1), said, command);
    await chat.close();
  }
});

test('what is not offered is not allowed, and the words that are there are told', async () => {
  const chat = await chatThatAsks([approvalWords.once, approvalWords.no], 1, { isApproval: true });
  await chat.says('go');
  assert.match((await chat.says('/approve always')).join(), /one of: Once, No/);
  assert.match((await chat.says('/approve forever')).join(), /one of: once, session, always/);
  assert.equal((await chat.says('/approve')).at(-1), 'they said Once');
  await chat.close();
});
