/** `/status`, `/usage`, `/tools` and `/memory`: looking, and changing nothing. */
import { headOf } from '../../agent/journal.ts';
import { localDay } from '../../lib/local-day.ts';
import type { SessionRecord } from '../../store/store.ts';
import type { Identity } from '../identity.ts';
import { noSession, say, type Command } from './command.ts';
import { isOpenQuestion } from './question-commands.ts';
import type { CommandServices } from './services.ts';
import { countText, totalOfCalls, totalOfSums, usdText, type UsageTotal } from '../../protocol/usage-text.ts';

const memoryCharsMax = 6_500;
const descriptionCharsMax = 100;

export const statusCommand: Command = {
  name: 'status',
  usage: '',
  summary: 'show the conversation, the model and what is going on',
  role: 'user',
  repetition: 'reads',
  async run({ session, identity }, services) {
    const lines = session === null ? ['There is no conversation here yet.'] : await sessionLines(services, session);
    const others = identity.role === 'owner' && !identity.isAmongOthers ? await gatewayLines(services) : [];
    return say([...lines, `You are known as ${identity.role}.`, ...others].join('\n'));
  },
};

async function sessionLines({ store, clock, quote }: CommandServices, session: SessionRecord): Promise<string[]> {
  const journal = await store.read.journal(session.id, session.lastSeq);
  const { model, settings } = await quote(session, session.settings);
  const waiting = journal?.waiting.length ?? 0;
  const asks = journal?.unsettledCalls.some((call) => isOpenQuestion(call, clock.now())) ?? false;
  return [
    `Conversation: ${session.name} (${session.messages} messages)${session.title === '' ? '' : `: ${session.title}`}`,
    `Model: ${model}${settings.effort === null ? '' : `, reasoning ${settings.effort}`}`,
    `Now: ${asks ? 'waits for your answer' : turnWords[session.turn]}`,
    ...(waiting === 0 ? [] : [`Waiting messages: ${waiting}`]),
  ];
}

const turnWords: Readonly<Record<SessionRecord['turn'], string>> = {
  none: 'nothing is running',
  open: 'at work',
  parked: 'a turn is parked; /retry tries it again',
};

async function gatewayLines({ status }: CommandServices): Promise<string[]> {
  const { version, turns, sessions, usage } = await status();
  return [
    `Talaria ${version}: ${turns.running} turns running, ${sessions} conversations, ${usdText(usage.today_usd)} today.`,
  ];
}

export const usageCommand: Command = {
  name: 'usage',
  usage: '',
  summary: 'show what the last turn, this conversation and today took',
  role: 'user',
  repetition: 'reads',
  async run({ session, identity }, { store, clock }) {
    const calls = session === null ? [] : await store.read.modelCalls(session.id);
    const newest = calls.findLast(({ turnId }) => turnId !== null)?.turnId;
    const today = localDay(clock.now());
    const sums = (await store.read.usageSums(today)).filter((sum) => sum.day === today && isTheirs(identity, sum));
    return say(
      [
        `Last turn: ${usageLine(totalOfCalls(calls.filter(({ turnId }) => turnId === newest && newest !== undefined)))}`,
        `Conversation: ${usageLine(totalOfCalls(calls))}`,
        `Today: ${usageLine(totalOfSums(sums))}`,
      ].join('\n'),
    );
  },
};

/** What others used is nobody's business but the owner's, and not where others read along. */
function isTheirs(identity: Identity, { channel, user }: { channel: string; user: string }): boolean {
  if (identity.role === 'owner' && !identity.isAmongOthers) return true;
  return channel === identity.channel && user === identity.userId;
}

export const toolsCommand: Command = {
  name: 'tools',
  usage: '',
  summary: 'list the tools of this conversation',
  role: 'user',
  repetition: 'reads',
  async run({ session }, { store }) {
    const journal = session === null ? null : await store.read.journal(session.id, 0);
    const head = journal === null ? null : headOf(journal);
    if (head === null) return noSession;
    if (head.tools.length === 0) return say('This conversation has no tools.');
    return say(head.tools.map(({ name, description }) => `- ${name}: ${firstSentence(description)}`).join('\n'));
  },
};

function firstSentence(text: string): string {
  const [sentence = ''] = text.split(/(?<=\.)\s|\n/, 1);
  return sentence.length <= descriptionCharsMax
    ? sentence
    : `${sentence.slice(0, descriptionCharsMax).toWellFormed()}…`;
}

export const memoryCommand: Command = {
  name: 'memory',
  usage: '',
  summary: 'show what it remembers',
  role: 'owner',
  repetition: 'reads',
  async run({ identity }, { memory }) {
    if (identity.isAmongOthers) return say('That is shown in a direct chat only: others read along here.');
    const text = (await memory(identity)).trim();
    if (text === '') return say('It remembers nothing yet.');
    return say(text.length <= memoryCharsMax ? text : `${text.slice(0, memoryCharsMax).toWellFormed()}…`);
  },
};

/** `3 calls, 1,234 tokens in (1,000 cached), 56 out, $0.0042`. */
function usageLine(total: UsageTotal): string {
  const { calls, inputTokens, cachedTokens, outputTokens, usd, unpricedCalls } = total;
  const cached = cachedTokens === 0 ? '' : ` (${countText(cachedTokens)} cached)`;
  const tokens = `${countText(inputTokens)} tokens in${cached}, ${countText(outputTokens)} out`;
  const known = unpricedCalls > 0 && usd === 0 ? 'cost unknown' : usdText(usd);
  const unknown = unpricedCalls > 0 && usd > 0 ? `, and ${unpricedCalls} of unknown cost` : '';
  return `${calls} ${calls === 1 ? 'call' : 'calls'}, ${tokens}, ${known}${unknown}`;
}
