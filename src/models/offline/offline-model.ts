/**
 * The model inside the program: needs no key and no network, and behaves like a real one towards everything around it.
 * It streams, calls tools and can be stopped. What it says is decided in `respond.ts`; this file only speaks it.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import { ModelError, type Model, type ModelEvent, type ModelRequest } from '../model.ts';
import { plainUnits } from '../plain-units.ts';
import { estimateUsage } from './estimate-usage.ts';
import type { OfflineName } from './offline-runtime.ts';
import { isAskedToBeSlow, respond } from './respond.ts';

const chunkDelayMs = 2;
const slowChunkDelayMs = 150;
/** A very long answer is spoken in larger pieces, so that it ends within seconds. */
const chunksMax = 2_000;

export interface OfflineModelDeps {
  readonly clock: Clock;
  readonly name: OfflineName;
}

export function createOfflineModel({ clock, name }: OfflineModelDeps): Model {
  const closing = new AbortController();
  return {
    prepare: (request) => ({ request, units: plainUnits(request), body: '' }),
    async *stream({ request }, _key, signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      const delayMs = name === 'rehearsal-instant' ? 0 : isAskedToBeSlow(request) ? slowChunkDelayMs : chunkDelayMs;
      try {
        for (const event of eventsOf(request)) {
          ended.throwIfAborted();
          if (delayMs > 0 && isSpoken(event)) await sleep(clock, delayMs, ended);
          yield event;
        }
      } catch (error) {
        yield { kind: 'failed', error: asModelError(error, signal) };
      }
    },
    close: () => closing.abort(new ModelError('connection', 'The rehearsal model was closed.')),
  };
}

function* eventsOf(request: ModelRequest): Generator<ModelEvent> {
  const response = respond(request);
  if (response.reasoning !== undefined) {
    for (const text of chunksOf(response.reasoning)) yield { kind: 'reasoning-delta', text };
    yield { kind: 'reasoning-end' };
  }
  for (const text of chunksOf(response.text)) yield { kind: 'text-delta', text };
  for (const [index, call] of response.calls.entries()) {
    yield { kind: 'tool-call', providerCallId: `offline_${request.messages.length}_${index}`, ...call };
  }
  const stop = response.calls.length > 0 ? 'tool-calls' : 'answer';
  yield { kind: 'end', stop, usage: estimateUsage(request, response), usd: 0 };
}

function isSpoken(event: ModelEvent): boolean {
  return event.kind === 'text-delta' || event.kind === 'reasoning-delta';
}

/** About three words each; joined they are the text. */
export function chunksOf(text: string): string[] {
  const chunks = text.match(/\s{0,80}(?:\S{1,80}\s{0,80}){1,3}|\s+/gu) ?? [];
  const together = Math.ceil(chunks.length / chunksMax);
  if (together <= 1) return chunks;
  return Array.from({ length: Math.ceil(chunks.length / together) }, (_, index) =>
    chunks.slice(index * together, (index + 1) * together).join(''),
  );
}

function asModelError(error: unknown, signal: AbortSignal): ModelError {
  if (signal.aborted) return new ModelError('cancelled', 'The answer was stopped.');
  if (error instanceof ModelError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ModelError('unknown', `The rehearsal model failed, which is a bug: ${reason}`, { retryable: false });
}
