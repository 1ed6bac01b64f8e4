/** Judges what happened to the world against what the transcripts say was done. */
import { toolCallsOf, type Entry } from '../../src/protocol/messages.ts';
import { effectOf } from './ledger.ts';

export interface EffectEvidence {
  readonly transcripts: ReadonlyMap<string, readonly Entry[]>;
  /** The effects that happened, one for each time. */
  readonly ledger: readonly string[];
  /** Those of sessions that were removed on purpose: they have no call any more. */
  readonly effectsOfRemoved: ReadonlySet<string>;
}

type EffectColumn = 'repeatedEffects' | 'effectsWithoutCall' | 'effectsMissing';

interface EffectFinding {
  readonly column: EffectColumn;
  readonly what: string;
}

interface EffectFindings {
  readonly findings: readonly EffectFinding[];
  /** Calls whose outcome is known to nobody, and which were told so. */
  readonly unknownCalls: number;
}

/**
 * A finished call has had its effect once, a skipped one never, any other at most once; and no effect is without a call.
 * A call fails only if somebody stopped it: a run whose calls can't be made would prove nothing.
 */
export function judgeEffects({ ledger, transcripts, effectsOfRemoved }: EffectEvidence): EffectFindings {
  const findings: EffectFinding[] = [];
  const complain = (column: EffectColumn, what: string) => findings.push({ column, what });
  const times = new Map<string, number>();
  for (const id of ledger) times.set(id, (times.get(id) ?? 0) + 1);
  const calls = effectCallsOf(transcripts);
  let unknownCalls = 0;
  for (const [id, count] of times) {
    if (count > 1) complain('repeatedEffects', `${id} happened ${count} times`);
    const call = calls.get(id);
    if (call === undefined && !effectsOfRemoved.has(id)) complain('effectsWithoutCall', id);
    if (call?.outcome === 'skipped') complain('effectsWithoutCall', `${id}, whose call was skipped`);
  }
  for (const [id, { outcome, text }] of calls) {
    if (outcome === 'unknown') unknownCalls += 1;
    if (outcome === 'finished' && !times.has(id)) {
      complain('effectsMissing', `${id} is said to have finished: ${text.slice(0, 200)}`);
    }
    if (outcome === 'failed' && !text.includes('stopped before')) {
      complain('effectsMissing', `${id} could not be done: ${text.slice(0, 200)}`);
    }
  }
  return { findings, unknownCalls };
}

/** Effects by the calls that ask for them; an effect asked for by two calls would show as repeated. */
function effectCallsOf(transcripts: EffectEvidence['transcripts']): Map<string, { outcome: string; text: string }> {
  const calls = new Map<string, { outcome: string; text: string }>();
  for (const entries of transcripts.values()) {
    const outcomes = new Map<string, { outcome: string; text: string }>();
    for (const entry of entries) {
      if (entry.kind === 'message' && entry.message.role === 'tool')
        outcomes.set(entry.message.parts[0].callId, entry.message.parts[0]);
    }
    for (const entry of entries) {
      if (entry.kind !== 'message' || entry.message.role !== 'assistant') continue;
      for (const call of toolCallsOf(entry.message)) {
        const id = effectOf(call);
        if (id !== null) calls.set(id, outcomes.get(call.callId) ?? { outcome: 'none', text: '' });
      }
    }
  }
  return calls;
}
