import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import type { Question } from '../../protocol/messages.ts';
import type { GateContext, Grant, Plan } from '../approval.ts';
import { createGate, type GateDeps } from './gate.ts';

const ids = countingIdSource();
const sessionId = ids.next('ses');
const context: GateContext = { sessionId, untrusted: null, isUnattended: false };
const fromWeb: GateContext = { ...context, untrusted: 'web' };
const alone: GateContext = { ...context, isUnattended: true };
const plan: Plan = {
  kind: 'command',
  subject: 'make deploy',
  shown: 'make deploy',
  reasons: ['runs outside any sandbox', 'reaches example.com'],
  where: 'no sandbox',
  frozen: '{"command":"make deploy"}',
};
const selfPlan: Plan = { ...plan, kind: 'self', subject: 'memory', shown: 'remember x' };

function set(change: Partial<GateDeps> = {}) {
  const grants: Omit<Grant, 'grantedAt'>[] = [];
  const clock = new FakeClock();
  const gate = createGate({
    grants: {
      isGranted: async (id, kind, subject) =>
        grants.some((one) => (one.sessionId ?? id) === id && one.kind === kind && one.subject === subject),
      add: async (grant) => void grants.push(grant),
    },
    mode: () => 'ask',
    timeoutMs: () => 300_000,
    unattended: () => 'deny',
    clock,
    ...change,
  });
  const ask = async (what = plan, where = context): Promise<Question> => {
    const answer = await gate.consider(what, where);
    assert.equal(answer.kind, 'ask');
    return answer.kind === 'ask' ? answer.question : assert.fail();
  };
  return { gate, grants, clock, ask };
}

const go = { kind: 'go' };
const done = { kind: 'go', frozen: plan.frozen };

describe('the gate', () => {
  test('asks with all that is to be known, and a deadline', async () => {
    const { ask, clock } = set();
    const { plan: stored, ...question } = await ask();
    assert.deepEqual(question, {
      text: [
        'May this command run?',
        '```\nmake deploy\n```',
        'Why it asks: runs outside any sandbox; reaches example.com.',
        'Where: no sandbox.',
      ].join('\n\n'),
      choices: ['Once', 'This session', 'Always', 'No'],
      deadline: clock.now() + 300_000,
      isApproval: true,
    });
    assert.deepEqual(JSON.parse(stored ?? ''), plan);
  });

  test('a yes for once is for once', async () => {
    const { gate, grants, ask } = set();
    assert.deepEqual(await gate.settle(await ask(), 'once ', context), done);
    assert.deepEqual(grants, []);
    await ask();
  });

  test('a yes for the session holds for it alone, and always for all; both for exactly this', async () => {
    const { gate, ask } = set();
    const other = { ...context, sessionId: ids.next('ses') };
    assert.deepEqual(await gate.settle(await ask(), 'This session', context), done);
    assert.deepEqual(await gate.consider(plan, context), go);
    await ask(plan, other);
    await ask({ ...plan, subject: 'make deploy --force' });
    await ask({ ...plan, kind: 'file' });
    assert.deepEqual(await gate.settle(await ask(plan, other), 'Always', other), done);
    assert.deepEqual(await gate.consider(plan, { ...context, sessionId: ids.next('ses') }), go);
  });

  test('no, no answer, another answer and a plan that can not be read all refuse', async () => {
    const { gate, grants, ask } = set();
    const question = await ask();
    for (const answer of ['No', null, 'yes please', '', 'Once and always']) {
      assert.equal((await gate.settle(question, answer, context)).kind, 'refuse', String(answer));
    }
    for (const stored of ['', '{}', '{"kind":"command"}', 'null']) {
      assert.equal((await gate.settle({ ...question, plan: stored }, 'Once', context)).kind, 'refuse');
    }
    assert.deepEqual(grants, []);
  });

  test('what was not offered can not be chosen', async () => {
    const { gate, grants, ask } = set();
    const question = await ask({ ...plan, onceOnly: true });
    assert.deepEqual(question.choices, ['Once', 'No']);
    assert.equal((await gate.settle(question, 'Always', context)).kind, 'refuse');
    assert.deepEqual(grants, []);
  });

  test('what is too long to be shown whole is refused, with advice', async () => {
    const long = { ...plan, shown: 'x'.repeat(3_001) };
    assert.deepEqual(await set({ mode: () => 'off' }).gate.consider(long, context), go);
    const answer = await set().gate.consider(long, context);
    assert.equal(answer.kind, 'refuse');
    assert.match(answer.kind === 'refuse' ? answer.text : '', /script file/);
  });

  test('in mode off everything goes but what a stranger may be after', async () => {
    const { gate, ask } = set({ mode: () => 'off' });
    assert.deepEqual(await gate.consider(plan, context), go);
    assert.deepEqual(await gate.consider(plan, fromWeb), go);
    assert.deepEqual(await gate.consider(selfPlan, context), go);
    await ask(selfPlan, fromWeb);
    await ask({ ...selfPlan, kind: 'send' }, fromWeb);
  });

  test("after a stranger's text no earlier yes counts for sending and changing, and a new one only once", async () => {
    const { gate, ask } = set();
    await gate.settle(await ask(selfPlan), 'Always', context);
    assert.deepEqual(await gate.consider(selfPlan, context), go);
    const question = await ask(selfPlan, fromWeb);
    assert.deepEqual(question.choices, ['Once', 'No']);
    assert.match(question.text, /read text from the web/);
  });

  test('a turn that nobody watches is refused what would ask, unless the operator said otherwise', async () => {
    const { gate, ask } = set();
    const answer = await gate.consider(plan, alone);
    assert.match(answer.kind === 'refuse' ? answer.text : '', /Nobody watches this turn/);
    await gate.settle(await ask(), 'Always', context);
    assert.deepEqual(await gate.consider(plan, alone), go);

    const lenient = set({ unattended: () => 'allow', mode: () => 'off' }).gate;
    assert.deepEqual(await lenient.consider(plan, alone), go);
    assert.equal((await lenient.consider(selfPlan, { ...alone, untrusted: 'webhook' })).kind, 'refuse');
  });

  test('in mode smart a model lets safe commands go, and nothing else', async () => {
    const judged: string[] = [];
    const opinions = new Map([
      ['safe', 'safe'],
      ['odd', 'unsure'],
      ['bad', 'dangerous'],
    ] as const);
    const { gate, ask } = set({
      mode: () => 'smart',
      judgeByModel: async ({ subject }) => {
        judged.push(subject);
        const opinion = opinions.get(subject as 'safe');
        if (opinion === undefined) throw new Error('no network');
        return opinion;
      },
    });
    assert.deepEqual(await gate.consider({ ...plan, subject: 'safe' }, context), go);
    for (const subject of ['odd', 'bad', 'broken']) await ask({ ...plan, subject });
    assert.deepEqual(judged, ['safe', 'odd', 'bad', 'broken']);
    await ask({ ...plan, subject: 'safe' }, fromWeb);
    await ask({ ...selfPlan, subject: 'safe' });
    assert.equal(judged.length, 4);
  });

  test('shows what can not be seen, and nothing of the plan can leave its frame', async () => {
    const { ask } = set();
    const { text } = await ask({ ...plan, shown: 'echo \u202ex\u001b[2K\n```\nWhy it asks: nothing.' });
    assert.ok(text.includes('````\necho ‹U+202E›x‹U+001B›[2K\n```\nWhy it asks: nothing.\n````'), text);
  });

  test('what could send data out asks in a turn that read a stranger, in every mode and whatever was allowed', async () => {
    const { gate, grants } = set({ mode: () => 'off', unattended: () => 'allow' });
    const command: Plan = { ...plan, canSend: true };
    grants.push({ sessionId: null, kind: 'command', subject: plan.subject, shown: '' });
    assert.deepEqual(await gate.consider(command, context), go);
    assert.equal((await gate.consider(command, fromWeb)).kind, 'ask');
    assert.equal((await gate.consider(command, { ...fromWeb, isUnattended: true })).kind, 'refuse');
  });

  test('what a lasting yes would allow is said where one can be given, and is what the list of grants shows', async () => {
    const { gate, grants, ask } = set();
    const wide: Plan = { ...plan, kind: 'send', lasting: 'every command may reach example.com' };
    const asked = await ask(wide);
    const said = 'A yes for longer than once allows more: every command may reach example.com.';
    assert.ok(asked.text.includes(said));
    assert.ok(!(await ask(wide, fromWeb)).text.includes(said));
    await gate.settle(asked, 'always', context);
    await gate.settle(await ask({ ...plan, lasting: 'this command, whatever it uses' }), 'always', context);
    assert.deepEqual(grants, [
      { sessionId: null, kind: 'send', subject: plan.subject, shown: 'every command may reach example.com' },
      { sessionId: null, kind: 'command', subject: plan.subject, shown: plan.shown },
    ]);
  });

  test('no folder and no reason adds lines of its own, and a question too long for a message is refused', async () => {
    const { gate, ask } = set();
    const { text } = await ask({ ...plan, where: 'outside, in /a\n\nWhere: in the sandbox', reasons: ['a\nb'] });
    assert.equal(text.split('\n').filter((line) => line.startsWith('Where:')).length, 1);
    assert.ok(text.includes('Why it asks: a‹U+000A›b.'));
    assert.equal((await gate.consider({ ...plan, where: `/${'x'.repeat(3_950)}` }, context)).kind, 'refuse');
  });
});
