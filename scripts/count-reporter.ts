/** A reporter for node:test that writes nothing but the final counts of a run, as JSON. */
import type { TestEvent } from 'node:test/reporters';

export interface TestCounts {
  readonly tests: number;
  readonly pass: number;
  readonly fail: number;
  readonly cancelled: number;
  readonly skipped: number;
  readonly todo: number;
}

export default async function* countReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    // Files in processes of their own send a summary each; the one without a file is of the whole run.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue;
    // Node's types leave `failed` out.
    const counts = event.data.counts as typeof event.data.counts & { readonly failed: number };
    const { tests, passed, failed, cancelled, skipped, todo } = counts;
    yield JSON.stringify({ tests, pass: passed, fail: failed, cancelled, skipped, todo } satisfies TestCounts);
  }
}
