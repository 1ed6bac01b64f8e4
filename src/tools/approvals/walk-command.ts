/**
 * Goes through shell code as a shell would, without running it: folder, variables and functions are kept, every branch is
 * taken, every loop gone through twice, and each program that would start is looked at, with whatever it starts in turn. What
 * is found is added to the findings; nothing is decided here.
 */
import {
  forEachChild,
  type Command,
  type CompoundList,
  type HereDoc,
  type HereString,
  type ParameterExpansionPart,
  type ParsedScript,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { expandParts, expandToText, expandWords, type ExpandHost } from './expand-word.ts';
import { createCallGraph } from './call-graph.ts';
import { codeInSubscript, codeInVariable, substitutionsIn } from './hidden-code.ts';
import { outputOfScript, outputOfNode } from './script-output.ts';
import { resolvePath } from './path-kinds.ts';
import { checkWrite } from './file-rules.ts';
import type { RuleContext } from './rule.ts';
import { createProgramRunner, nothing, type Input } from './run-program.ts';
import { hasGap, unknown } from './shell-gaps.ts';
import { assign, copyState, eachValuation, lookUp, remember, type ShellState, type Value } from './shell-state.ts';

const depthMax = 24;
const stepsMax = 5_000;
const downloads = /^(?:curl|wget|fetch|aria2c|nc|ncat)$/;

/** Something in it is too deep or too much to follow. */
class TooMuch extends Error {}

export function walkCommand(script: ParsedScript, state: ShellState, rules: Omit<RuleContext, 'cwd'>): void {
  const { findings } = rules;
  const graph = createCallGraph();
  try {
    createWalker(rules, graph).script(script, state, nothing, 0);
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    findings.unread.add(error.message);
  }
  const bomb = graph.bomb();
  if (bomb === 'certain') findings.refusals.add('starts itself again and again until nothing else can run');
  else if (bomb === 'possible') findings.asks.add('may start itself again and again');
}

function createWalker(rules: Omit<RuleContext, 'cwd'>, graph: ReturnType<typeof createCallGraph>) {
  const { findings } = rules;
  let steps = 0;
  const programs = createProgramRunner({ rules, step, node: walkNode, script: walkScript });
  const host: ExpandHost = { outputOf: (script, state) => outputOfScript(script, state, host) };

  function step(depth: number): void {
    steps += 1;
    if (depth > depthMax) throw new TooMuch('it is nested too deeply');
    if (steps > stepsMax) throw new TooMuch('it does too many things');
  }

  function walkScript(
    script: { readonly commands: readonly Statement[] },
    state: ShellState,
    input: Input,
    depth: number,
  ) {
    for (const statement of script.commands) {
      walkNode(statement.command, statement.background === true ? copyState(state) : state, input, depth);
    }
  }

  /** The scripts in substitutions anywhere below, but for nested commands, which are walked themselves. */
  function walkSubstitutions(node: SyntaxNode, state: ShellState, depth: number): void {
    const visit = (child: SyntaxNode): void => {
      if (child.type === 'ParameterExpansion') walkExpansion(child, state, depth);
      if (child.type === 'Script') walkScript(child, copyState(state), nothing, depth + 1);
      else if (child.type !== 'Statement' && child.type !== 'CompoundList') forEachChild(child, visit);
    };
    forEachChild(node, visit);
  }

  /** What the tree does not show of an expansion. */
  function walkExpansion(
    { text, parameter, operation }: ParameterExpansionPart,
    state: ShellState,
    depth: number,
  ): void {
    // The parser ends a pattern at the first slash, also inside a substitution.
    if (operation?.type === 'Replace' && /\$\(|`/.test(text))
      programs.text(substitutionsIn(text.slice(2, -1)), copyState(state), depth + 1);
    if (operation?.type !== 'Transform' || operation.operand.value !== 'P') return;
    const value = lookUp(state, parameter);
    if (typeof value === 'string') programs.text(substitutionsIn(value), copyState(state), depth + 1);
  }

  /** A test evaluates numbers, and names of variables with their subscripts. */
  function walkTest(node: SyntaxNode, state: ShellState, depth: number): void {
    const visit = (child: SyntaxNode): void => {
      if (child.type !== 'Word') return forEachChild(child, visit);
      const text = codeInSubscript(expandToText(child, state, host));
      if (text !== null) programs.text(text, copyState(state), depth + 1);
    };
    forEachChild(node, visit);
  }

  function branch(state: ShellState, work: () => void): void {
    const before = state.isConditional;
    state.isConditional = true;
    work();
    state.isConditional = before;
  }

  function loop(body: CompoundList, state: ShellState, input: Input, depth: number): void {
    branch(state, () => {
      walkScript(body, state, input, depth);
      walkScript(body, state, input, depth);
    });
  }

  function walkNode(node: SyntaxNode, state: ShellState, input: Input, depth: number): void {
    step(depth);
    switch (node.type) {
      case 'Command':
        return walkSimple(node, state, input, depth);
      case 'Pipeline': {
        let before = input;
        let isDownload = false;
        node.commands.forEach((command, index) => {
          walkNode(command, node.commands.length > 1 ? copyState(state) : state, before, depth);
          isDownload ||= command.type === 'Command' && downloads.test(command.name?.value ?? '');
          if (index + 1 === node.commands.length) return;
          const text = outputOfNode(command, copyState(state), before.text, host);
          before = { text, from: isDownload ? 'a download' : 'another program' };
        });
        return;
      }
      case 'AndOr': {
        const [first, ...rest] = node.commands;
        if (first !== undefined) walkNode(first, state, input, depth);
        branch(state, () => rest.forEach((command) => walkNode(command, state, input, depth)));
        return;
      }
      case 'If':
        walkScript(node.clause, state, input, depth);
        branch(state, () => {
          walkScript(node.then, state, input, depth);
          for (const { clause, then } of node.elif) {
            walkScript(clause, state, input, depth);
            walkScript(then, state, input, depth);
          }
          if (node.else !== undefined) walkScript(node.else, state, input, depth);
        });
        return;
      case 'For':
      case 'Select': {
        for (const word of node.wordlist ?? []) walkSubstitutions(word, state, depth);
        const values =
          node.wordlist === undefined ? (state.positional ?? [unknown]) : expandWords(node.wordlist, state, host);
        if (values.length === 0) state.variables.delete(node.name.value);
        else branch(state, () => values.forEach((value) => assign(state, node.name.value, value)));
        return loop(node.body, state, input, depth);
      }
      case 'While':
        walkScript(node.clause, state, input, depth);
        graph.addLoop(node);
        return loop(node.body, state, input, depth);
      case 'ArithmeticFor':
        walkSubstitutions(node, state, depth);
        graph.addLoop(node);
        return loop(node.body, state, input, depth);
      case 'Case':
        walkSubstitutions(node.word, state, depth);
        for (const item of node.items) {
          for (const pattern of item.pattern) walkSubstitutions(pattern, state, depth);
          branch(state, () => walkScript(item.body, state, input, depth));
        }
        return;
      case 'Subshell':
        return walkScript(node.body, copyState(state), input, depth);
      case 'BraceGroup':
        return walkScript(node.body, state, input, depth);
      case 'CompoundList':
        return walkScript(node, state, input, depth);
      case 'Redirected':
        return walkNode(node.command, state, walkRedirects(node.redirects, state, input, depth), depth);
      case 'Function':
        state.functions.set(node.name.value, node.body);
        graph.addFunction(node.name.value, node.body);
        return walkNode(node.body, { ...copyState(state), positional: null, isConditional: true }, nothing, depth + 1);
      case 'Coproc':
        return walkNode(node.body, copyState(state), nothing, depth + 1);
      case 'TestCommand':
        walkTest(node, state, depth);
        return walkSubstitutions(node, state, depth);
      default:
        // Arithmetic runs nothing but what is substituted into them.
        return walkSubstitutions(node, state, depth);
    }
  }

  /** What it reads after its redirections. */
  function walkRedirects(redirects: readonly Redirection[], state: ShellState, input: Input, depth: number): Input {
    let read = input;
    for (const redirect of redirects) {
      walkSubstitutions(redirect, state, depth);
      if (redirect.type === 'HereDoc') {
        const { body } = redirect;
        const text = body.parts === undefined ? body.text : expandParts(body.parts, state, host);
        read = readFrom(redirect, redirect.operator === '<<-' ? text.replace(/^\t+/gm, '') : text, read, state);
      } else if (redirect.target !== undefined) {
        const target = expandToText(redirect.target, state, host);
        if (redirect.type === 'HereString') read = readFrom(redirect, `${target}\n`, read, state);
        else if (redirect.operator === '<&' && state.files.has(`/dev/fd/${target}`))
          read = { text: state.files.get(`/dev/fd/${target}`) ?? null, from: 'a file' };
        else if (redirect.operator === '<') {
          const path = resolvePath(state.cwd, target);
          read = { text: state.files.get(path) ?? null, from: 'a file', path };
        } else if (!/^(?:\d+-?|-)$/.test(target)) checkWrite(target, { ...rules, cwd: state.cwd });
      }
    }
    return read;
  }

  function walkSimple(command: Command, state: ShellState, input: Input, depth: number): void {
    walkSubstitutions(command, state, depth);
    const source = [command.name, ...command.prefix, ...command.suffix].map((part) => textOf(part)).join(' ');
    const several = [...state.variables].filter(([name, values]) => values.length > 1 && source.includes(name));
    if (several.length === 0) return runSimple(command, state, input, depth);
    for (const chosen of eachValuation(
      state,
      several.map(([name]) => name),
    )) {
      const names = new Set(several.map(([name]) => name));
      runSimple(command, chosen, input, depth);
      for (const [name, values] of chosen.variables) {
        if (names.has(name) || values === state.variables.get(name)) continue;
        branch(state, () => values.forEach((value) => assign(state, name, value)));
      }
      state.cwd = chosen.cwd;
    }
  }

  function runSimple(command: Command, state: ShellState, input: Input, depth: number): void {
    const read = walkRedirects(command.redirects, state, input, depth);
    const assignments = command.prefix.filter((part) => part.type === 'Assignment');
    if (command.name === undefined) {
      for (const { name, value, append, index } of assignments) {
        const before = append === true || index !== undefined ? unknown : null;
        const given = valueOf(value, state);
        assign(state, name, before ?? given);
        const text = typeof given === 'string' ? codeInVariable(name, given) : null;
        if (text !== null) programs.text(text, copyState(state), depth + 1);
      }
      return;
    }
    const inner = assignments.length === 0 ? state : copyState(state);
    for (const { name, value } of assignments) {
      assign({ ...inner, isConditional: false }, name, valueOf(value, state));
      if (
        /^(?:LD_\w+|DYLD_\w+|BASH_ENV|ENV|PATH|IFS|PROMPT_COMMAND|PYTHONSTARTUP|NODE_OPTIONS|PERL5OPT|RUBYOPT)$/.test(
          name,
        )
      ) {
        findings.risks.add(`changes how programs start (${name})`);
      }
      const given = valueOf(value, state);
      const text = typeof given === 'string' ? codeInVariable(name, given) : null;
      if (text !== null) programs.text(text, copyState(state), depth + 1);
    }
    const name = expandWords([command.name], inner, host);
    const given = command.args.flatMap((part): string[] => {
      if (part.type === 'Word') return expandWords([part], inner, host);
      const value = valueOf(part.value, inner);
      if (typeof value !== 'string') assign(inner, part.name, value);
      return [`${part.name}=${typeof value === 'string' ? value : unknown}`];
    });
    rememberOutput(command, inner, read);
    programs.run([...name, ...given], inner, read, depth + 1);
    if (inner !== state) keepChanges(inner, state, new Set(assignments.map((part) => part.name)));
  }

  /** What it writes into a file that may be run later. */
  function rememberOutput(command: Command, state: ShellState, input: Input): void {
    const target = command.redirects.find((part) => part.type === 'Redirect' && />/.test(part.operator));
    if (target?.type !== 'Redirect' || target.target === undefined) return;
    const path = resolvePath(state.cwd, expandToText(target.target, state, host));
    const text = outputOfNode(command, copyState(state), input.text, host, true);
    const before = target.operator === '>>' ? (state.files.get(path) ?? '') : '';
    if (text !== null && !hasGap(path)) remember(state, path, before + text);
  }

  function valueOf(
    value: Word | { readonly type: 'ArrayValue'; readonly elements: readonly Word[] },
    state: ShellState,
  ): Value {
    if (value.type === 'ArrayValue') return expandWords(value.elements, state, host);
    const text = expandToText(value, state, host);
    const home = state.variables.get('HOME')?.[0];
    return typeof home === 'string' && value.parts === undefined ? text.replace(/(?<=:)~(?=\/|:|$)/g, home) : text;
  }

  return { script: walkScript };
}

/** Variables before a command are gone after it; what it did to others is not. */
function keepChanges(from: ShellState, to: ShellState, passing: ReadonlySet<string>): void {
  to.cwd = from.cwd;
  for (const [name, values] of from.variables) if (!passing.has(name)) to.variables.set(name, values);
}

/** A here-document for another descriptor is what is read there. */
function readFrom({ descriptor }: HereDoc | HereString, text: string, before: Input, state: ShellState): Input {
  const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : 0;
  if (number === 0) return { text, from: 'a file' };
  remember(state, `/dev/fd/${number}`, text);
  return before;
}

function textOf(part: SyntaxNode | undefined): string {
  if (part === undefined) return '';
  if (part.type === 'Word' || part.type === 'Assignment') return part.text;
  if (part.type === 'HereDoc') return part.body.text;
  return part.type === 'Redirect' || part.type === 'HereString' ? (part.target?.text ?? '') : '';
}
