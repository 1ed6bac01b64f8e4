/**
 * Takes a batch of updates to the gateway and says how far it got: an update counts only once `receive` has resolved, so
 * that whoever confirms by this never confirms what is not stored. In order within a chat; chats side by side, so that one
 * that sends large files does not hold up the others of the batch for longer than it must.
 */
import type { Update } from 'grammy/types';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ChannelPort, InboundMessage, PressAnswer, Receipt } from '../channel.ts';
import type { WantedFile } from './describe-content.ts';
import { readUpdate, type ReadOptions, type ReadUpdate } from './read-update.ts';
import { withContents } from './with-contents.ts';

const chatsAtOnce = 4;
/** Pictures of one album that are taken together hold at most so many bytes. */
const albumBytesMax = 40_000_000;
const albumsRemembered = 200;
/** Between two refusals that are told to the same chat. */
const refusalEveryMs = 60_000;
const refusedChatsRemembered = 1_000;

export interface ReceiverDeps {
  readonly port: ChannelPort;
  readonly read: ReadOptions;
  readonly clock: Clock;
  readonly log: Log;
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
type MessageItem = { readonly id: number; readonly read: Extract<ReadUpdate, { kind: 'message' }> };

export function createReceiver(deps: ReceiverDeps): Receiver {
  const addressedAlbums = new Set<string>();
  const refusalsTold = new Map<string, number>();

  async function takeLane(lane: Item[], open: Set<number>, signal: AbortSignal): Promise<void> {
    while (lane.length > 0 && !signal.aborted) {
      const step = nextStep(lane);
      try {
        if (!(await takeStep(step, signal))) return;
      } catch (error) {
        if (!signal.aborted) deps.log.error('a Telegram update could not be stored; it will be tried again', { error });
        return;
      }
      for (const { id } of step) open.delete(id);
      lane.splice(0, step.length);
    }
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
    return items.map((item) => {
      const { inbound, album } = item.read;
      if (album === null || inbound.isAddressed === undefined) return item;
      const key = `${inbound.place.chat}:${album}`;
      if (inbound.isAddressed) remember(addressedAlbums, key);
      if (!addressedAlbums.has(key)) return item;
      return { ...item, read: { ...item.read, inbound: { ...inbound, isAddressed: true } } };
    });
  }

  async function fetched({ read: { inbound, files } }: MessageItem, signal: AbortSignal): Promise<InboundMessage> {
    const isWanted = files.length > 0 && inbound.isAddressed !== false && (await deps.port.mayFetch(inbound));
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
      const lanes = lanesOf(items);
      const work = async () => {
        for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift()) await takeLane(lane, open, signal);
      };
      await Promise.all(Array.from({ length: chatsAtOnce }, work));
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

function lanesOf(items: readonly Item[]): Item[][] {
  const lanes = new Map<string, Item[]>();
  for (const item of items) {
    const { read } = item;
    if (read.kind === 'ignored') continue;
    const chat = read.kind === 'press' ? read.chat : read.inbound.place.chat;
    const lane = lanes.get(chat);
    if (lane === undefined) lanes.set(chat, [item]);
    else lane.push(item);
  }
  return [...lanes.values()];
}

/** One update, or as much of an album as is there. */
function nextStep(lane: readonly Item[]): readonly Item[] {
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

function isMessage(item: Item): item is MessageItem {
  return item.read.kind === 'message';
}

function remember(keys: Set<string>, key: string): void {
  keys.delete(key);
  keys.add(key);
  if (keys.size > albumsRemembered) keys.delete(keys.values().next().value ?? '');
}
