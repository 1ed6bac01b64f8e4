/** `/sessions`, `/resume`, `/fork` and `/title`: one's own conversations, and moving between them. */
import { isId } from '../../lib/ids.ts';
import { copyText } from '../../protocol/copy-text.ts';
import { sessionNameProblem } from '../../protocol/ids.ts';
import type { Entry } from '../../protocol/messages.ts';
import type { PortableSession, SessionRecord, StoreReader } from '../../store/store.ts';
import { maySee } from '../identity.ts';
import { listConversations } from '../list-conversations.ts';
import { machineOwner } from '../route-session.ts';
import { withoutWishes } from '../without-wishes.ts';
import { moved, noSession, say, type Command, type CommandCall } from './command.ts';
import { writeAnytime, type CommandServices } from './services.ts';

const sessionsShown = 15;
const titleShownCharsMax = 60;
const titleCharsMax = 200;
const entriesPerRead = 500;

export const sessionsCommand: Command = {
  name: 'sessions',
  usage: '',
  summary: 'list your latest conversations',
  role: 'user',
  repetition: 'reads',
  async run({ identity, session: current }, { store }) {
    const { role, isAmongOthers, owner, key } = identity;
    const all = role === 'owner' && !isAmongOthers;
    const page = { limit: sessionsShown, ...(all ? {} : { owner }) };
    // Where others read along, only what was said there is listed.
    const listed = (await listConversations(store.read, page)).filter(
      (session) => !isAmongOthers || session.key === key,
    );
    if (listed.length === 0) return say('None yet; one begins with your first message.');
    const lines = listed.map((session) => {
      const here = session.id === current?.id ? ' (here)' : session.turn === 'open' ? ' (at work)' : '';
      return `- ${session.name}${here}: ${shown(session.title)}`;
    });
    return say([...lines, '', '/resume NAME goes on with one.'].join('\n'));
  },
};

export const resumeCommand: Command = {
  name: 'resume',
  usage: 'NAME',
  summary: 'go on with another conversation',
  role: 'user',
  repetition: 'idempotent',
  async run({ identity, argument, session: current, choosesSession }, { store }) {
    if (argument === '') return say('Which one? /sessions lists them.');
    const found = isId('ses', argument) ? await store.read.session(argument) : await store.read.sessionByName(argument);
    if (found === null || !maySee(identity, found))
      return say(`You have no conversation named ${argument}; /sessions lists them.`);
    // To take it here would be to take it from those whose it is, and what is said here would be theirs to read.
    if (!choosesSession && found.owner !== identity.owner && found.owner !== machineOwner) {
      return say(`${found.name} is somebody else's. To read it: talaria sessions show ${found.name}`);
    }
    if (found.id !== current?.id && !choosesSession) await store.reopenSession(found.id, identity.key);
    return moved(`You are in ${found.name} now: ${shown(found.title)} (${found.messages} messages).`, found);
  },
};

/** The copy is found again by its name, and by the key it has until it is taken into use. */
export const forkCommand: Command = {
  name: 'fork',
  usage: '[NAME]',
  summary: 'go on in a copy of this conversation',
  role: 'user',
  repetition: 'remembers',
  async run(call, services) {
    const { session, identity, argument } = call;
    if (session === null) return noSession;
    const { store } = services;
    const name = argument === '' ? `fork-${markOf(call)}` : argument;
    const problem = sessionNameProblem(name);
    if (problem !== null) return say(`That name can't be used: ${problem}.`);
    const key = `${identity.channel}:fork:${markOf(call)}`;
    const there = await store.read.sessionByName(name);
    if (there !== null && there.key !== key && there.id !== session.id) {
      return say(`There is a conversation named ${name} already; choose another name.`);
    }
    const copy = there ?? (await copyOf(services, session, name, key));
    if (copy.id !== session.id) {
      await store.changeSettings(copy.id, session.settings);
      if (!call.choosesSession) await store.reopenSession(copy.id, identity.key);
    }
    const text = `You are in ${copy.name} now, a copy. /resume ${session.name} goes back to the one before.`;
    return moved(text, copy);
  },
};

/** The same for every repetition of the same command, and for no other. */
function markOf({ identity, externalId }: CommandCall): string {
  const { hash } = process.getBuiltinModule('node:crypto');
  return hash('sha256', JSON.stringify([identity.channel, externalId]), 'hex').slice(0, 8);
}

async function copyOf(
  { store, ids, clock }: CommandServices,
  session: SessionRecord,
  name: string,
  key: string,
): Promise<SessionRecord> {
  const entries = await finishedEntries(store.read, session);
  const seq = (entries.at(-1)?.seq ?? 0) + 1;
  const origin: Entry = { kind: 'notice', text: copyText(session.name), seq, at: clock.now(), turnId: null };
  const portable: PortableSession = {
    name,
    title: session.title,
    createdAt: session.createdAt,
    entries: [...entries, origin],
  };
  return store.importSession(ids.next('ses'), key, session.owner, portable);
}

/** What is under way stays where it is. */
async function finishedEntries(read: StoreReader, session: SessionRecord): Promise<Entry[]> {
  const openTurn = (await read.journal(session.id, session.lastSeq))?.openTurn ?? null;
  const entries: Entry[] = [];
  for (let after = 0; ;) {
    const page = await read.entries(session.id, { after, limit: entriesPerRead });
    entries.push(...page.filter((entry) => openTurn === null || entry.turnId !== openTurn.id));
    if (page.length < entriesPerRead) return withoutWishes(entries);
    after = page.at(-1)?.seq ?? after;
  }
}

export const titleCommand: Command = {
  name: 'title',
  usage: '[TEXT]',
  summary: 'show or change what this conversation is called',
  role: 'user',
  repetition: 'idempotent',
  async run({ session, argument }, services) {
    if (session === null) return noSession;
    if (argument === '') return say(`${session.name}: ${shown(session.title)}`);
    const title = argument.replaceAll(/\s+/g, ' ').slice(0, titleCharsMax).toWellFormed();
    const isChanged = await writeAnytime(services, session.id, [{ verb: 'set-title', title, by: 'person' }]);
    return say(isChanged ? `It is called "${title}" now.` : 'Another process is at work in it; send /title again.');
  },
};

function shown(title: string): string {
  const line = title === '' ? '(no title)' : title;
  return line.length <= titleShownCharsMax ? line : `${line.slice(0, titleShownCharsMax).toWellFormed()}…`;
}
