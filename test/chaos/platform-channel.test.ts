/** The platform of the crash tests and the channel to it: both must be honest, or the judge is told tales. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Channel, Delivery, DeliveryOutcome, InboundMessage, Receipt } from '../../src/channels/channel.ts';
import { countingIdSource } from '../../src/lib/ids.ts';
import { createPlatformChannel } from './platform-channel.ts';
import type { ChatKind, Fault, Post } from './platform-book.ts';
import { ScriptedPlatform } from './scripted-platform.ts';

const never = new AbortController().signal;
const ids = countingIdSource();
const sessionId = ids.next('ses');

async function withPlatform(kind: ChatKind, body: (platform: ScriptedPlatform, channel: Channel) => Promise<void>) {
  const platform = new ScriptedPlatform();
  const channel = createPlatformChannel(kind, await platform.address());
  try {
    await body(platform, channel);
  } finally {
    await channel.stop();
    await platform.end();
  }
}

function post(dedupeId: string, text = dedupeId): Delivery {
  return { id: ids.next('out'), sessionId, target: 'chat', text, dedupeId, replaces: null, buttons: [], file: null };
}

async function posts(platform: ScriptedPlatform): Promise<string[]> {
  const { posts: seen, problems } = await platform.report();
  assert.deepEqual(problems, []);
  return seen.map(({ text }: Post) => text);
}

test('a message comes until it is acknowledged, and that is not before it was received', async () => {
  await withPlatform('exact', async (platform, channel) => {
    const inboxId = ids.next('inb');
    const answers: Receipt[] = [
      { kind: 'refused', reason: 'draining', text: 'later' },
      { kind: 'accepted', sessionId, inboxId, duplicate: false },
    ];
    const received: InboundMessage[] = [];
    const receive = (message: InboundMessage) => {
      received.push(message);
      return Promise.resolve(answers.shift() ?? assert.fail('it came once more'));
    };
    const unused = { press: () => assert.fail('there are no buttons'), mayFetch: () => assert.fail('nor files') };
    await channel.start({ receive, ...unused }, []);
    const written = await platform.write('exact', { externalId: 'm1', chat: 'chat', text: 'hello' }, never);
    assert.deepEqual(
      [written.inboxId, received.map(({ externalId, place }) => [externalId, place.chat])],
      [
        inboxId,
        [
          ['m1', 'chat'],
          ['m1', 'chat'],
        ],
      ],
    );
  });
});

test('a repeated post is dropped where the platform can tell, and shown where it can not', async () => {
  for (const [kind, seen] of [
    ['exact', ['a/1']],
    ['forgetful', ['a/1', 'a/1']],
  ] as const) {
    await withPlatform(kind, async (platform, channel) => {
      for (const delivery of [post('a/1'), post('a/1')])
        assert.equal((await channel.deliver(delivery, never)).kind, 'sent');
      assert.deepEqual(await posts(platform), seen);
    });
  }
});

/** What the channel says, without the words. */
const said = (outcome: DeliveryOutcome) =>
  outcome.kind === 'retry' ? [outcome.kind, outcome.afterMs, outcome.notSent ?? false] : [outcome.kind];

const troubles: readonly [fault: Fault, said: unknown[], kept: number][] = [
  ['slow', ['sent'], 1],
  ['busy', ['retry', 1_000, true], 0],
  ['broken', ['retry', 0, false], 0],
  ['broken-after', ['retry', 0, false], 1],
  ['dropped', ['retry', 0, false], 1],
];

for (const [fault, expected, kept] of troubles) {
  test(`${fault}: the channel says what is known of the post, and the next attempt meets no fault`, async () => {
    await withPlatform('exact', async (platform, channel) => {
      await platform.fault('chat', fault);
      assert.deepEqual(said(await channel.deliver(post('a/1'), never)), expected);
      assert.deepEqual([(await posts(platform)).length, await platform.troubled()], [kept, fault === 'slow' ? 0 : 1]);
      assert.deepEqual(said(await channel.deliver(post('a/1'), never)), ['sent']);
      assert.deepEqual([await posts(platform), await platform.troubled()], [['a/1'], 0]);
    });
  });
}

test('where nobody listens nothing was sent', async () => {
  await withPlatform('exact', async (platform, channel) => {
    await platform.end();
    assert.deepEqual(said(await channel.deliver(post('a/1'), never)), ['retry', 0, true]);
  });
});

test('a held post is kept or not, as the point says, and not answered', async () => {
  for (const [point, kept] of [
    ['posting', []],
    ['posted', ['a/1']],
  ] as const) {
    await withPlatform('forgetful', async (platform, channel) => {
      const held = new Promise<string>((resolve) => {
        platform.onHeld = resolve;
      });
      await platform.hold({ point, nth: 1 });
      const outcome = channel.deliver(post('a/1'), never);
      assert.equal(await held, point);
      assert.deepEqual(await posts(platform), kept);
      await platform.end();
      assert.deepEqual(said(await outcome), ['retry', 0, false]);
    });
  }
});

test('a post that is too long, or another one under the same id, is held against the gateway', async () => {
  await withPlatform('exact', async (platform, channel) => {
    await channel.deliver(post('a/1', 'x'.repeat(121)), never);
    await channel.deliver(post('b/1', 'one'), never);
    await channel.deliver(post('b/1', 'another'), never);
    assert.deepEqual((await platform.report()).problems, [
      'a post of 121 characters in chat',
      'b/1 in chat came again with other words',
    ]);
  });
});
