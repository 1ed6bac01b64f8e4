/** Lets so many in at a time, in the order in which they came. */
export function atMost(count: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (inside < count) inside += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) inside -= 1;
      else next();
    }
  };
}
