/**
 * How much of what the providers' caches could have had they had, per protocol, in a session of 60 turns with tools and
 * everything in between that costs other agents their cache.
 */
import { summarise } from '../test/model-server/cache-summary.ts';
import type { Row } from './measure.ts';
import { liveThrough, subjects, type Lived, type Plan, type Subject } from './prompt-cache-session.ts';

const missesShownMax = 5;

const plan: Plan = {
  turns: 60,
  trouble: { 15: 'evict', 25: 'restart', 35: 'kill', 48: 'fall-back' },
  words: {
    20: 'many 30 run echo call # of thirty',
    30: 'times 50 run echo round #',
    35: 'run sleep 0.5 then run echo after the sleep',
  },
};

export async function benchPromptCache(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const subject of subjects) rows.push(...report(subject, await liveThrough(subject, plan)));
  return rows;
}

function report(subject: Subject, { requests, evictions, breaks, failed }: Lived): Row[] {
  const ours = requests.filter(({ model }) => model === subject.model);
  const { requests: calls, cached, possible, atBest, missed } = summarise(ours);
  const { requests: elsewhere } = summarise(requests.filter(({ model }) => model === subject.fallback));
  const turnedDown = requests.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  for (const problem of new Set(turnedDown)) console.log(`  ${subject.name}: the provider turned down: ${problem}`);
  for (const { number, tokens, before, possible: most } of ours
    .filter((record) => missed.includes(record.number))
    .slice(0, missesShownMax)) {
    console.log(
      `  ${subject.name}: request ${number} had ${tokens?.cached} of ${before} tokens, ${most} were possible`,
    );
  }
  const row = (name: string, value: number, unit: string, limit?: number): Row => ({
    name: `${subject.name}: ${name}`,
    value,
    unit,
    ...(limit === undefined ? {} : { limit }),
  });
  return [
    row('cached of possible', (100 * cached) / possible, '%'),
    row('cached of the prompts before', (100 * cached) / atBest, '%'),
    row('lost', atBest - cached, 'tokens', 0),
    row('of', atBest, 'tokens'),
    row('calls', calls, 'calls'),
    row('calls of the fallback', elsewhere, 'calls'),
    row('turned down or failed', turnedDown.length + failed, 'calls', 0),
    row('breaks without a reason', breaks.get('unexplained') ?? 0, 'calls', 0),
    row('agents evicted', evictions, 'agents'),
    ...[...breaks].map(([reason, count]) => row(`recorded: ${reason}`, count, 'calls')),
  ];
}
