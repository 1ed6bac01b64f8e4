/** Turns through the gateway with a model that answers at once: all the time there is, Talaria adds. */
import { randomUUID } from 'node:crypto';
import { createRemoteApi } from '../src/cli/remote-api.ts';
import type { TalariaApi } from '../src/protocol/api.ts';
import { median, quantile, startGateway, withHome, type Row } from './measure.ts';
import { residentBytes, writtenBytes } from './process-figures.ts';

const turns = 1_000;
const sessions = 20;

export function benchTurns(): Promise<Row[]> {
  return withHome('model: { provider: offline, name: rehearsal-instant }\n', async (home) => {
    const gateway = await startGateway(home);
    try {
      const api = createRemoteApi({ origin: gateway.url, key: null });
      const pid = gateway.child.pid ?? 0;
      await converse(api, 'warm-up', 20);

      const writtenBefore = writtenBytes(pid);
      const start = performance.now();
      const each = await Promise.all(
        Array.from({ length: sessions }, (_, index) => converse(api, `bench-${index}`, turns / sessions)),
      );
      const seconds = (performance.now() - start) / 1_000;
      const alone = await converse(api, 'alone', 100);
      const written = writtenBytes(pid);
      const latencies = each.flat();
      const rows: Row[] = [
        { name: `turns, ${sessions} sessions side by side`, value: turns / seconds, unit: 'turns/s' },
        { name: 'a turn, p50', value: median(latencies), unit: 'ms' },
        { name: 'a turn, p99', value: quantile(latencies, 0.99), unit: 'ms' },
        { name: 'a turn alone, p50', value: median(alone), unit: 'ms' },
        { name: 'a turn alone, p99', value: quantile(alone, 0.99), unit: 'ms' },
        { name: 'gateway after all turns, resident', value: residentBytes(pid) / 1e6, unit: 'MB' },
      ];
      if (writtenBefore === null || written === null) return rows;
      const perTurn = (written - writtenBefore) / (turns + alone.length) / 1_000;
      return [...rows, { name: 'written per turn', value: perTurn, unit: 'kB' }];
    } finally {
      await gateway.stop();
    }
  });
}

/** Milliseconds from sending to the stored end of the turn, for each of `count` messages in one session. */
async function converse(api: TalariaApi, session: string, count: number): Promise<number[]> {
  const latencies: number[] = [];
  const done = new AbortController();
  let ended = () => {};
  const say = (text: string) => api.send({ session, text, externalId: randomUUID(), channel: 'cli' });
  const first = await say('hello');
  const following = (async () => {
    for await (const event of api.events(first.sessionId, 0, done.signal)) {
      if (event.kind === 'entry' && event.entry.kind === 'turn-closed') ended();
    }
  })();
  for (let index = 0; index < count; index++) {
    const end = new Promise<void>((resolve) => (ended = resolve));
    const start = performance.now();
    if (index > 0) await say(`say message ${index}`);
    await end;
    if (index > 0) latencies.push(performance.now() - start);
  }
  done.abort();
  await following;
  return latencies;
}
