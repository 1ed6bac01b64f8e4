/** A rule: what one kind of program would do, added to the findings. */
import type { Findings } from './findings.ts';
import type { Places } from './path-kinds.ts';

export interface RuleContext {
  readonly cwd: string;
  readonly places: Places;
  readonly findings: Findings;
  /** Talaria's processes. */
  readonly ownPids: readonly number[];
}

export type Rule = (given: readonly string[], context: RuleContext) => void;
