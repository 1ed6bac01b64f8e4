/**
 * A long conversation as a person has it, on Telegram and at a terminal, with a model that uses nothing but what it is
 * sent: what was said before the conversation was shortened, and in an earlier one, is still used at its end.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Entry } from '../src/protocol/messages.ts';
import type { ModelCallRecord } from '../src/protocol/usage.ts';
import type { Reply } from './model-server/dialogue.ts';
import { startAttentiveModel, type AttentiveModel, type Sent } from './support/attentive-model.ts';
import { atEnd, freshHome, runTalaria, startGateway } from './support/talaria-process.ts';
import { openTerminal } from './support/terminal.ts';
import { startTelegramServer } from './telegram-server/telegram-server.ts';

const windowTokens = 17_000;
const ann = { id: 101, name: 'Ann' };

const told = {
  /** In the memory, about the person and about the work. */
  name: 'my name is Ann-Sofie',
  drink: 'guests get oolong',
  /** In the earlier conversation and nowhere else. */
  bicycle: 'the bicycle stands behind the bakery',
  /** Before anything was shortened. */
  garage: 'the code of the garage is 4711',
  train: 'the train leaves at 7 42',
} as const;
const everything = Object.values(told);

/** Search marks what it found. */
const notesIn = (text: string) => {
  const found = text.replaceAll(/[‹›]/g, '').matchAll(/note: ([^."\n]+)/g);
  return [...new Set([...found].map(([, note = '']) => note))];
};

/** What people wrote since the newest whole answer. */
function openRequests({ messages }: Sent): readonly string[] {
  const answered = messages.findLastIndex(
    ({ role, tool_calls = [] }) => role === 'assistant' && tool_calls.length === 0,
  );
  return messages.slice(answered + 1).flatMap(({ role, content }) => (role === 'user' ? [content] : []));
}

/** Summarises by keeping notes; reads files, goes on tours of many steps, and recalls what it finds in its prompt. */
function createMind() {
  let stepsLeft = 9;
  const reads = (path: string) => [{ name: 'read_file', arguments: JSON.stringify({ path }) }];
  return (sent: Sent): Reply | null => {
    const text = JSON.stringify(sent.messages);
    if (sent.model === 'summariser') {
      const lines = notesIn(text).map((note) => `- note: ${note}.`);
      return { text: ['## Goal\nto plan a move', '## Exact values', ...lines].join('\n') };
    }
    const open = openRequests(sent);
    const isAnswered = sent.messages.at(-1)?.role === 'tool';
    if (open.some((words) => words.startsWith('look'))) {
      return isAnswered ? { text: 'I have looked.' } : { calls: reads('long.txt') };
    }
    if (open.some((words) => words.startsWith('tour'))) {
      stepsLeft -= 1;
      if (stepsLeft < 0)
        return { text: `The tour is over. You asked: ${open.filter((words) => !words.startsWith('[')).join(' + ')}` };
      return { text: `Room ${stepsLeft}. ${'It has walls and a door. '.repeat(100)}`, calls: reads('short.txt') };
    }
    if (!open.some((words) => words.startsWith('recall'))) return null;
    if (!isAnswered) return { calls: [{ name: 'session_search', arguments: '{"query":"bicycle"}' }] };
    return { text: `I know: ${notesIn(text).toSorted().join('; ')}` };
  };
}

async function stage(t: TestContext, more: object = {}) {
  const model = await startAttentiveModel(t, windowTokens, createMind());
  const home = await freshHome(t);
  await mkdir(join(home, 'workspace'), { recursive: true, mode: 0o700 });
  await writeFile(join(home, 'workspace', 'long.txt'), 'A long line about the house.\n'.repeat(140));
  await writeFile(join(home, 'workspace', 'short.txt'), 'a short line');
  const address = {
    provider: 'custom',
    base_url: model.baseUrl,
    api_key: 'key-number-one',
    context_length: windowTokens,
  };
  const config = {
    model: { ...address, name: 'scripted', max_output_tokens: 1_000 },
    auxiliary: { compression: { ...address, name: 'summariser' } },
    compression: { threshold: 0.5 },
    ...more,
  };
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config));
  return { model, home };
}

/** A person's line, and the answer that is waited for before the next one; no call or draft on the way to it looks like it. */
type Line = readonly [words: string, answer: RegExp];

/** An earlier conversation: what is remembered by tool, and what is only said. */
const remembered: readonly Line[] = [
  [`remember note: ${told.drink}.`, /memory gave: Stored in MEMORY\.md/],
  [
    `call memory ${JSON.stringify({ action: 'add', target: 'user', text: `note: ${told.name}.` })}`,
    /memory gave: Stored in USER\.md/,
  ],
  [`say note: ${told.bicycle}.`, /note: the bicycle/],
];

/** Results pile up and become one line each; then words do, and are summarised; then the person asks for it. */
const conversation: readonly Line[] = [
  [`say note: ${told.garage}.`, /4711\./],
  ...Array.from({ length: 7 }, (_, count): Line => [`look again ${count}`, /I have looked\./]),
  [`say note: ${told.train}.`, /7 42\./],
  ...Array.from({ length: 7 }, (): Line => ['long 3000', /word1 [^]*word38[0-9]/]),
  ['/compress the garage', /is told to the model in a summary/],
];

const tour = 'tour the house, EXACTLY so';
const tourAnswer = `The tour is over. You asked: ${tour} + mind the step`;
const recalled = `I know: ${everything.toSorted().join('; ')}`;

/** Long answers by their beginning, estimates as such, and no matter whether an answer is still being put on record. */
function briefly(text: string): string {
  const began = text.replace(/^(word1 word2|Room \d\.) [^]*$/, '$1').replaceAll(/\d,\d00/g, 'N');
  return began.replace('shortened as soon as the step under way is done', 'being shortened');
}

/** What the model was sent last has every fact, each from where it is kept, and what the summary tells only there. */
function assertRecalled(sent: Sent | undefined): void {
  assert.ok(sent !== undefined);
  const { messages } = sent;
  assert.deepEqual(notesIn(messages[0]?.content ?? '').toSorted(), [told.drink, told.name].toSorted());
  const summary = messages[1]?.content ?? '';
  assert.match(summary, /^\[From Talaria: [^]*told shortly[^]*\]\n\n## Goal\n/);
  assert.deepEqual(notesIn(summary).toSorted(), [told.garage, told.train].toSorted());
  const others = messages.slice(2);
  assert.deepEqual([others.at(-1)?.role, others.filter(({ role }) => role === 'tool').length > 0], ['tool', true]);
  assert.ok(notesIn(others.at(-1)?.content ?? '').includes(told.bicycle));
  assert.ok(others.every(({ content }) => !(content ?? '').includes(told.garage)));
}

/**
 * Results in one line came first; the person's wish told its topic; one attempt was cut short and begun again; what nobody
 * had answered stayed word for word; and no prompt began anew without its reason.
 */
async function assertShortened(t: TestContext, home: string, model: AttentiveModel): Promise<void> {
  const problems = model.server.requests().flatMap(({ problem }) => (problem === null ? [] : [problem]));
  assert.deepEqual(problems, []);
  const printed = async <T>(...args: string[]) => {
    const { stdout } = await runTalaria(t, ['sessions', ...args, '--json'], { home });
    const lines = stdout.trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as T);
  };
  const [newest] = await printed<{ name: string }>('list');
  const name = newest?.name ?? '';
  const entries = await printed<Entry>('show', name);
  const calls = await printed<ModelCallRecord>('show', name, '--cache');
  const steps = entries.flatMap((entry) => (entry.kind === 'compression' ? [entry.step] : []));
  assert.deepEqual(
    steps.map((step) => {
      if (step.kind === 'done') return [step.why, step.summary === '' ? 'results' : step.by, step.keeps.length];
      return step.kind === 'asked' ? [step.kind, step.topic] : step.kind;
    }),
    [
      ['threshold', 'results', 0],
      'begun',
      ['threshold', 'model', 0],
      ['asked', 'the garage'],
      'begun',
      ['person', 'model', 0],
      'begun',
      'begun',
      ['threshold', 'model', 1],
    ],
  );
  const reasons = calls.filter(({ purpose }) => purpose === 'answer').map(({ prefixBreak }) => prefixBreak);
  assert.deepEqual(
    reasons.filter((reason) => reason !== null),
    ['first-call', 'compressed', 'compressed', 'compressed', 'compressed'],
  );
  const summarised = model.sentTo('summariser');
  assert.equal(summarised.length, 4);
  assert.match(summarised[1]?.messages[0]?.content ?? '', /must be kept in full: the garage$/);
  assert.deepEqual(summarised[2], summarised[3], 'after the kill it is asked for the same again');
  const onTour = model.sentTo('scripted').filter((sent) => openRequests(sent).includes(tour));
  assert.equal(onTour.length, 10, 'what was asked for stood in every prompt of its turn, word for word');
}

test('on Telegram, facts from before a shortening and from an earlier conversation are still used', async (t) => {
  const platform = await startTelegramServer();
  atEnd(t, () => platform.close());
  const telegram = { token: platform.token, api_root: platform.url, allowed_users: [ann.id] };
  const { model, home } = await stage(t, { channels: { telegram } });
  const said = () =>
    platform.world
      .said(ann.id)
      .flatMap(({ message, byBot, deleted }) => (byBot && !deleted ? [message.text ?? ''] : []));
  const heard = (pattern: RegExp, from: number) =>
    platform.until(
      () =>
        said()
          .slice(from)
          .some((text) => pattern.test(text)),
      String(pattern),
    );
  const says = async ([words, answer]: Line) => {
    const from = said().length;
    platform.people.write({ from: ann, text: words });
    await heard(answer, from);
  };
  const first = await startGateway(t, { home });
  for (const line of remembered) await says(line);
  await says(['/new yes', /A new conversation begins/]);
  for (const line of conversation) await says(line);

  const held = model.leaveWaiting('summariser');
  const before = said().length;
  platform.people.write({ from: ann, text: tour });
  await held;
  await heard(/Shortening the conversation\./, before);
  platform.people.write({ from: ann, text: 'mind the step' });
  await platform.until(() => platform.updates.pending.length === 0, 'it is taken in');
  first.process.kill('SIGKILL');
  await first.process.ended;
  await startGateway(t, { home });
  await heard(/The tour is over/, before);
  await says(['recall everything', /I know/]);

  assertRecalled(model.sentTo('scripted').at(-1));
  await assertShortened(t, home, model);
  // All that a person has in the chat: each answer once, and of the shortening the first time and what was asked for.
  const shown = said()
    .slice(remembered.length + 1)
    .map(briefly);
  assert.deepEqual(shown, [
    `note: ${told.garage}.`,
    ...Array.from({ length: 7 }, () => 'I have looked.'),
    `note: ${told.train}.`,
    ...Array.from({ length: 4 }, () => 'word1 word2'),
    'The conversation grew long. What came before is told to the model in a summary from now on: about N tokens became N. The log keeps every word.',
    ...Array.from({ length: 3 }, () => 'word1 word2'),
    'The conversation is being shortened; you are told what comes of it.',
    'What came before is told to the model in a summary from now on: about N tokens became N. The log keeps every word.',
    tourAnswer,
    recalled,
  ]);
});

const skip = process.platform === 'linux' ? false : 'a terminal is had from "script" of util-linux';

test('at a terminal, facts from before a shortening and from earlier on are still used', { skip }, async (t) => {
  const { model, home } = await stage(t);
  const gateway = await startGateway(t, { home });
  const terminal = openTerminal(t, [], home);
  let seen = await terminal.shows(/leaves\.\n› $/);
  const says = async ([words, answer]: Line) => {
    terminal.type(words);
    seen = await terminal.shows(new RegExp(`(?:${answer.source})[^]*\n› $`), seen);
  };
  for (const line of remembered) await says(line);
  await says(['/new', /a new session begins/]);
  for (const line of conversation) await says(line);
  const held = model.leaveWaiting('summariser');
  terminal.type(tour);
  await held;
  seen = await terminal.shows(/… Shortening the conversation\.$/, seen);
  gateway.process.kill('SIGKILL');
  await gateway.process.ended;
  // It goes on by itself: there is no gateway any more.
  seen = await terminal.shows(/connection broke[^]*connected again[^]*The tour is over[^]*\n› $/, seen);
  await says(['recall everything', /I know/]);
  terminal.type('/quit');
  await terminal.ended;

  assertRecalled(model.sentTo('scripted').at(-1));
  await assertShortened(t, home, model);
  // All that a person has on the screen: each answer once, and each shortening.
  const lines = terminal.screen().trimEnd().split('\n').map(briefly);
  const looked = (count: number) => [`› look again ${count}`, '▸ read_file long.txt … done', 'I have looked.'];
  const long = ['› long 3000', 'word1 word2'];
  const rooms = (numbers: readonly number[]) =>
    numbers.flatMap((number) => [`Room ${number}.`, '▸ read_file short.txt … done']);
  const summarised = 'What came before is told to the model in a summary from now on: about N tokens became N.';
  assert.deepEqual(lines.slice(lines.indexOf('› /new')), [
    '› /new',
    'a new session begins with your next message',
    `› say note: ${told.garage}.`,
    `note: ${told.garage}.`,
    ...[0, 1, 2, 3, 4].flatMap(looked),
    ...looked(5).slice(0, 2),
    '! The conversation grew long. Old results of tools are told to the model in one line each from now on: about N tokens became N. The log keeps every word.',
    'I have looked.',
    ...looked(6),
    `› say note: ${told.train}.`,
    `note: ${told.train}.`,
    ...long,
    ...long,
    ...long,
    ...long,
    '› long 3000',
    `! The conversation grew long. ${summarised} The log keeps every word.`,
    'word1 word2',
    ...long,
    ...long,
    '› /compress the garage',
    'The conversation is being shortened; you are told what comes of it.',
    `${summarised} The log keeps every word.`,
    `› ${tour}`,
    ...rooms([8, 7, 6, 5, 4, 3, 2, 1]),
    '! the connection broke; connecting again',
    '! connected again',
    `! The conversation grew long. ${summarised} What was asked for last stays word for word. The log keeps every word.`,
    ...rooms([0]),
    `The tour is over. You asked: ${tour}`,
    '› recall everything',
    '▸ session_search bicycle … done',
    recalled,
    '› /quit',
  ]);
});
