/**
 * The one error of this channel. Its text is safe to show and to log: what grammY and the network say of a failed request
 * names its address, and the token is part of that.
 */
export type TelegramErrorReason =
  /** The token is wrong or was revoked. */
  | 'unauthorized'
  /** Somebody else polls, or a webhook is set. */
  | 'conflict'
  | 'limited'
  /** Blocked, kicked out, or not allowed there. */
  | 'forbidden'
  | 'bad-request'
  | 'server'
  | 'network'
  | 'timeout'
  /** By our own signal. */
  | 'stopped';

export interface TelegramErrorFacts {
  readonly reason: TelegramErrorReason;
  readonly text: string;
  /** 0 if the platform did not say. */
  readonly retryAfterMs?: number;
  /** The request surely had no effect: the platform said so, or was not reached. */
  readonly notDone?: boolean;
  /** The group has become another chat. */
  readonly movedTo?: string;
}

export class TelegramError extends Error {
  override readonly name = 'TelegramError';
  readonly reason: TelegramErrorReason;
  readonly retryAfterMs: number;
  readonly notDone: boolean;
  readonly movedTo: string | null;

  constructor({ reason, text, retryAfterMs = 0, notDone = false, movedTo }: TelegramErrorFacts) {
    super(text);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.notDone = notDone;
    this.movedTo = movedTo ?? null;
  }

  get retryable(): boolean {
    return this.reason !== 'unauthorized' && this.reason !== 'forbidden' && this.reason !== 'bad-request';
  }
}

export const unknownToken =
  'Telegram does not know this token: copy it again from @BotFather, or make a new one there with /token.';

/** What the platform answered, as an error of ours. */
export function fromAnswer(code: number, description: string, parameters: AnswerParameters): TelegramError {
  const said = `Telegram answered ${code}: ${description.slice(0, 300)}`;
  if (code === 401 || code === 404)
    return new TelegramError({ reason: 'unauthorized', text: unknownToken, notDone: true });
  if (code === 409) return new TelegramError({ reason: 'conflict', text: said, notDone: true });
  if (code === 403) return new TelegramError({ reason: 'forbidden', text: said, notDone: true });
  if (code === 429) {
    const retryAfterMs = (parameters.retry_after ?? 1) * 1_000;
    return new TelegramError({ reason: 'limited', text: said, retryAfterMs, notDone: true });
  }
  if (code >= 500) return new TelegramError({ reason: 'server', text: said });
  const { migrate_to_chat_id: movedTo } = parameters;
  const moved = movedTo === undefined ? {} : { movedTo: String(movedTo) };
  return new TelegramError({ reason: 'bad-request', text: said, notDone: true, ...moved });
}

export interface AnswerParameters {
  readonly retry_after?: number;
  readonly migrate_to_chat_id?: number;
}

/** Codes of failures before a request can have arrived. */
const unreachedCodes = new Set(
  `ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ENETDOWN EHOSTDOWN CERT_HAS_EXPIRED
  DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN ERR_TLS_CERT_ALTNAME_INVALID UNABLE_TO_VERIFY_LEAF_SIGNATURE
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY`.split(/\s+/),
);

/** A request that got no readable answer. Only the code of what went wrong is kept. */
export function fromNetwork(error: unknown): TelegramError {
  const code = codeOf(error);
  const text = `Telegram could not be reached (${code ?? 'the connection broke'})`;
  return new TelegramError({ reason: 'network', text, notDone: code !== null && unreachedCodes.has(code) });
}

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' && /^[A-Z_0-9]{1,60}$/.test(error.code) ? error.code : null;
}
