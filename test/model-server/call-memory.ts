/** Which calls were asked for after thinking: some providers want those thoughts back. Bounded; the oldest are forgotten. */
import type { Memory } from './dialect.ts';
import type { AskedCall } from './dialogue.ts';
import { parsedOr } from './json.ts';
import { fingerprint } from './seal.ts';

const callsMax = 20_000;

export function createCallMemory(): Memory & { remember(model: string, call: AskedCall): void } {
  const thought = new Set<string>();
  return {
    isThoughtOf: (model, name, argumentText) => thought.has(callOf(model, name, argumentText)),
    remember(model, call) {
      thought.add(callOf(model, call.name, call.arguments));
      for (const oldest of thought) {
        if (thought.size <= callsMax) break;
        thought.delete(oldest);
      }
    },
  };
}

/** The same call, however its arguments are spaced. */
function callOf(model: string, name: string, argumentText: string): string {
  return fingerprint(JSON.stringify([model, name, parsedOr(argumentText, argumentText)]));
}
