/** What a program starts: another one, shell code, or code in another language. */

export type Started =
  /** `cwd`: where, if not here. */
  | { readonly kind: 'argv'; readonly argv: readonly string[]; readonly cwd?: string }
  /** Shell code. `isHere`: in this very shell. */
  | {
      readonly kind: 'code';
      readonly text: string;
      readonly isHere?: true;
      readonly positional?: readonly string[];
      /** `$0`. */
      readonly name?: string;
    }
  /** Shell code in a file. */
  | { readonly kind: 'code-file'; readonly path: string; readonly isHere?: true }
  | { readonly kind: 'code-from-stdin' }
  /** Code in another language, in a file (null: in an argument or from standard input). */
  | { readonly kind: 'foreign'; readonly language: string; readonly path: string | null };

export interface StartContext {
  readonly cwd: string;
  /** What it reads, if that is known; null if not. */
  readonly stdin: string | null;
}

export function program(argv: readonly string[], cwd?: string): Started[] {
  return argv.length === 0 ? [] : [{ kind: 'argv', argv, ...(cwd === undefined ? {} : { cwd }) }];
}

export function code(text: string): Started[] {
  return text.trim() === '' ? [] : [{ kind: 'code', text }];
}
