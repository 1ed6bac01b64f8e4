/** What runs, in a few lines for the person in the chat. */
import type { SessionSettings, StatusReport } from '../protocol/api.ts';
import { modelWords, restingKeyLines } from './model-words.ts';
import { printable } from './printable.ts';
import { countText, costText, usdText } from '../protocol/usage-text.ts';

export function statusLines(
  status: StatusReport,
  session: string | null,
  settings: SessionSettings | null,
  now: number,
): string[] {
  const { model, fallback, usage, turns, version, store } = status;
  const chosen = settings?.model ?? null;
  const effort = settings?.effort ?? null;
  const rows: [string, string][] = [
    ['session', session ?? '(new)'],
    ['model', chosen === null ? modelWords(model) : `${chosen}, for this session; otherwise ${modelWords(model)}`],
    ...(effort === null ? [] : [row('reasoning', effort)]),
    ...(fallback.length === 0 ? [] : [row('fallback', fallback.map(modelWords).join(', '))]),
    ...restingKeyLines(status.keys, now).map((line) => row('key', line)),
    ['turns', `${turns.running} running, ${turns.done} done, ${turns.failed} failed`],
    ['tokens', `${countText(usage.input_tokens)} in, ${countText(usage.output_tokens)} out`],
    ['cost', `${usdText(usage.today_usd)} today, ${totalCost(usage)} in all`],
    ['talaria', `${version}, ${store}`],
  ];
  return rows.map(([name, value]) => `${name.padEnd(9)} ${printable(value)}`);
}

function row(name: string, value: string): [string, string] {
  return [name, value];
}

/** What everything cost since the store began. */
export function totalCost({ usd, unpriced_calls }: StatusReport['usage']): string {
  return costText({ usd: usd ?? 0, unpricedCalls: unpriced_calls });
}
