/** Every request, and what came of it. Bounded in number and bytes: the oldest bodies go first, then the records. */
import type { Protocol } from './dialect.ts';
import type { TokenFigures } from './dialogue.ts';
import type { Json } from './json.ts';
import type { PlayEnd } from './play-steps.ts';

const recordsMax = 20_000;
const bodyBytesMax = 64_000_000;
const secretHeaders = new Set(['authorization', 'x-api-key', 'cookie', 'proxy-authorization']);

export interface RequestRecord {
  /** Counts from 1. */
  readonly number: number;
  readonly at: number;
  readonly path: string;
  readonly protocol: Protocol;
  /** Without secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** A fingerprint of the key. */
  readonly keyId: string;
  readonly model: string;
  /** The body as it came, and what it says; null once it has been forgotten. */
  readonly raw: string | null;
  readonly body: Json | null;
  /** Null for a request that never got to the model. */
  readonly tokens: TokenFigures | null;
  /** Tokens that the cache could have had at best. */
  readonly possible: number;
  /** Tokens of the request before it in the same conversation; 0 if there was none. */
  readonly before: number;
  readonly fault: string | null;
  /** Why it was turned down. */
  readonly problem: string | null;
  /** Null while it is being answered. */
  readonly ended: PlayEnd | null;
}

export class RequestLog {
  #records: RequestRecord[] = [];
  #count = 0;
  #bodyBytes = 0;
  #firstWithBody = 1;

  add(record: Omit<RequestRecord, 'number' | 'ended'>): number {
    this.#count += 1;
    this.#records.push({ ...record, number: this.#count, ended: null });
    this.#bodyBytes += record.raw?.length ?? 0;
    this.#forget();
    return this.#count;
  }

  end(number: number, ended: PlayEnd): RequestRecord | null {
    return this.#change(number, (record) => ({ ...record, ended }));
  }

  /** Oldest first; those with a greater number. */
  since(number: number): readonly RequestRecord[] {
    return this.#records.filter((record) => record.number > number);
  }

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#records = [];
    this.#bodyBytes = 0;
    this.#firstWithBody = this.#count + 1;
  }

  #forget(): void {
    while (this.#bodyBytes > bodyBytesMax && this.#firstWithBody < this.#count) {
      this.#change(this.#firstWithBody, (record) => {
        this.#bodyBytes -= record.raw?.length ?? 0;
        return { ...record, raw: null, body: null };
      });
      this.#firstWithBody += 1;
    }
    if (this.#records.length > recordsMax) this.#records.shift();
  }

  #change(number: number, change: (record: RequestRecord) => RequestRecord): RequestRecord | null {
    const index = number - (this.#records[0]?.number ?? 0);
    const record = this.#records[index];
    if (record === undefined) return null;
    const changed = change(record);
    this.#records[index] = changed;
    return changed;
  }
}

export function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeaders.has(name) ? '(secret)' : value]),
  );
}
