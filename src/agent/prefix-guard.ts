/**
 * Compares how a prompt begins with how the one before it began, on the same runtime. What was sent once must be sent
 * again, byte for byte, or there must be a reason on record: everything else is a bug that costs users money.
 */
import type { HeadReason } from '../protocol/messages.ts';
import type { Effort, PrefixReason } from '../protocol/usage.ts';
import type { PromptStep, PromptTrail } from '../store/store.ts';

/** Enough to tell units of one session apart. */
const unitHashChars = 16;

export interface PromptNow {
  /** As `runtimeId` says. */
  readonly runtime: string;
  readonly units: readonly string[];
  /** As the prepared request has it. */
  readonly settingUnit?: number | undefined;
  /** The newest head or shortening: where it stands in the log, and why it is there. */
  readonly headSeq: number;
  readonly headReason: HeadReason | 'compressed';
  readonly effort: Effort | null;
  /** Whether any model has answered in this session. */
  readonly wasAnswered: boolean;
  /** Whether the conversation was rewound since the newest prompt on this runtime. */
  readonly wasRewound: boolean;
}

export function promptStep(now: PromptNow, trail: PromptTrail | null): PromptStep {
  const { runtime, headSeq, effort } = now;
  const { hash } = process.getBuiltinModule('node:crypto');
  const hashes = now.units.map((unit) => hash('sha256', unit, 'base64url').slice(0, unitHashChars));
  const before = trail?.units ?? [];
  const kept = commonLength(before, hashes);
  const prefixBreak = trail !== null && kept === before.length ? null : reasonOfBreak(now, trail, kept);
  return { runtime, kept, added: hashes.slice(kept), prefixBreak, headSeq, effort };
}

function reasonOfBreak(now: PromptNow, trail: PromptTrail | null, kept: number): PrefixReason {
  if (trail === null) return now.wasAnswered ? 'other-model' : 'first-call';
  // An older shortening is in force again.
  if (now.wasRewound && now.headReason === 'compressed' && now.headSeq < trail.headSeq) return 'rewound';
  if (now.headSeq !== trail.headSeq && now.headReason !== 'session-started') return now.headReason;
  if (now.wasRewound) return 'rewound';
  if (now.effort !== trail.effort) return 'effort-changed';
  return kept === now.settingUnit ? 'thought-missing' : 'unexplained';
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) if (one[index] !== other[index]) return index;
  return length;
}
