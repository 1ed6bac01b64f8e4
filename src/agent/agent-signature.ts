/**
 * Tells whether a live agent may be used again: equal signatures, equal agents. A pure function of the inputs declared
 * `rebuild`, all of them and nothing else; no clock, no randomness, no order of keys. No secret can be read from it, nor
 * from the text that it is a hash of.
 */
import { rebuildKeys, secretKeys, type RebuildInputs } from './agent-inputs.ts';

export function agentSignature(inputs: RebuildInputs): string {
  return sha256(signedText(inputs));
}

/** What the signature is a hash of; for a log that says why an agent was built anew. */
export function signedText(inputs: RebuildInputs): string {
  return canonicalJson(Object.fromEntries(rebuildKeys.map((key) => [key, inputs[key]])));
}

/** Two values have the same text exactly if they hold the same. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (inner === null || inner === undefined) return inner;
    if (isSecret(key)) return sha256(canonicalJson(inner));
    if (typeof inner !== 'object' || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function isSecret(key: string): boolean {
  return secretKeys.some((name) => key === name || key.endsWith(`.${name}`));
}

/** Over the whole text: tokens of one issuer begin alike. Loaded late, since it costs a start several milliseconds. */
function sha256(text: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', text, 'hex');
}
