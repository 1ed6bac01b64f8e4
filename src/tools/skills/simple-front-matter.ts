/**
 * Front matter that is nothing but `key: words` lines, read without the YAML parser: it would be most of the cost of a
 * short start, and nearly all skills are written so. Null for anything that YAML could read in another way. Pure.
 */
const linePattern = /^([a-z][a-z-]*): ([A-Za-z][\x20-\x7e]*)$/;
/** What ends a plain scalar or makes it something else. */
const oddPattern = /: | #|:$| $/;
const constants: ReadonlySet<string> = new Set(['true', 'false', 'null']);

export function simpleFrontMatter(text: string): Readonly<Record<string, string>> | null {
  const values: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const [, key, value] = linePattern.exec(line) ?? [];
    if (key === undefined || value === undefined || Object.hasOwn(values, key)) return null;
    if (oddPattern.test(value) || constants.has(value.toLowerCase())) return null;
    values[key] = value;
  }
  return values;
}
