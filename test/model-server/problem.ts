/** Why a provider turns a request down, before it is put into the words of a protocol. */
export type ProblemKind =
  | 'bad-request'
  | 'auth'
  | 'billing'
  | 'forbidden'
  | 'not-found'
  | 'timeout'
  | 'too-large'
  | 'rate-limit'
  | 'quota'
  | 'server'
  | 'unavailable'
  | 'overloaded'
  | 'context'
  | 'policy';

export interface Problem {
  readonly kind: ProblemKind;
  /** Without one, the kind has its own words. */
  readonly message?: string;
  /** OpenAI's: which parameter is wrong, and a code. */
  readonly param?: string;
  readonly code?: string;
}

export function badRequest(message: string, param?: string, code?: string): Problem {
  return {
    kind: 'bad-request',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  };
}
