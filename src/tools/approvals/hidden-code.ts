/**
 * Shell code that stands where others see data: in variables that programs run, in prompts, and in subscripts, which a shell
 * expands again wherever it wants a number or a name. Each function gives code that does the same, to be gone through like any
 * other. Pure.
 */

/** Programs run what is in these. */
const codeVariable =
  /^(?:GIT_\w*(?:COMMAND|EDITOR|PAGER|PROXY|ASKPASS|SSH|DIFF)|GIT_CONFIG_VALUE_\d+|EDITOR|VISUAL|(?:MAN)?PAGER|BROWSER|PROMPT_COMMAND|PS[0-4]|LESSOPEN)$/;
/** Of these, every word may be the name of a variable, or a number. */
const evaluating = new Set(
  'let read unset test [ declare typeset local export readonly mapfile readarray getopts wait'.split(' '),
);

/** What is run because a variable has this value; null for other variables. */
export function codeInVariable(name: string, value: string): string | null {
  if (codeVariable.test(name)) return value.replace(/^[!|]/, '');
  if (/^BASH_FUNC_.+%%$/.test(name)) return `f${value}`;
  if (name === 'BASH_ENV' || (name === 'ENV' && value.includes('/'))) return `. '${value.replaceAll("'", `'\\''`)}'`;
  return codeInSubscript(value);
}

/** Of the arguments of a shell's own command. */
export function codeInWords(name: string, given: readonly string[]): string[] {
  const words = name === 'printf' && given[0] === '-v' ? given.slice(1, 2) : evaluating.has(name) ? given : [];
  return words.flatMap((word) => codeInSubscript(word) ?? []);
}

export function codeInSubscript(text: string): string | null {
  const at = text.indexOf('[');
  return at >= 0 && /\$\(|`/.test(text.slice(at)) ? substitutionsIn(text) : null;
}

/** Code in which happens what is substituted in this text: a here-document is expanded and does nothing else. */
export function substitutionsIn(text: string): string {
  const mark = `END${'_'.repeat(1 + Math.max(0, ...[...text.matchAll(/_+/g)].map(([run]) => run.length)))}`;
  return `: <<${mark}\n${text}\n${mark}\n`;
}
