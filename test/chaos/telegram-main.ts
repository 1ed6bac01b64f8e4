/**
 * The scripted Telegram as a process of its own, which no kill of the gateway touches: through the pipe to the run people
 * write, faults are ordered and requests are held; whoever is asked something with buttons presses `yes`.
 */
import { appendFileSync } from 'node:fs';
import type { Message, Update } from 'grammy/types';
import type { CallRecord } from '../telegram-server/call-log.ts';
import { isAfter, type FaultOrder } from '../telegram-server/faults.ts';
import { startTelegramServer } from '../telegram-server/telegram-server.ts';
import { findButton } from '../telegram-server/world.ts';
import { serveRun, tellRun } from './neighbour.ts';
import type { Fault } from './platform-book.ts';
import type { HoldPoint } from './scripted-platform.ts';
import type {
  TelegramEvent,
  TelegramPlace,
  TelegramPost,
  TelegramReport,
  TelegramRequest,
} from './scripted-telegram.ts';

const pressAfterMs = 20;
const lookMs = 5;
const agreement = 'yes';
const sending = new Set(['sendMessage', 'editMessageText']);
const uninteresting = new Set(['getUpdates', 'sendChatAction']);

const journal = process.env['TELEGRAM_JOURNAL'] ?? '';
const server = await startTelegramServer();
const updates = new Map<number, Update>();
const came = new Map<string, Pick<TelegramPost, 'at' | 'isUnheard'>>();
const pressed = new Set<string>();
const written: (TelegramPlace & { readonly text: string })[] = [];
const problems: string[] = [];
let confirmedBelow = 0;
let takeBackHold = () => {};

/** What goes wrong, each once, so that trouble ends. */
const faultOrders: Record<Fault, (chat: number) => readonly FaultOrder[]> = {
  slow: (chat) => [
    { kind: 'drop-before', method: 'getUpdates' },
    { kind: 'error-before', method: 'deleteMessage', chat },
  ],
  busy: (chat) => [
    { kind: 'too-many', method: 'sendMessage', chat, retryAfterS: 1 },
    { kind: 'too-many', method: 'deleteMessage', chat, retryAfterS: 1 },
  ],
  broken: (chat) => [
    { kind: 'error-before', method: 'editMessageText', chat },
    { kind: 'page-before', method: 'sendMessage', chat },
  ],
  'broken-after': (chat) => [
    { kind: 'error-after', method: 'editMessageText', chat },
    { kind: 'error-after', method: 'sendMessage', chat },
    { kind: 'unconfirmed', method: 'getUpdates' },
  ],
  dropped: (chat) => [
    { kind: 'drop-after', method: 'sendMessage', chat },
    { kind: 'drop-before', method: 'deleteMessage', chat },
  ],
};

/** Answers come with markup; drafts are plain. */
const holds: Record<HoldPoint, { readonly kind: FaultOrder['kind']; readonly isIt: (call: Call) => boolean }> = {
  acknowledging: {
    kind: 'hang-before',
    isIt: ({ method, payload }) => method === 'getUpdates' && Number(payload['offset'] ?? 0) > confirmedBelow,
  },
  posting: { kind: 'hang-before', isIt: isAnswer },
  posted: { kind: 'hang-after', isIt: isAnswer },
  drafted: {
    kind: 'hang-after',
    isIt: ({ method, payload }) => method === 'sendMessage' && payload['parse_mode'] === undefined,
  },
};

type Call = Pick<CallRecord, 'method' | 'payload'>;

function isAnswer({ method, payload }: Call): boolean {
  return sending.has(method) && payload['parse_mode'] === 'HTML';
}

function hold(order: { readonly point: HoldPoint; readonly nth: number } | null): void {
  takeBackHold();
  takeBackHold = () => {};
  if (order === null) return;
  const { kind, isIt } = holds[order.point];
  let left = order.nth;
  const takeBack = server.inject({ kind, picks: (method, payload) => isIt({ method, payload }) && --left === 0 });
  const forget = server.onCall((call) => {
    // Left alone before anything is done, or after all of it.
    if (call.fault !== kind || (kind === 'hang-after' && call.status === null)) return;
    forget();
    tellRun({ kind: 'held', point: order.point } satisfies TelegramEvent);
  });
  takeBackHold = () => {
    takeBack();
    forget();
  };
}

function write(place: TelegramPlace, text: string): number {
  const { chat, kind, user } = place;
  const where = kind === 'private' ? {} : { chat: { id: chat, type: kind, title: 'Friends' } };
  const { update } = server.people.write({ from: { id: user, name: `Person ${user}` }, text, ...where });
  if (update === null) throw new Error('nobody wants to hear of messages');
  updates.set(update.update_id, update);
  written.push({ ...place, text });
  return update.update_id;
}

/** Whoever wrote the words that the question is about answers it. */
function press(message: Message): void {
  const { id: chat } = message.chat;
  const key = `${chat}:${message.message_id}`;
  if (pressed.has(key) || findButton(message.reply_markup, agreement) === null) return;
  pressed.add(key);
  const about = /effect (\S+) /.exec(message.text ?? '')?.[1] ?? '';
  const asker = written.findLast((one) => one.chat === chat && one.text.includes(about));
  if (asker === undefined) return void problems.push(`nobody is asked by ${JSON.stringify(message.text)}`);
  setTimeout(() => {
    try {
      server.people.press({ id: asker.user, name: `Person ${asker.user}` }, chat, message.message_id, agreement);
    } catch {
      // Its buttons are gone already.
    }
  }, pressAfterMs);
}

server.onCall((call) => {
  if (call.status === null) return;
  if (journal !== '' && !uninteresting.has(call.method)) appendFileSync(journal, `${JSON.stringify(call)}\n`);
  if (!sending.has(call.method) || call.result === null) return;
  const message = call.result as Message;
  const key = `${message.chat.id}:${message.message_id}`;
  // Held ones are not among them: their process dies, which shows by itself.
  const isUnheard = call.fault !== null && isAfter(call.fault) && call.fault !== 'hang-after';
  if (!came.has(key)) came.set(key, { at: Date.now(), isUnheard });
  press(message);
});

setInterval(() => {
  if (server.updates.forgottenBelow === confirmedBelow) return;
  confirmedBelow = server.updates.forgottenBelow;
  tellRun({ kind: 'confirmed', below: confirmedBelow } satisfies TelegramEvent);
}, lookMs);

function posts(): TelegramPost[] {
  return server.world.chats().flatMap((chat) =>
    server.world.said(chat).flatMap(({ byBot, deleted, message, texts, parseMode }) => {
      if (!byBot || deleted) return [];
      const { message_id: id, text = '' } = message;
      const { at, isUnheard } = came.get(`${chat}:${id}`) ?? { at: 0, isUnheard: false };
      return [{ chat, id, text, isEdited: texts.length > 1, isMarkedUp: parseMode !== null, at, isUnheard }];
    }),
  );
}

serveRun((message) => {
  const request = message as TelegramRequest;
  switch (request.kind) {
    case 'address':
      return { url: server.url, token: server.token };
    case 'write':
      return write(request.place, request.text);
    case 'repeat': {
      const update = updates.get(request.updateId);
      if (update !== undefined) server.updates.restore(update);
      return null;
    }
    case 'fault':
      for (const order of faultOrders[request.fault](request.chat)) server.inject(order);
      return null;
    case 'hold':
      return hold(request.hold);
    case 'report':
      return { posts: posts(), problems } satisfies TelegramReport;
  }
});
