/** What crosses between the main thread and the store's threads. Errors keep their class, reason and text on the way. */
import { AssertionFailure } from '../../lib/assert.ts';
import { StoreError, type StoreErrorReason } from '../store.ts';

export interface ThreadRequest<Body = unknown> {
  readonly id: number;
  readonly body: Body;
}

export type ThreadAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: PortableError };

/** Sent instead of a request: finish and end. */
export const endRequest = 'end';

export type PortableError =
  | { readonly kind: 'operational'; readonly reason: StoreErrorReason; readonly message: string }
  | { readonly kind: 'bug'; readonly message: string };

export function packError(error: unknown): PortableError {
  if (error instanceof StoreError) return { kind: 'operational', reason: error.reason, message: error.message };
  return { kind: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

export function unpackError(error: PortableError): Error {
  return error.kind === 'operational'
    ? new StoreError(error.reason, error.message)
    : new AssertionFailure(error.message);
}
