/** Gathers what can be known of a world from outside: from the API, the followers, the platform and the ledger. */
import type { Entry } from '../../src/protocol/messages.ts';
import type { ApiClient } from './api-client.ts';
import type { Chat } from './chat.ts';
import type { Evidence } from './judge.ts';
import type { ChatView } from './judge-platform.ts';
import type { ModelReport } from './scripted-model.ts';
import type { Surroundings } from './surroundings.ts';

interface Gathered {
  readonly evidence: Pick<Evidence, 'transcripts' | 'shown' | 'ledger' | 'chats' | 'model' | 'prefixBreaks'>;
  readonly problems: readonly string[];
}

/** Where the one inside the program answers. */
export const noModel: ModelReport = { requests: 0, faults: 0, rejected: [] };

export async function gather(
  { api, surroundings, home }: { readonly api: ApiClient; readonly surroundings: Surroundings; readonly home: string },
  chats: readonly Chat[],
): Promise<Gathered> {
  const transcripts = new Map<string, readonly Entry[]>();
  const shown = new Map<string, readonly Entry[]>();
  const views: ChatView[] = [];
  const report = (await surroundings.platform?.report()) ?? { posts: [], problems: [] };
  const problems = [...report.problems];
  for (const chat of chats) {
    await chat.end();
    const { session, kind, name } = chat;
    // Nobody got as far as saying something there.
    if (session === null) continue;
    problems.push(...chat.follower.problems);
    if (chat.isRemoved) continue;
    transcripts.set(session, await api.transcript(session));
    shown.set(session, chat.follower.shown);
    if (kind === 'api') continue;
    views.push({ session, kind, posts: report.posts.filter((post) => post.chat === name) });
  }
  const ledger = await surroundings.ledger.read(home);
  const model = (await surroundings.model?.report()) ?? noModel;
  const prefixBreaks = (await api.status()).prefix_breaks;
  return { evidence: { transcripts, shown, ledger, chats: views, model, prefixBreaks }, problems };
}
