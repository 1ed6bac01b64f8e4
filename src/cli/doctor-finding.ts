/** One thing that the doctor looked at. */
export interface Finding {
  /** `warn`: it works, but the user should know. `bad`: something does not work until it is mended. */
  readonly verdict: 'good' | 'warn' | 'bad';
  readonly what: string;
  /** What to do about it. */
  readonly fix?: string;
}

export function good(what: string): Finding {
  return { verdict: 'good', what };
}

export function warn(what: string, fix: string): Finding {
  return { verdict: 'warn', what, fix };
}

export function bad(what: string, fix: string): Finding {
  return { verdict: 'bad', what, fix };
}
