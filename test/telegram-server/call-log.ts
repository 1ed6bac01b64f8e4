/** Everything the bot called, and a way to wait for something to become true of it. */
import type { Payload } from './bot-api.ts';
import type { FaultKind } from './faults.ts';

const callsMax = 100_000;

export interface CallRecord {
  readonly number: number;
  readonly at: number;
  readonly method: string;
  readonly payload: Payload;
  readonly fault: FaultKind | null;
  /** What was stored, even if the caller did not hear of it. */
  readonly result: unknown;
  /** Null as long as it goes on; 0 if nothing was answered. */
  readonly status: number | null;
}

export class CallLog {
  #calls: CallRecord[] = [];
  #count = 0;
  readonly #listeners = new Set<(call: CallRecord) => void>();

  all(): readonly CallRecord[] {
    return this.#calls;
  }

  begin(method: string, payload: Payload, fault: FaultKind | null): number {
    this.#count += 1;
    const call = { number: this.#count, at: Date.now(), method, payload, fault, result: null, status: null };
    if (this.#calls.length >= callsMax) this.#calls.shift();
    this.#calls.push(call);
    this.#tell(call);
    return call.number;
  }

  end(number: number, result: unknown, status: number): void {
    const index = this.#calls.findLastIndex((call) => call.number === number);
    const call = this.#calls[index];
    if (call === undefined) return;
    const ended = { ...call, result, status };
    this.#calls[index] = ended;
    this.#tell(ended);
  }

  clear(): void {
    this.#calls = [];
  }

  onCall(listener: (call: CallRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  until(holds: () => boolean, what: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error: Error | null) => {
        forget();
        clearTimeout(timer);
        clearInterval(again);
        if (error === null) resolve();
        else reject(error);
      };
      const check = () => {
        if (holds()) end(null);
      };
      // What is waited for may come from elsewhere than a call.
      const again = setInterval(check, 5);
      const timer = setTimeout(() => end(new Error(`waited in vain for: ${what}`)), timeoutMs);
      const forget = this.onCall(check);
      check();
    });
  }

  #tell(call: CallRecord): void {
    for (const listener of this.#listeners) listener(call);
  }
}
