/** Gathers what can be known of a world from outside: from the API, the followers, the platform and the ledger. */
import type { Entry } from '../../src/protocol/messages.ts';
import type { ApiClient } from './api-client.ts';
import type { Chat } from './chat.ts';
import type { Evidence } from './judge.ts';
import type { ChatView } from './judge-platform.ts';
import type { GatewaySlot } from './gateway-slot.ts';
import type { TelegramView } from './judge-telegram.ts';
import type { ModelReport } from './scripted-model.ts';
import type { Surroundings } from './surroundings.ts';
import { TelegramChat } from './telegram-chat.ts';

interface Gathered {
  readonly evidence: Pick<
    Evidence,
    'transcripts' | 'shown' | 'ledger' | 'chats' | 'telegram' | 'model' | 'prefixBreaks'
  >;
  readonly problems: readonly string[];
}

export interface Gatherable {
  readonly api: ApiClient;
  readonly surroundings: Surroundings;
  readonly home: string;
  readonly gateway: Pick<GatewaySlot, 'deaths'>;
}

/** Where the one inside the program answers. */
export const noModel: ModelReport = { requests: 0, faults: 0, rejected: [] };

export async function gather(
  { api, surroundings, home, gateway }: Gatherable,
  chats: readonly (Chat | TelegramChat)[],
): Promise<Gathered> {
  const transcripts = new Map<string, readonly Entry[]>();
  const shown = new Map<string, readonly Entry[]>();
  const views: ChatView[] = [];
  const report = (await surroundings.platform?.report()) ?? { posts: [], problems: [] };
  const problems = [...report.problems];
  for (const chat of chats) {
    await chat.end();
    if (chat.kind === 'telegram') {
      for (const follower of chat.followers) {
        problems.push(...follower.problems);
        if (chat.isRemoved) continue;
        transcripts.set(follower.session, await api.transcript(follower.session));
        shown.set(follower.session, follower.shown);
      }
      continue;
    }
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
  const { telegram, problems: onTelegram } = await gatherTelegram(surroundings, gateway.deaths, chats);
  problems.push(...onTelegram);
  const ledger = await surroundings.ledger.read(home);
  const model = (await surroundings.model?.report()) ?? noModel;
  const prefixBreaks = (await api.status()).prefix_breaks;
  return { evidence: { transcripts, shown, ledger, chats: views, telegram, model, prefixBreaks }, problems };
}

/** By chat, whoever writes there; where a session was removed on purpose nobody knows what should stand. */
async function gatherTelegram(
  { telegram }: Surroundings,
  deaths: readonly number[],
  all: readonly (Chat | TelegramChat)[],
): Promise<{ readonly telegram: readonly TelegramView[]; readonly problems: readonly string[] }> {
  if (telegram === null) return { telegram: [], problems: [] };
  const { posts, problems } = await telegram.report();
  const chats = all.filter((chat) => chat instanceof TelegramChat);
  const removed = new Set(chats.filter(({ isRemoved }) => isRemoved).map(({ place }) => place.chat));
  const places = new Set(chats.map(({ place }) => place.chat).filter((chat) => !removed.has(chat)));
  const views = [...places].map((chat): TelegramView => {
    const here = chats.filter(({ place }) => place.chat === chat);
    return {
      chat,
      sessions: here.flatMap(({ followers }) => followers.map(({ session }) => session)),
      commands: here.flatMap(({ commands }) => commands),
      posts: posts.filter((post) => post.chat === chat),
      deaths,
    };
  });
  return { telegram: views, problems };
}
