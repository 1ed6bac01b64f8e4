/** What was found out about a command while it was read. */
export interface Findings {
  /** Never, in no mode, whoever says yes. */
  readonly refusals: Set<string>;
  /** Worth a question even where a sandbox holds. */
  readonly asks: Set<string>;
  /** Worth a question where nothing, or not enough, holds it back. */
  readonly risks: Set<string>;
  /** What will not work in a sandbox, and why. */
  readonly notes: Set<string>;
  /** Parts that could not be read. */
  readonly unread: Set<string>;
  /** Files that it would run, by absolute path. */
  readonly files: Set<string>;
  /** Programs that are not known to do only what they say. */
  readonly programs: Set<string>;
}

export function noFindings(): Findings {
  return {
    refusals: new Set(),
    asks: new Set(),
    risks: new Set(),
    notes: new Set(),
    unread: new Set(),
    files: new Set(),
    programs: new Set(),
  };
}
