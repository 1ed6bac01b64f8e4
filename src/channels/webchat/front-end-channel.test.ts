import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import type { SessionId } from '../../protocol/ids.ts';
import { channelSuite, type ChannelStage } from '../channel-suite.ts';
import { FakeChannelPort } from '../fake-channel-port.ts';
import type { Button, Delivery } from '../channel.ts';
import type { OutboxId } from '../../protocol/ids.ts';
import { FrontEndChannel, type KnownSession } from './front-end-channel.ts';

const waitMaxMs = 20_000;
const session: KnownSession = { id: 'ses_one' as SessionId, name: 'one', lastSeq: 4, isClosed: false };

/** The logs that a front end reads, and a page that keeps what was typed until it has the receipt. */
class FakePage implements ChannelStage {
  readonly target = session.id;
  readonly notes: { id: string; text: string; buttons: readonly Button[] }[] = [];
  readonly #channels: FrontEndChannel[] = [];
  readonly #typed: { text: string; externalId: string; isUnderWay: boolean }[] = [];
  readonly #ticking = setInterval(() => this.#send(), 2);
  #hangs = false;
  #ids = 0;

  create(): FrontEndChannel {
    const channel = new FrontEndChannel({
      name: 'web',
      clock: systemClock,
      find: (ref) => Promise.resolve(ref === session.id || ref === session.name ? session : null),
      write: (_sessionId, note) => this.#write(note),
    });
    this.#channels.push(channel);
    // To the page a new process is a connection that broke.
    for (const line of this.#typed) line.isUnderWay = false;
    return channel;
  }

  write(text: string): void {
    this.#typed.push({ text, externalId: `web-${++this.#ids}`, isUnderWay: false });
  }

  unconfirmed(): number {
    return this.#typed.length;
  }

  shown(): readonly string[] {
    return this.notes.map(({ text }) => text);
  }

  hang(): void {
    this.#hangs = true;
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    const end = Date.now() + waitMaxMs;
    while (!holds()) {
      if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  close(): Promise<void> {
    clearInterval(this.#ticking);
    return Promise.resolve();
  }

  #write(note: FakePage['notes'][number]): Promise<number | null> {
    if (this.#hangs) return new Promise(() => {});
    if (!this.notes.some(({ id }) => id === note.id) || note.text !== this.notes.at(-1)?.text) this.notes.push(note);
    return Promise.resolve(session.lastSeq + this.notes.length);
  }

  /** One after the other, as the page does. */
  #send(): void {
    const [line] = this.#typed;
    const channel = this.#channels.at(-1);
    if (line === undefined || channel === undefined || line.isUnderWay) return;
    line.isUnderWay = true;
    const { text, externalId } = line;
    channel.say({ session: session.name, text, externalId, channel: 'web' }).then(
      () => void this.#typed.splice(this.#typed.indexOf(line), 1),
      () => void (line.isUnderWay = false),
    );
  }
}

channelSuite('the web page', () => Promise.resolve(new FakePage()));

async function open(t: { after: (end: () => unknown) => void }) {
  const page = new FakePage();
  const channel = page.create();
  const port = new FakeChannelPort();
  await channel.start(port);
  t.after(() => channel.stop());
  t.after(() => page.close());
  return { page, channel, port };
}

const request = { session: 'one', text: 'hello', externalId: 'e', channel: 'web' } as const;
const noSignal = new AbortController().signal;
const command: Delivery = {
  id: 'out_1' as OutboxId,
  sessionId: null,
  target: session.id,
  text: 'an answer',
  dedupeId: 'out_1/1',
  replaces: null,
  buttons: [{ label: 'Do it', value: '/undo yes 3' }],
  file: null,
};

test('a line goes into the session that was chosen, and the receipt says from where to follow', async (t) => {
  const { channel, port } = await open(t);
  assert.deepEqual(await channel.say(request), {
    kind: 'message',
    sessionId: 'ses_test',
    sessionName: 'one',
    inboxId: 'inb_test',
    duplicate: false,
    afterSeq: 4,
  });
  await channel.say({ ...request, session: 'another', externalId: 'f' });
  await channel.say({ ...request, session: null, externalId: 'g' });
  assert.deepEqual(
    port.stored.map(({ place, into }) => [place.chat, place.target, into]),
    [
      ['one', session.id, { existing: session.id }],
      ['another', 'another', { name: 'another' }],
      ['new-g', 'new-g', undefined],
    ],
  );
  await assert.rejects(channel.say({ ...request, session: '../x' }), { reason: 'bad-request' });
});

test('the answer to a command is in the log of its session, with its buttons', async (t) => {
  const { page, channel, port } = await open(t);
  port.refusal = { kind: 'handled' };
  assert.deepEqual(await channel.say({ ...request, text: '/undo' }), { kind: 'command', session: 'one', text: null });
  assert.deepEqual(await channel.deliver(command, noSignal), { kind: 'sent', platformId: '5' });
  assert.deepEqual(page.notes, [{ id: 'out_1/1', text: 'an answer', buttons: command.buttons }]);
});

test('where no session is, the answer to a command goes to the one who waits for it', async (t) => {
  const { page, channel, port } = await open(t);
  port.refusal = { kind: 'handled' };
  const release = port.hold();
  const said = channel.say({ ...request, session: null, text: '/help' });
  await port.until(() => port.asked.length === 1);
  assert.equal((await channel.deliver({ ...command, target: 'new-e' }, noSignal)).kind, 'sent');
  release();
  assert.deepEqual(await said, { kind: 'command', session: null, text: 'an answer' });
  assert.equal(
    (await channel.deliver({ ...command, target: 'new-e' }, noSignal)).kind,
    'failed',
    'nobody waits any more',
  );
  assert.deepEqual(page.notes, []);
});

test('what belongs to a session is in its log already and is not written again', async (t) => {
  const { page, channel } = await open(t);
  const outcome = await channel.deliver({ ...command, sessionId: session.id }, noSignal);
  assert.deepEqual([outcome, page.notes], [{ kind: 'sent', platformId: null }, []]);
});

test('a button is pressed in the session it stands in', async (t) => {
  const { channel, port } = await open(t);
  assert.deepEqual(await channel.press('one', '/undo yes 3', 'p'), { word: 'done', session: 'one' });
  assert.deepEqual(port.presses, [
    {
      channel: 'web',
      externalId: 'p',
      sender: { id: 'owner', name: 'owner' },
      place: { kind: 'direct', chat: 'one', target: session.id },
      into: { existing: session.id },
      value: '/undo yes 3',
    },
  ]);
  await assert.rejects(channel.press('nowhere', 'x', 'q'), { reason: 'not-found' });
});
