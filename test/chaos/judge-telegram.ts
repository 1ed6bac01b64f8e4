/**
 * Judges what stands in a chat of Telegram in the end against what the transcripts say people were told: every answer
 * there, whole and in its order, every command answered, nothing twice unless it says so, and no draft left.
 *
 * A draft is orphaned when its id is lost: the platform's answer broke off, or the process died between sending it and
 * noting its id. Nobody can know of it then. Such a one was never changed; it is counted apart.
 */
import { toTelegramHtml } from '../../src/channels/telegram/telegram-html.ts';
import { partsOf, repetitionMark } from '../../src/gateway/delivery/deliver.ts';
import { textOf, type Entry } from '../../src/protocol/messages.ts';
import { repliesIn, type PlatformColumn } from './judge-platform.ts';
import type { TelegramPost } from './scripted-telegram.ts';
import { commandAnswers, shorteningWords, type TelegramCommand } from './telegram-chat.ts';

/** As the channel says of itself. */
const limits = { textCharsMax: 3_900, dedupes: false };
/** A draft is noted long before. */
const orphanedWithinMs = 500;

export interface TelegramView {
  readonly chat: number;
  /** Of everybody who writes there. */
  readonly sessions: readonly string[];
  readonly commands: readonly TelegramCommand[];
  /** In the order in which they stand there. */
  readonly posts: readonly TelegramPost[];
  /** When processes died. */
  readonly deaths: readonly number[];
}

export interface TelegramFinding {
  readonly column: PlatformColumn | 'draftsLeft';
  readonly what: string;
}

export interface TelegramFindings {
  readonly findings: readonly TelegramFinding[];
  readonly markedCopies: number;
  readonly orphanedDrafts: number;
  readonly commandsAnswered: number;
}

interface Expected {
  readonly plain: string;
  readonly marked: string;
  /** Of the session that says it. */
  readonly session: string;
  toldBy: TelegramPost | null;
}

export function judgeTelegram(
  view: TelegramView,
  transcripts: ReadonlyMap<string, readonly Entry[]>,
): TelegramFindings {
  const findings: TelegramFinding[] = [];
  const complain = (column: TelegramFinding['column'], what: string) =>
    findings.push({ column, what: `${what} in ${view.chat}` });
  const queues = view.sessions.map((session) => expectedOf(session, transcripts.get(session) ?? []));
  const commands = view.commands.map((command) => ({ command, answer: null as string | null }));
  const counts = { markedCopies: 0, orphanedDrafts: 0 };
  const markedAnswers: string[] = [];
  // A wish that is repeated after a death may be done, and told, once more.
  const wishes = view.commands.filter((command) => command === '/compress').length;
  let shortenings = wishes === 0 ? 0 : wishes + view.deaths.length;
  const orphan = () => (counts.orphanedDrafts += 1);
  for (const post of view.posts) {
    const { text } = post;
    const bare = text.startsWith(repetitionMark) ? text.slice(repetitionMark.length) : text;
    const isMarked = bare !== text;
    const says = (expected: Expected) => expected.plain === text || expected.marked === text;
    const next = queues
      .map((queue) => queue.find(({ toldBy }) => toldBy === null))
      .find((one) => one !== undefined && says(one));
    const asked = commands.find(({ command, answer }) => answer === null && commandAnswers[command].test(bare));
    const all = queues.flat();
    const told = all.find((one) => one.toldBy !== null && says(one));
    const later = all.find((one) => one.toldBy === null && says(one));
    if (next !== undefined) next.toldBy = post;
    else if (isNeverChangedDraft(post) && isOrphaned(post, view.deaths)) orphan();
    else if (shorteningWords.test(bare) && shortenings > 0) shortenings -= 1;
    else if (asked !== undefined && !isMarked) asked.answer = bare;
    else if (asked !== undefined) markedAnswers.push(bare);
    else if (told?.toldBy && isNeverChangedDraft(told.toldBy) && isOrphaned(told.toldBy, view.deaths)) {
      // It showed the whole answer, and the answer came all the same: nobody knew of it.
      told.toldBy = post;
      orphan();
    } else if (told !== undefined || commands.some(({ answer }) => answer === bare)) {
      if (isMarked) counts.markedCopies += 1;
      else complain('doubled', quoted(post));
    } else if (later !== undefined) {
      later.toldBy = post;
      complain('outOfOrder', quoted(post));
    } else if (!post.isMarkedUp) complain('draftsLeft', quoted(post));
    else complain('doubled', `${quoted(post)} answers nothing`);
  }
  // Answers to commands look alike: the marked ones count as first ones only where none is.
  for (const marked of markedAnswers) {
    const asked = commands.find(({ command, answer }) => answer === null && commandAnswers[command].test(marked));
    if (asked === undefined) counts.markedCopies += 1;
    else asked.answer = marked;
  }
  for (const { toldBy, plain, session } of queues.flat())
    if (toldBy === null) complain('lost', `${JSON.stringify(plain.slice(0, 60))} of ${session} does not stand there`);
  for (const { command, answer } of commands) if (answer === null) complain('lost', `${command} has no answer`);
  for (const words of saidTwice(view.sessions.map((session) => transcripts.get(session) ?? [])))
    complain('doubled', `${JSON.stringify(words.slice(0, 60))} was taken twice`);
  const commandsAnswered = commands.filter(({ answer }) => answer !== null).length;
  return { findings, ...counts, commandsAnswered };
}

function expectedOf(session: string, entries: readonly Entry[]): Expected[] {
  return repliesIn(entries).flatMap((reply) =>
    partsOf({ text: reply, file: null }, limits).map((part) => ({
      plain: shownAs(part),
      marked: shownAs(repetitionMark + part),
      session,
      toldBy: null,
    })),
  );
}

function shownAs(markdown: string): string {
  return toTelegramHtml(markdown).visible.trim();
}

/** An answer comes with markup, or changes a draft, unless the draft says the same already. */
function isNeverChangedDraft({ isEdited, isMarkedUp }: TelegramPost): boolean {
  return !isEdited && !isMarkedUp;
}

function isOrphaned({ at, isUnheard }: TelegramPost, deaths: readonly number[]): boolean {
  return isUnheard || deaths.some((death) => death >= at && death - at < orphanedWithinMs);
}

/** Nobody here says the same words twice. */
function saidTwice(transcripts: readonly (readonly Entry[])[]): string[] {
  const said = transcripts.flat().flatMap((entry) => {
    const isSaid = entry.kind === 'message' && entry.message.role === 'user' && 'inboxId' in entry;
    return isSaid && entry.inboxId !== null ? [textOf(entry.message)] : [];
  });
  return said.filter((words, index) => said.indexOf(words) !== index);
}

function quoted({ id, text }: TelegramPost): string {
  return `${id}, ${JSON.stringify(text.slice(0, 60))}`;
}
