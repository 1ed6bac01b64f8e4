/**
 * What a session is called. It begins with its first words; if those only say hello, the first ones that say more take
 * their place. After an answer the model that was chosen for it names it. That is a side job: it may fail, and then the
 * session keeps its words; it is tried again only if it was cut short because somebody wrote or the program left.
 */
import { present } from '../lib/assert.ts';
import type { InboxId } from '../protocol/ids.ts';
import { textOf } from '../protocol/messages.ts';
import { saysLittle, titleFrom } from '../protocol/title-words.ts';
import type { SessionWrite } from '../store/store.ts';
import type { Journal } from './journal.ts';
import { messagesInForce } from './rewind.ts';
import { sideCall } from './side-call.ts';
import type { TurnDeps } from './turn-deps.ts';

const excerptCharsMax = 2_000;
const titleCharsMax = 80;

export async function nameSession(deps: TurnDeps, journal: Journal, signal: AbortSignal): Promise<void> {
  const named = (title: string): SessionWrite => ({ verb: 'set-title', title, by: 'model' });
  const answer = await sideCall(
    deps,
    {
      purpose: 'title',
      runtime: present(deps.agent.titler, 'a model that names sessions'),
      turnId: null,
      instructions:
        'Name the conversation that follows in three to seven words, in its own language. Answer with the name alone.',
      text: excerptOf(journal),
      // Recorded as named before it is: should this take the process down, it is not tried again.
      before: [named(journal.session.title)],
      after(answer) {
        const title = tidied(answer);
        return title === '' ? [] : [named(title)];
      },
    },
    signal,
  );
  if (answer === null && signal.aborted)
    await deps.commit([{ verb: 'set-title', title: journal.session.title, by: 'words' }]);
}

/** From messages that open a turn; null if the title says enough, or they say no more. */
export function betterTitle({ session, waiting }: Journal, promoted: readonly InboxId[]): string | null {
  if (session.titledBy !== 'words' || !saysLittle(session.title)) return null;
  const titles = waiting.filter(({ id }) => promoted.includes(id)).map(({ message }) => titleFrom(textOf(message)));
  return titles.find((title) => !saysLittle(title)) ?? null;
}

function excerptOf(journal: Journal): string {
  const spoken = messagesInForce(journal.entries).flatMap(({ message }) =>
    message.role === 'tool' ? [] : [`${message.role}: ${textOf(message)}`],
  );
  return spoken.join('\n').slice(0, excerptCharsMax).toWellFormed();
}

/** One line without quotes around it. */
function tidied(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line
    .replace(/^["'“«*#\s]+|["'”»*.\s]+$/g, '')
    .slice(0, titleCharsMax)
    .toWellFormed();
}
