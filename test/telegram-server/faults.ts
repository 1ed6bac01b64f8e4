/**
 * What goes wrong to order. `before` faults strike before anything is stored, `after` ones when it already is: the two
 * look the same from outside, which is the point.
 */

export interface FaultOrder {
  readonly kind: FaultKind;
  /** Only calls of this method; any by default. */
  readonly method?: string;
  readonly chat?: number;
  /** How many calls; null: all from now on. By default one. */
  readonly times?: number | null;
  readonly retryAfterS?: number;
  /** Only calls that this one picks; from within the same process. */
  readonly picks?: (method: string, payload: Readonly<Record<string, unknown>>) => boolean;
}

export type FaultKind =
  | 'unauthorized'
  | 'conflict'
  | 'too-many'
  | 'error-before'
  | 'error-after'
  /** A proxy in front of the platform answers with a page. */
  | 'page-before'
  | 'page-after'
  | 'hang-before'
  | 'hang-after'
  | 'drop-before'
  | 'drop-after'
  | 'blocked'
  | 'chat-not-found'
  | 'not-parsed'
  | 'too-many-entities'
  | 'garbage-after'
  /** The updates of this answer come in the wrong order. */
  | 'reorder'
  /** The confirmation that this call makes is lost. */
  | 'unconfirmed';

export interface Failure {
  readonly code: number;
  readonly description: string;
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

const failures: Partial<Record<FaultKind, Failure>> = {
  unauthorized: { code: 401, description: 'Unauthorized' },
  conflict: {
    code: 409,
    description: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  },
  'error-before': { code: 500, description: 'Internal Server Error' },
  'error-after': { code: 500, description: 'Internal Server Error' },
  blocked: { code: 403, description: 'Forbidden: bot was blocked by the user' },
  'chat-not-found': { code: 400, description: 'Bad Request: chat not found' },
  'not-parsed': {
    code: 400,
    description: 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0',
  },
  'too-many-entities': { code: 400, description: 'Bad Request: ENTITIES_TOO_LONG' },
};

/** What the platform says instead of an answer; null if the fault is of another kind. */
export function failureOf({ kind, retryAfterS = 1 }: FaultOrder): Failure | null {
  if (kind !== 'too-many') return failures[kind] ?? null;
  return {
    code: 429,
    description: `Too Many Requests: retry after ${retryAfterS}`,
    parameters: { retry_after: retryAfterS },
  };
}

export function isAfter(kind: FaultKind): boolean {
  return kind.endsWith('-after');
}

export class FaultQueue {
  #orders: { order: FaultOrder; left: number }[] = [];

  /** What is returned takes it back. */
  add(order: FaultOrder): () => void {
    const { times = 1 } = order;
    const added = { order, left: times ?? Number.POSITIVE_INFINITY };
    this.#orders.push(added);
    return () => {
      this.#orders = this.#orders.filter((other) => other !== added);
    };
  }

  take(method: string, payload: Readonly<Record<string, unknown>>): FaultOrder | null {
    const chat = payload['chat_id'] === undefined ? null : Number(payload['chat_id']);
    const hit = this.#orders.find(
      ({ order }) =>
        (order.method ?? method) === method &&
        (order.chat ?? chat) === chat &&
        (order.picks === undefined || order.picks(method, payload)),
    );
    if (hit === undefined) return null;
    hit.left -= 1;
    this.#orders = this.#orders.filter(({ left }) => left > 0);
    return hit.order;
  }

  clear(): void {
    this.#orders = [];
  }
}
