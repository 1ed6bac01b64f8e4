/**
 * Reads shell code with a real parser. What is not whole and unambiguous (errors anywhere in it, also in substitutions; a
 * here-document without its end; bytes that a shell treats in ways of its own) is not read at all: a half understood
 * command is worse than none. Texts inside a tree may hold gaps, see `shell-gaps.ts`.
 */
import { forEachChild, parse, type ParsedScript, type SyntaxNode } from 'unbash';
import { hasGap } from './shell-gaps.ts';

/** A longer one belongs into a file. */
export const commandCharsMax = 100_000;
const nodesMax = 50_000;

export type ShellRead =
  | { readonly ok: true; readonly script: ParsedScript }
  | { readonly ok: false; readonly problem: string };

/** What a person or a model wrote. */
export function readShell(text: string): ShellRead {
  if (hasGap(text)) return { ok: false, problem: 'it has characters for private use in it' };
  return readShellWithGaps(text);
}

/** Code that was put together here out of what is known. */
export function readShellWithGaps(text: string): ShellRead {
  if (text.length > commandCharsMax) return { ok: false, problem: 'it is too long' };
  if (text.includes('\0')) return { ok: false, problem: 'it has a zero byte in it' };
  if (!text.isWellFormed()) return { ok: false, problem: 'it is no valid text' };
  try {
    const script = parse(text);
    const problem = problemIn(script);
    return problem === null ? { ok: true, script } : { ok: false, problem };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : 'the parser failed' };
  }
}

function problemIn(script: ParsedScript): string | null {
  let problem: string | null = null;
  let nodes = 0;
  const visit = (node: SyntaxNode): void => {
    if (problem !== null) return;
    nodes += 1;
    if (nodes > nodesMax) problem = 'it has too many parts';
    else if (node.type === 'Script' && node.errors?.[0] !== undefined) {
      problem = node.errors?.[0]?.message ?? 'it is not complete';
    } else if (node.type === 'HereDoc' && node.closing === undefined) problem = 'a here-document has no end';
    else forEachChild(node, visit);
  };
  visit(script);
  return problem;
}
