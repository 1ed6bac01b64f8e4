/** Which functions of a command call which, to notice those that start ever more of themselves. */
import { forEachChild, type SyntaxNode, type While } from 'unbash';

export interface CallGraph {
  addFunction(name: string, body: SyntaxNode): void;
  addLoop(loop: While): void;
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
      const command = loop.clause.commands[0]?.command;
      const name = command?.type === 'Command' ? command.name?.value : undefined;
      const isEndless = loop.kind === 'while' ? name === 'true' || name === ':' : name === 'false';
      const { commands } = loop.body;
      hasEndlessLoop ||= isEndless && commands.length > 0 && commands.every(({ background }) => background === true);
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
