/** Which functions of a command call which, to notice those that start ever more of themselves. */
import { forEachChild, type ArithmeticFor, type Statement, type SyntaxNode, type While } from 'unbash';

export interface CallGraph {
  addFunction(name: string, body: SyntaxNode): void;
  addLoop(loop: While | ArithmeticFor): void;
  /**
   * A function that starts itself in the background or beside a pipe, or a loop that never waits. `possible`: only under a
   * condition, so it may well end.
   */
  bomb(): 'certain' | 'possible' | null;
}

interface Calls {
  readonly all: Set<string>;
  /** Those that run on beside the one that starts them. */
  readonly beside: Map<string, 'certain' | 'possible'>;
}

export function createCallGraph(): CallGraph {
  const functions = new Map<string, Calls>();
  let hasEndlessLoop = false;

  function reaches(from: string, to: string, seen = new Set<string>()): boolean {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(functions.get(from)?.all ?? [])].some((next) => reaches(next, to, seen));
  }

  return {
    addFunction(name, body) {
      const calls: Calls = { all: new Set(), beside: new Map() };
      collect(body, { isBeside: false, isConditional: false }, calls);
      functions.set(name, calls);
    },
    addLoop(loop) {
      const { commands } = loop.body;
      hasEndlessLoop ||= isEndless(loop) && commands.length > 0 && commands.every(isBeside);
    },
    bomb() {
      if (hasEndlessLoop) return 'certain';
      const found = [...functions].flatMap(([name, { beside }]) =>
        [...beside].flatMap(([next, how]) => (reaches(next, name) ? [how] : [])),
      );
      return found.includes('certain') ? 'certain' : (found[0] ?? null);
    },
  };
}

function isEndless(loop: While | ArithmeticFor): boolean {
  if (loop.type === 'ArithmeticFor') return loop.test === undefined;
  const command = loop.clause.commands[0]?.command;
  if (loop.kind !== 'while') return command?.type === 'Command' && command.name?.value === 'false';
  if (command?.type === 'ArithmeticCommand') return /^\s*[1-9]\d*\s*$/.test(command.body);
  if (command?.type !== 'Command') return false;
  const [name, ...words] = [command.name, ...command.args].map((part) => (part?.type === 'Word' ? part.value : ''));
  return (
    name === 'true' ||
    name === ':' ||
    (/^(?:\[|test)$/.test(name ?? '') && words.filter((word) => word !== ']').length === 1)
  );
}

/** It does not wait for what it starts. */
function isBeside({ background, command }: Statement): boolean {
  if (background === true) return true;
  return command.type === 'Subshell' && command.body.commands.every(isBeside);
}

const conditional = new Set(['If', 'For', 'While', 'Case', 'Select', 'ArithmeticFor']);

function collect(
  node: SyntaxNode,
  way: { readonly isBeside: boolean; readonly isConditional: boolean },
  calls: Calls,
): void {
  if (node.type === 'Command' && node.name !== undefined) {
    const name = node.name.value;
    calls.all.add(name);
    if (way.isBeside && calls.beside.get(name) !== 'certain') {
      calls.beside.set(name, way.isConditional ? 'possible' : 'certain');
    }
  }
  const startsBeside =
    (node.type === 'Statement' && node.background === true) || (node.type === 'Pipeline' && node.commands.length > 1);
  const inner = {
    isBeside: way.isBeside || startsBeside,
    isConditional: way.isConditional || conditional.has(node.type),
  };
  forEachChild(node, (child) => collect(child, inner, calls));
}
