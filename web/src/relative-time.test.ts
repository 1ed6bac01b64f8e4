import assert from 'node:assert/strict';
import { test } from 'node:test';

import { relativeTime } from './relative-time.ts';

test('the longer ago, the coarser', () => {
  const now = Date.UTC(2026, 5, 15, 12);
  const ago = (ms: number) => relativeTime(now - ms, now, 'en-GB', 'UTC');
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000] as const;
  assert.deepEqual([-5 * second, 59 * second, minute, 59 * minute, hour, 23 * hour].map(ago), [
    'now',
    'now',
    '1 min',
    '59 min',
    '1 h',
    '23 h',
  ]);
  assert.deepEqual([2 * day, 10 * day, 400 * day].map(ago), ['Sat', '5 Jun', '11 May 2025']);
});
