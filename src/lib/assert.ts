/**
 * Bugs end loudly. A failed assertion is a mistake in this program, never a mistake of a user, a model or a network:
 * those are values or operational errors of their layer.
 */
export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** For the default branch of an exhaustive switch: a compile error if a case is missing, a loud end if one slips in. */
export function unreachable(value: never): never {
  throw new AssertionFailure(`unreachable: ${JSON.stringify(value)}`);
}

/** The value itself, where its absence would be a bug. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new AssertionFailure(`${what} is missing`);
  return value;
}
