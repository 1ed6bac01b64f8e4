/**
 * Finds what a TypeScript file imports, without a parser: it splits the text into words, strings and punctuation,
 * leaving out comments, and looks for the few shapes an import can have: type-only ones count, and so do
 * `getBuiltinModule('node:x')`, `import.meta.resolve('x')` and source files named by `new URL('./x.ts', import.meta.url)`.
 * Computed names are not seen.
 */
export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Gone at run time: `import type`, `export type`, `typeof import()`. */
  readonly typeOnly: boolean;
}

interface Token {
  readonly kind: 'word' | 'string' | 'mark';
  readonly text: string;
  readonly line: number;
}

/** Of an object, and yet imports. */
const methods = new Set(['getBuiltinModule', 'resolve']);

export function scanImports(source: string): Import[] {
  const tokens = tokenize(source);
  const found: Import[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const at = (offset: number) => tokens[index + offset];
    if (at(0)?.kind !== 'word' || (at(-1)?.text === '.' && !methods.has(at(0)?.text ?? ''))) continue;
    const typeOnly = at(1)?.text === 'type' && at(2)?.text !== 'from' && at(2)?.text !== ',';
    const specifier = specifierAt(tokens, index, typeOnly);
    if (specifier === undefined) continue;
    found.push({ specifier: specifier.text, line: specifier.line, typeOnly: typeOnly || at(-1)?.text === 'typeof' });
  }
  return found;
}

/** The string that the import beginning at this word names, if one does. */
function specifierAt(tokens: readonly Token[], index: number, typeOnly: boolean): Token | undefined {
  const next = tokens[index + 1];
  const called = next?.text === '(' && tokens[index + 2]?.kind === 'string' ? tokens[index + 2] : undefined;
  switch (tokens[index]?.text) {
    case 'import':
      if (next?.kind === 'string') return next;
      return next?.text === '(' ? called : afterFrom(tokens, index + 1);
    case 'export': {
      const first = tokens[index + (typeOnly ? 2 : 1)]?.text;
      return first === '{' || first === '*' ? afterFrom(tokens, index + 1) : undefined;
    }
    case 'URL': {
      const base = tokens.slice(index + 3, index + 9).map(({ text }) => text);
      return base.join('') === ',import.meta.url' && /\.tsx?$/.test(called?.text ?? '') ? called : undefined;
    }
    case 'resolve': {
      const before = tokens.slice(Math.max(0, index - 4), index).map(({ text }) => text);
      return before.join('') === 'import.meta.' ? called : undefined;
    }
    case 'require':
    case 'getBuiltinModule':
      return called;
    default:
      return undefined;
  }
}

/** `… from 'x'`, as long as only a list of names stands between. */
function afterFrom(tokens: readonly Token[], start: number): Token | undefined {
  for (let index = start; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined || (token.kind === 'mark' && !'{},*'.includes(token.text))) return undefined;
    if (token.text === 'from' && tokens[index + 1]?.kind === 'string') return tokens[index + 1];
  }
  return undefined;
}

/** One step of the lexer: what stands at this position, tried in this order. Templates and regular expressions below. */
const tokenPattern =
  /(?<gap>\s+|\/\/.*|\/\*[^]*?\*\/)|(?<string>'(?:\\[^]|[^'\\\n])*'?|"(?:\\[^]|[^"\\\n])*"?)|(?<word>[\p{L}\p{N}_$#]+)|(?<mark>[^])/uy;
const regexPattern = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const templatePattern = /(?:\\[^]|\$(?!\{)|[^`\\$])*(?<end>`|\$\{)?/y;
const wordsBeforeRegex = new Set(['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'await', 'yield']);

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  /** For each open template the number of braces open inside its `${`. */
  const templates: number[] = [];
  let position = 0;
  let line = 1;

  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position;
    const match = pattern.exec(source);
    if (match === null) return null;
    position += match[0].length;
    line += match[0].split('\n').length - 1;
    return match;
  };
  const takeTemplate = () => {
    if (take(templatePattern)?.groups?.['end'] === '${') templates.push(0);
  };

  while (position < source.length) {
    const startLine = line;
    if (source[position] === '/' && regexMayFollow(tokens.at(-1)) && take(regexPattern) !== null) continue;
    const match = take(tokenPattern);
    const { string, word, mark } = match?.groups ?? {};
    if (string !== undefined) tokens.push({ kind: 'string', text: string.slice(1, -1), line: startLine });
    if (word !== undefined) tokens.push({ kind: 'word', text: word, line: startLine });
    if (mark === undefined) continue;
    const open = templates.at(-1);
    if (mark === '`') {
      takeTemplate();
    } else if (mark === '}' && open === 0) {
      templates.pop();
      takeTemplate();
    } else {
      if (open !== undefined && mark === '{') templates[templates.length - 1] = open + 1;
      if (open !== undefined && mark === '}') templates[templates.length - 1] = open - 1;
      tokens.push({ kind: 'mark', text: mark, line: startLine });
    }
  }
  return tokens;
}

/** After a value `/` divides; anywhere else it begins a regular expression. */
function regexMayFollow(previous: Token | undefined): boolean {
  if (previous === undefined) return true;
  if (previous.kind === 'word') return wordsBeforeRegex.has(previous.text);
  return previous.kind === 'mark' && !')]}'.includes(previous.text);
}
