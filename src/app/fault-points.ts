/**
 * For crash tests only: a store around which the process kills itself at one named point, as `kill -9` from outside
 * would. A point is `WHEN:VERB` or `WHEN:VERB:N`: the N-th time since the start (by default the first) that this verb
 * of the store, or this verb inside a commit, is used. `before`: nothing of it is stored. `during`: it was handed to the
 * writer, which may or may not have stored it. `after`: it is stored, and nobody has been told.
 */
import type { Store } from '../store/store.ts';

const pattern = /^(?<when>before|during|after):(?<verb>[A-Za-z-]+)(?::(?<nth>[1-9]\d{0,5}))?$/;

interface FaultPoint {
  readonly when: 'before' | 'during' | 'after';
  readonly verb: string;
  readonly nth: number;
}

export function withFaultPoints(store: Store, spec: string): Store {
  const point = parseFaultPoint(spec);
  let seen = 0;
  const isReached = (verbs: readonly string[]): boolean => {
    const before = seen;
    seen += verbs.filter((verb) => verb === point.verb).length;
    return before < point.nth && seen >= point.nth;
  };
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      return (...input: unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(member, target, input);
        return isReached([name, ...verbsWithin(name, input)]) ? dieAt(point, call) : call();
      };
    },
  });
}

export function parseFaultPoint(spec: string): FaultPoint {
  const { when, verb = '', nth = '1' } = pattern.exec(spec)?.groups ?? {};
  if (when === 'before' || when === 'during' || when === 'after') return { when, verb, nth: Number(nth) };
  throw new Error(`${JSON.stringify(spec)} is not a fault point: write before:VERB, during:VERB or after:VERB:N.`);
}

function verbsWithin(name: string, input: readonly unknown[]): string[] {
  const writes: unknown = name === 'commit' ? input[1] : null;
  if (!Array.isArray(writes)) return [];
  return writes.map((write: unknown) =>
    typeof write === 'object' && write !== null && 'verb' in write ? String(write.verb) : '',
  );
}

/** The caller never hears of it: what it would do next must not happen in the moment before the signal arrives. */
async function dieAt(point: FaultPoint, call: () => unknown): Promise<never> {
  if (point.when === 'during') void call();
  if (point.when === 'after') await call();
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => {});
}
