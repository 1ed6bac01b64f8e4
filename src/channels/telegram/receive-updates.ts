/**
 * Takes a batch of updates to the gateway and says how far it got: an update counts only once `receive` has resolved, so
 * that whoever confirms by this never confirms what is not stored. In order within a chat, over batches under way at the
 * same time too; chats side by side, so that one that sends large files does not hold up the others.
 */
import type { Update } from 'grammy/types';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ChannelPort, InboundMessage, PressAnswer, Receipt } from '../channel.ts';
import { atMost } from './at-most.ts';
import type { WantedFile } from './describe-content.ts';
import { readUpdate, type ReadOptions, type ReadUpdate } from './read-update.ts';
import { withContents } from './with-contents.ts';

/** Of those with files, and of the others besides. */
const stepsAtOnce = 4;
/** Pictures of one album that are taken together hold at most so many bytes. */
const albumBytesMax = 40_000_000;
const albumMax = 10;
const albumsRemembered = 200;
/** Between two refusals that are told to the same chat. */
const refusalEveryMs = 60_000;
const refusedChatsRemembered = 1_000;
const chatsInTroubleRemembered = 1_000;
const notStored = 'Your message can not be stored right now. I keep trying; there is no need to send it again.';

export interface ReceiverDeps {
  readonly port: ChannelPort;
  readonly read: ReadOptions;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the next picture of an album is waited for. */
  readonly albumWaitMs: number;
  /** Null if it can't be had; throws when it was stopped. */
  readonly fetchFile: (file: WantedFile, signal: AbortSignal) => Promise<Uint8Array | null>;
  /** These two never throw. */
  readonly tell: (target: string, text: string) => Promise<void>;
  readonly settlePress: (press: Extract<ReadUpdate, { kind: 'press' }>, answer: PressAnswer) => Promise<void>;
}

export interface Taken {
  /** Every update of the batch below this is stored, refused or of no interest. */
  readonly confirmedBelow: number;
  /** False if some are left: they must come again. */
  readonly complete: boolean;
}

export interface Receiver {
  /** Never throws. Once the signal aborts, what is under way ends and nothing more is begun. */
  take(updates: readonly Update[], signal: AbortSignal): Promise<Taken>;
}

type Item = { readonly id: number; readonly read: ReadUpdate };
/** `end` says whether it was taken. */
type Waiting = Item & { readonly end: (isTaken: boolean) => void };
type MessageItem = { readonly id: number; readonly read: Extract<ReadUpdate, { kind: 'message' }> };

export function createReceiver(deps: ReceiverDeps): Receiver {
  const addressedAlbums = new Set<string>();
  const refusalsTold = new Map<string, number>();
  /** What is under way or waits in a chat, in order. */
  const lanes = new Map<string, Waiting[]>();
  /** The update that a chat got stuck at: those after it come again with it. */
  const stuckAt = new Map<string, number>();
  /** The update whose trouble a chat was told of last. */
  const troubleTold = new Map<string, number>();
  const withFiles = atMost(stepsAtOnce);
  const withoutFiles = atMost(stepsAtOnce);

  /** Ends when there is nothing left to do in the chat, or nothing can be done. */
  async function work(chat: string, lane: Waiting[], signal: AbortSignal): Promise<void> {
    while (lane.length > 0) {
      await gathered(lane, signal);
      const step = nextStep(lane);
      const first = step[0]?.id ?? 0;
      if (signal.aborted || first > (stuckAt.get(chat) ?? Infinity)) break;
      if (!(await isTaken(step, signal))) {
        stuckAt.set(chat, first);
        break;
      }
      stuckAt.delete(chat);
      lane.splice(0, step.length);
      for (const { end } of step) end(true);
    }
    lanes.delete(chat);
    for (const { end } of lane) end(false);
  }

  /** The pictures of an album come one by one: as long as nothing else waits, the next one is waited for. */
  async function gathered(lane: readonly Waiting[], signal: AbortSignal): Promise<void> {
    const { clock, albumWaitMs } = deps;
    for (let known = 0; known < lane.length && isAllAlbum(lane) && !signal.aborted;) {
      known = lane.length;
      await sleep(clock, albumWaitMs, signal).catch(() => {});
    }
  }

  async function isTaken(step: readonly Item[], signal: AbortSignal): Promise<boolean> {
    const hasFiles = step.some((item) => isMessage(item) && item.read.files.length > 0);
    const take = async () => !signal.aborted && (await takeStep(step, signal));
    try {
      return await (hasFiles ? withFiles : withoutFiles)(take);
    } catch (error) {
      if (signal.aborted) return false;
      deps.log.error('a Telegram update could not be stored; it will be tried again', { error });
      const [first] = step;
      if (first !== undefined && isMessage(first)) void tellTrouble(first);
      return false;
    }
  }

  /** Once, however often it is tried, and only to those who are listened to. */
  async function tellTrouble({ id, read: { inbound } }: MessageItem): Promise<void> {
    const { chat, target = chat } = inbound.place;
    if (inbound.isAddressed === false || troubleTold.get(chat) === id) return;
    troubleTold.delete(chat);
    troubleTold.set(chat, id);
    if (troubleTold.size > chatsInTroubleRemembered) troubleTold.delete(troubleTold.keys().next().value ?? '');
    const isHeard = await deps.port.mayFetch(inbound).catch(() => false);
    if (isHeard) await deps.tell(target, notStored);
  }

  /** Behind whatever is under way in its chat. */
  function join(chat: string, item: Waiting, signal: AbortSignal): void {
    const lane = lanes.get(chat);
    if (lane !== undefined) {
      lane.push(item);
      return;
    }
    const begun = [item];
    lanes.set(chat, begun);
    // What else this batch has for the chat is there before it begins.
    void Promise.resolve().then(() => work(chat, begun, signal));
  }

  /** False if the gateway does not take it now. */
  async function takeStep(step: readonly Item[], signal: AbortSignal): Promise<boolean> {
    const [first] = step;
    if (first?.read.kind === 'press') {
      await deps.settlePress(first.read, await deps.port.press(first.read.press));
      return true;
    }
    const messages = addressed(step.filter(isMessage));
    const whole = await Promise.all(messages.map((item) => fetched(item, signal)));
    // Handed over in one breath: the pictures of an album are stored together, and one turn answers them.
    const receipts = await Promise.all(whole.map((inbound) => deps.port.receive(inbound)));
    const taken = receipts.map((receipt, index) => settled(receipt, whole[index]));
    return taken.every(Boolean);
  }

  /** The words of an album stand under one of its pictures only; the others mean the same one. */
  function addressed(items: readonly MessageItem[]): readonly MessageItem[] {
    const keyOf = ({ read: { inbound, album } }: MessageItem) => `${inbound.place.chat}:${album}`;
    const ofAlbums = items.filter(
      ({ read: { inbound, album } }) => album !== null && inbound.isAddressed !== undefined,
    );
    for (const item of ofAlbums) if (item.read.inbound.isAddressed === true) remember(addressedAlbums, keyOf(item));
    return items.map((item) => {
      if (!ofAlbums.includes(item) || !addressedAlbums.has(keyOf(item))) return item;
      return { ...item, read: { ...item.read, inbound: { ...item.read.inbound, isAddressed: true } } };
    });
  }

  async function fetched({ read: { inbound, files } }: MessageItem, signal: AbortSignal): Promise<InboundMessage> {
    const isWanted = files.length > 0 && (await deps.port.mayFetch(inbound));
    return withContents(
      inbound,
      await Promise.all(
        files.map(async (file) => ({ file, bytes: isWanted ? await deps.fetchFile(file, signal) : null })),
      ),
    );
  }

  function settled(receipt: Receipt, inbound: InboundMessage | undefined): boolean {
    if (receipt.kind !== 'refused') return true;
    if (receipt.reason === 'draining') return false;
    if (inbound !== undefined && isTold(receipt, inbound)) {
      void deps.tell(inbound.place.target ?? inbound.place.chat, receipt.text);
    }
    return true;
  }

  /** Not to a group that merely talks, and not on and on to one who goes on. */
  function isTold({ reason }: Extract<Receipt, { kind: 'refused' }>, { place, isAddressed }: InboundMessage): boolean {
    if (isAddressed === false || reason === 'empty' || (reason === 'not-allowed' && place.kind !== 'direct'))
      return false;
    const now = deps.clock.now();
    const last = refusalsTold.get(place.chat);
    if (last !== undefined && now - last < refusalEveryMs) return false;
    refusalsTold.delete(place.chat);
    refusalsTold.set(place.chat, now);
    if (refusalsTold.size > refusedChatsRemembered) refusalsTold.delete(refusalsTold.keys().next().value ?? '');
    return true;
  }

  return {
    async take(updates, signal) {
      const items = readAll(deps, updates);
      const open = new Set(items.filter(({ read }) => read.kind !== 'ignored').map(({ id }) => id));
      // With nothing under way, whatever a chat was stuck at has come again, or will not.
      if (lanes.size === 0) stuckAt.clear();
      const ends = items.flatMap(({ id, read }) => {
        if (read.kind === 'ignored') return [];
        const { promise, resolve } = Promise.withResolvers<void>();
        const end = (isTaken: boolean) => {
          if (isTaken) open.delete(id);
          resolve();
        };
        join(read.kind === 'press' ? read.chat : read.inbound.place.chat, { id, read, end }, signal);
        return [promise];
      });
      await Promise.all(ends);
      const all = items.map(({ id }) => id);
      const confirmedBelow = open.size === 0 ? Math.max(0, ...all) + 1 : Math.min(...open);
      return { confirmedBelow, complete: open.size === 0 };
    },
  };
}

/** By their own order, whatever order they came in. */
function readAll({ log, read }: ReceiverDeps, updates: readonly Update[]): Item[] {
  const items = updates.map((update): Item => {
    try {
      return { id: update.update_id, read: readUpdate(update, read) };
    } catch (error) {
      // One that can't be understood must not hold up all that come after it.
      log.error('a Telegram update can not be read', { updateId: update.update_id, error });
      return { id: update.update_id, read: { kind: 'ignored', why: 'unreadable' } };
    }
  });
  return items.sort((a, b) => a.id - b.id);
}

/** One update, or as much of an album as is there. */
function nextStep(lane: readonly Waiting[]): readonly Waiting[] {
  const [first] = lane;
  if (first === undefined || !isMessage(first) || first.read.album === null) return lane.slice(0, 1);
  let bytes = 0;
  const end = lane.findIndex((item) => {
    if (!isMessage(item) || item.read.album !== first.read.album) return true;
    bytes += item.read.files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
    return item !== first && bytes > albumBytesMax;
  });
  return end === -1 ? lane.slice() : lane.slice(0, end);
}

function isAllAlbum(lane: readonly Waiting[]): boolean {
  const [first] = lane;
  const isAlbum = first !== undefined && isMessage(first) && first.read.album !== null;
  return isAlbum && lane.length < albumMax && nextStep(lane).length === lane.length;
}

function isMessage(item: Item): item is MessageItem {
  return item.read.kind === 'message';
}

function remember(keys: Set<string>, key: string): void {
  keys.delete(key);
  keys.add(key);
  if (keys.size > albumsRemembered) keys.delete(keys.values().next().value ?? '');
}
