/** The options of a program's arguments, as getopt reads them: clusters, values, long names and their abbreviations. */
export interface ProgramOptions {
  /** Long names may be abbreviated in what was given. */
  has(short: string, long?: string): boolean;
  /** The values of an option, in order. */
  values(short: string, long?: string): readonly string[];
  readonly operands: readonly string[];
}

export interface OptionShape {
  /** Letters of short options that take a value. */
  readonly valued?: string;
  /** Long options that take a value as a word of its own. */
  readonly longValued?: readonly string[];
  /** Options end at the first word that is none: for programs that start others. */
  readonly endsAtOperand?: boolean;
}

export function readOptions(given: readonly string[], shape: OptionShape = {}): ProgramOptions {
  const shorts: { letter: string; value?: string }[] = [];
  const longs: { name: string; value?: string }[] = [];
  const operands: string[] = [];
  for (let index = 0; index < given.length; index++) {
    const word = given[index] ?? '';
    if (word === '--') {
      operands.push(...given.slice(index + 1));
      break;
    }
    if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
      if (equals >= 0) longs.push({ name, value: word.slice(equals + 1) });
      else if (shape.longValued?.some((long) => long.startsWith(name)) === true) {
        longs.push({ name, value: given[++index] ?? '' });
      } else longs.push({ name });
    } else if (word.startsWith('-') && word.length > 1) {
      index += readCluster(word.slice(1), given[index + 1], shape.valued ?? '', shorts);
    } else {
      if (shape.endsAtOperand === true) {
        operands.push(...given.slice(index));
        break;
      }
      operands.push(word);
    }
  }
  const isLong = (name: string, long: string | undefined) => long !== undefined && name !== '' && long.startsWith(name);
  return {
    has: (short, long) =>
      shorts.some(({ letter }) => short.includes(letter)) || longs.some(({ name }) => isLong(name, long)),
    values: (short, long) =>
      [
        ...shorts.filter(({ letter }) => short.includes(letter)),
        ...longs.filter(({ name }) => isLong(name, long)),
      ].flatMap(({ value }) => value ?? []),
    operands,
  };
}

/** How many further words it took. */
function readCluster(
  letters: string,
  next: string | undefined,
  valued: string,
  found: { letter: string; value?: string }[],
): number {
  for (let index = 0; index < letters.length; index++) {
    const letter = letters.charAt(index);
    if (!valued.includes(letter)) {
      found.push({ letter });
      continue;
    }
    const rest = letters.slice(index + 1);
    found.push({ letter, value: rest === '' ? (next ?? '') : rest });
    return rest === '' ? 1 : 0;
  }
  return 0;
}
