/**
 * The environment of a sandboxed command goes the usual way, through the programs that put the sandbox up, and not by
 * arguments, which everybody on the machine can read. Only what would change those programs goes by argument.
 */
const actsOutside =
  /^(?:LD_|GLIBC_|MALLOC_|GCONV_|PERL|LOCPATH$|NLSPATH$|BASH|ENV$|IFS$|PS4$|SHELLOPTS$|POSIXLY_CORRECT$)/;

export interface SplitEnvironment {
  readonly outside: Record<string, string>;
  readonly inside: Record<string, string>;
}

export function splitEnvironment(environment: Readonly<Record<string, string>>): SplitEnvironment {
  const split: SplitEnvironment = { outside: {}, inside: {} };
  for (const [name, value] of Object.entries(environment)) {
    split[actsOutside.test(name) ? 'inside' : 'outside'][name] = value;
  }
  return split;
}
