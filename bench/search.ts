/**
 * How long a search takes over many messages, and what searching and rebuilding cost the writes of turns meanwhile.
 * 100,000 messages by default; `TALARIA_BENCH_MESSAGES=1000000` for the size that counts.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/lib/clock.ts';
import { createIdSource } from '../src/lib/ids.ts';
import { silentLog } from '../src/lib/log.ts';
import { systemRandom } from '../src/lib/random.ts';
import type { Entry } from '../src/protocol/messages.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { SearchScope, Store } from '../src/store/store.ts';
import { median, quantile, withHome, type Row } from './measure.ts';

const messages = Number(process.env['TALARIA_BENCH_MESSAGES'] ?? 100_000);
const messagesOfSession = 1_000;
const minuteMs = 60_000;
const startedAt = Date.UTC(2025, 0, 1);
const owners = 50;
const searchesOfKind = 100;
const limitMs = 20;

const clock = systemClock;
const ids = createIdSource({ clock, random: systemRandom });

export async function benchSearch(): Promise<Row[]> {
  return withHome('', async (home) => {
    const path = join(home, 'state.db');
    const options = { path, clock, log: silentLog, owner: ids.next('nod') } as const;
    const words = new Vocabulary();
    // Without a thread that indexes beside it.
    const filled = await openSqliteStore({ ...options, writer: 'inline' });
    await fill(filled, words);
    await filled.close();
    const store = await openSqliteStore({ ...options, writer: 'thread' });
    try {
      const builtMs = await timed(() => store.rebuildSearch());
      const rows = await searches(store, words);
      const alone = await writes(store, () => false);
      const done = new AbortController();
      const rebuild = store.rebuildSearch().finally(() => done.abort());
      const during = await writes(store, () => !done.signal.aborted);
      const meanwhile: number[] = [];
      while (!done.signal.aborted && meanwhile.length < searchesOfKind) {
        meanwhile.push(await timed(() => store.search(words.any(), 10)));
      }
      await rebuild;
      return [
        ...rows,
        { name: 'a search while the index is rebuilt, p99', value: quantile(meanwhile, 0.99), unit: 'ms' },
        { name: 'a message stored', value: median(alone), unit: 'ms' },
        {
          name: 'the same while the index is rebuilt',
          value: median(during),
          unit: 'ms',
          ratio: median(during) / median(alone),
        },
        { name: 'messages indexed', value: messages / (builtMs / 1_000), unit: '/s' },
        { name: 'size of the index', value: statSync(join(home, 'search.db')).size / 2 ** 20, unit: 'MB' },
        { name: 'size of the messages', value: statSync(path).size / 2 ** 20, unit: 'MB' },
      ];
    } finally {
      await store.close();
    }
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function searches(store: Store, words: Vocabulary): Promise<Row[]> {
  const small = { owner: ownerOf(owners - 1) };
  const now = startedAt + messages * minuteMs;
  const month = { after: now / 2 + startedAt / 2, before: now / 2 + startedAt / 2 + 30 * 24 * 60 * minuteMs };
  const kinds: Readonly<Record<string, () => readonly [query: string, scope?: SearchScope]>> = {
    'a common word': () => [words.common()],
    'a rare word': () => [words.rare()],
    'two words': () => [`${words.any()} ${words.any()}`],
    'three words': () => [`${words.common()} ${words.any()} ${words.any()}`],
    'a part of a word': () => [words.rare().slice(1, -1)],
    'a part of common ones': () => [words.common().slice(0, 3)],
    'a word that is not there': () => [words.madeUp()],
    'one or two letters': () => [words.any().slice(0, 1 + words.below(2))],
    'Chinese, one to four characters': () => [words.chinese(1 + words.below(4))],
    'of one owner with little': () => [words.any(), small],
    'of one owner, a part': () => [words.any().slice(1), small],
    'of a month': () => [words.any(), month],
    'a month without words': () => ['', { ...month, ...small }],
  };
  const all: number[] = [];
  const rows: Row[] = [];
  for (const [name, make] of Object.entries(kinds)) {
    const times: number[] = [];
    for (let search = 0; search < searchesOfKind; search++) {
      const [query, scope] = make();
      times.push(await timed(() => store.search(query, 20, scope)));
    }
    all.push(...times);
    rows.push({ name: `${name}, p99`, value: quantile(times, 0.99), unit: 'ms' });
  }
  return [
    { name: `a search of ${messages.toLocaleString('en')}, p50`, value: median(all), unit: 'ms' },
    { name: 'p99', value: quantile(all, 0.99), unit: 'ms', limit: limitMs },
    ...rows,
  ];
}

/** What an arriving message takes to be stored, a hundred times or for as long as asked. */
async function writes(store: Store, goesOn: () => boolean): Promise<number[]> {
  const id = ids.next('ses');
  const times: number[] = [];
  while (times.length < 100 || (goesOn() && times.length < 1_000)) {
    const inboxId = ids.next('inb');
    times.push(
      await timed(() =>
        store.admit({
          inboxId,
          channel: 'cli',
          externalId: inboxId,
          sender: 'owner',
          message: { role: 'user', parts: [{ kind: 'text', text: 'hello' }] },
          target: '',
          session: { kind: 'by-key', key: `cli:direct:${id}`, id, name: id, owner: 'owner' },
          title: '',
          waitingMax: 10_000,
          joins: false,
          contents: [],
        }),
      ),
    );
  }
  return times;
}

function ownerOf(session: number): string {
  return session % 2 === 0 ? 'owner' : `telegram:${session % owners}`;
}

async function fill(store: Store, words: Vocabulary): Promise<void> {
  for (let session = 0; session * messagesOfSession < messages; session++) {
    const entries = Array.from({ length: messagesOfSession }, (_, index): Entry => {
      const at = startedAt + (session * messagesOfSession + index) * minuteMs;
      const parts = [{ kind: 'text', text: words.message() }] as const;
      const place = { seq: index + 1, at, turnId: null, kind: 'message' } as const;
      return index % 2 === 0
        ? { ...place, inboxId: ids.next('inb'), message: { role: 'user', parts } }
        : { ...place, modelCallId: ids.next('mdl'), message: { role: 'assistant', parts } };
    });
    const id = ids.next('ses');
    const portable = { name: `chat ${session}`, title: '', createdAt: startedAt, entries };
    await store.importSession(id, `cli:direct:${id}`, ownerOf(session), portable);
  }
}

const syllables =
  'ab ac ad al an ar as at be ber ca can car ce ch com con cra de den der di dis do e ed el en ent er es est ex fa fi for ' +
  'ge go gra ha he hi i ic in ing ion is ist it ive la le li lo ly ma man me men mi mo na ne ni no nor o of on or ou out ' +
  'pa pe per pla po pre pro qu ra re ri ro ry sa sal se sh si so sta ste stri su ta te ter th the ti tion to tra tri un up ' +
  'ur us va ve ver vi vo wa we wi wor y';

/** Words as they occur: few of them often, most of them rarely. */
class Vocabulary {
  readonly #words: readonly string[];
  #state = 42;

  constructor() {
    const parts = syllables.split(' ');
    const made = new Set<string>();
    while (made.size < 50_000) {
      const count = made.size < 300 ? 1 + this.below(2) : 2 + this.below(4);
      made.add(Array.from({ length: count }, () => parts[this.below(parts.length)]).join(''));
    }
    this.#words = [...made];
  }

  below(limit: number): number {
    // A small generator of its own: the same texts in every run.
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  any(): string {
    return this.#at(Math.floor(this.#words.length ** (this.below(1e6) / 1e6)) - 1);
  }

  common(): string {
    return this.#at(this.below(50));
  }

  rare(): string {
    return this.#at(20_000 + this.below(30_000));
  }

  madeUp(): string {
    return this.common() + this.common() + this.rare().slice(0, 3);
  }

  chinese(length: number): string {
    return Array.from({ length }, () =>
      String.fromCodePoint(0x4e00 + Math.floor(3_000 ** (this.below(1e6) / 1e6)) - 1),
    ).join('');
  }

  message(): string {
    if (this.below(10) === 0) return this.chinese(20 + this.below(60));
    return Array.from({ length: 5 + this.below(50) }, () => this.any()).join(' ');
  }

  #at(index: number): string {
    return this.#words[Math.max(0, index)] ?? '';
  }
}
