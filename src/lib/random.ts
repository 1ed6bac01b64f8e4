/** Randomness as a dependency: real in production, seeded in tests and simulations. */
export interface RandomSource {
  /** Uniform in [0, 1). Not for secrets. */
  float(): number;
  bytes(count: number): Uint8Array;
}

export const systemRandom: RandomSource = {
  float: () => Math.random(),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
};

/** Mulberry32: small, fast, and the same everywhere for the same seed. */
export function seededRandom(seed: number): RandomSource {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  return {
    float: () => next() / 2 ** 32,
    bytes: (count) => Uint8Array.from({ length: count }, () => next() & 0xff),
  };
}
