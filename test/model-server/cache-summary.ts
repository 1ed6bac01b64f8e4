/** What the caches had, against what they could have had at best. */
import type { RequestRecord } from './request-log.ts';

export interface CacheSummary {
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly possible: number;
  /** Had every request begun with the whole of the one before it, as a conversation does that only grows. */
  readonly atBest: number;
  /** Requests that had less than that, by their numbers. */
  readonly missed: readonly number[];
}

/** Of the requests that got to the model. */
export function summarise(records: readonly RequestRecord[]): CacheSummary {
  const answered = records.filter(({ tokens }) => tokens !== null);
  const sum = (figure: (record: RequestRecord) => number) =>
    answered.reduce((total, record) => total + figure(record), 0);
  return {
    requests: answered.length,
    input: sum(({ tokens }) => tokens?.input ?? 0),
    cached: sum(({ tokens }) => tokens?.cached ?? 0),
    possible: sum(({ possible }) => possible),
    atBest: sum(({ before, possible }) => Math.max(before, possible)),
    missed: answered
      .filter(({ tokens, possible, before }) => (tokens?.cached ?? 0) < Math.max(possible, before))
      .map(({ number }) => number),
  };
}
