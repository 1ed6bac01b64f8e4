/** The runtimes of a scenario: a primary with two keys, perhaps one to fall back to, perhaps one that names sessions. */
import type { Runtime } from '../../src/models/model.ts';
import { scriptedRuntime } from '../../src/models/scripted-model.ts';
import type { ModelPlan } from './scenario.ts';

const price = { input: 1, cachedInput: 0.1, cacheWrite: 1.25, cacheWriteLong: 2, output: 10 };

export function scriptedRuntimes(plan: ModelPlan): { chain: [Runtime, ...Runtime[]]; titler: Runtime | null } {
  const runtime = (provider: string, keys: number) => {
    const [first = noKey, ...others] = Array.from({ length: keys }, (_, index) => keyOf(`${provider} ${index + 1}`));
    const compressor =
      plan.compressAt === null
        ? null
        : { provider, model: 'script', contextLength: 100_000, thresholdTokens: plan.compressAt };
    return scriptedRuntime({ provider, keys: [first, ...others], price: plan.hasPrice ? price : null, compressor });
  };
  return {
    chain: [runtime('primary', 2), ...(plan.hasFallback ? [runtime('fallback', 1)] : [])],
    titler: plan.namesSessions ? runtime('titler', 0) : null,
  };
}

const noKey = { id: '', secret: '' };

function keyOf(id: string) {
  return { id, secret: `secret of ${id}` };
}
