/**
 * A program that would start, with whatever it starts in turn: functions and shell code are gone through, rules applied, files
 * that it would run noted. The other half of `walk-command.ts`, which knows the code around it.
 */
import type { SyntaxNode, Statement } from 'unbash';
import { readShellWithGaps } from './parse-shell.ts';
import { resolvePath } from './path-kinds.ts';
import { codeInVariable, codeInWords } from './hidden-code.ts';
import { applyRule, hasRule, namesWithRules } from './program-rules.ts';
import { isQuiet } from './quiet-programs.ts';
import type { RuleContext } from './rule.ts';
import { runBuiltin } from './shell-builtins.ts';
import { couldBe, hasGap, unknown } from './shell-gaps.ts';
import { copyState, forgetAll, type ShellState } from './shell-state.ts';
import { startedBy } from './started-by-program.ts';

/** What a program reads. */
export interface Input {
  /** Null: not known. */
  readonly text: string | null;
  readonly from: 'nothing' | 'a file' | 'another program' | 'a download';
  /** Of the file, absolute, where it is one. */
  readonly path?: string;
}

export const nothing: Input = { text: null, from: 'nothing' };

const stdinPath = /^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/;
/** A script whose first line names no other language. */
const shellScript = /^(?!#!)|^#!.*\b(?:ba|da|z|k)?sh\b/;

/** Where these are arguments of a program that nobody knows, they are what it starts. */
function isHarmful(word: string): boolean {
  return /^(?:rm|grm|rimraf|shred|dd|mkfs(?:\.\w+)?|wipefs|blkdiscard|chmod|chown|mv|find|sh|bash|eval)$/.test(
    word.split('/').at(-1) ?? '',
  );
}

/** `export PAGER=…`, `env PAGER=…`. */
function codeInAssignments(name: string, given: readonly string[]): string[] {
  if (!/^(?:export|declare|typeset|readonly|local|env|sudo)$/.test(name)) return [];
  return given.flatMap((word) => {
    const [, variable, value] = /^([\w%]+)=(.*)$/s.exec(word) ?? [];
    return variable === undefined || value === undefined ? [] : (codeInVariable(variable, value) ?? []);
  });
}

/** Of the places where one program could start another. */
const tailsMax = 4;

export interface ProgramWalk {
  readonly rules: Omit<RuleContext, 'cwd'>;
  /** Counts, and ends what is too much. */
  step(depth: number): void;
  node(node: SyntaxNode, state: ShellState, input: Input, depth: number): void;
  script(script: { readonly commands: readonly Statement[] }, state: ShellState, input: Input, depth: number): void;
}

export interface ProgramRunner {
  run(argv: readonly string[], state: ShellState, input: Input, depth: number): void;
  /** Shell code. */
  text(text: string, state: ShellState, depth: number): void;
}

export function createProgramRunner(walk: ProgramWalk): ProgramRunner {
  const { rules } = walk;
  const { findings } = rules;
  /** How often each function is being gone through now. */
  const calls = new Map<string, number>();

  function runProgram(argv: readonly string[], state: ShellState, input: Input, depth: number): void {
    walk.step(depth);
    const [word, ...given] = argv;
    if (word === undefined || word === '') return;
    const name = (word.split('/').at(-1) ?? '').toLowerCase();
    if (/[^\x21-\x7e\uE000-\uE002]/.test(name)) findings.asks.add("the program's name has unusual letters in it");
    if (word.includes('/') && !hasGap(word)) runFile(resolvePath(state.cwd, word), given, state, depth);
    callFunction(name, given, state, input, depth);
    callAlias(word, given, state, depth);
    if (hasGap(name)) {
      findings.risks.add('the program is known only when it runs');
      findings.programs.add('?');
    }
    // What a variable holds may be nothing; what a pattern stands for is some program that there is.
    const names = hasGap(name) ? couldBe(name.replaceAll(unknown, ''), namesWithRules()) : [name];
    for (const candidate of names) runNamed(candidate, given, state, input, depth);
  }

  /** A program by its path: perhaps a script that this very command has written. */
  function runFile(path: string, given: readonly string[], state: ShellState, depth: number): void {
    findings.files.add(path);
    const text = state.files.get(path);
    if (text !== undefined && shellScript.test(text))
      walkText(text, { ...copyState(state), positional: given }, depth + 1);
  }

  function callFunction(name: string, given: readonly string[], state: ShellState, input: Input, depth: number): void {
    const body = state.functions.get(name);
    const active = calls.get(name) ?? 0;
    // A second time for what it hands on to itself; further ones show nothing new.
    if (body === undefined || active === 2) return;
    calls.set(name, active + 1);
    walk.node(body, { ...copyState(state), positional: given }, input, depth + 1);
    calls.set(name, active);
  }

  function callAlias(name: string, given: readonly string[], state: ShellState, depth: number): void {
    const text = state.aliases.get(name);
    if (text === undefined) return;
    const inner = { ...copyState(state), positional: given };
    // `alias ls='ls --color'` is that program.
    inner.aliases.delete(name);
    walkText(`${text} "$@"`, inner, depth + 1);
  }

  /** One of which nothing is known may be one that starts what follows. */
  function runTail(given: readonly string[], state: ShellState, input: Input, depth: number): void {
    const starts = given.flatMap((word, index) => (isHarmful(word) && index + 1 < given.length ? [index] : []));
    for (const start of starts.slice(0, tailsMax)) runProgram(given.slice(start), copyState(state), input, depth + 1);
    const texts = given.filter((word) => isHarmful(/^\s*(\S+)\s/.exec(word)?.[1] ?? ''));
    for (const text of texts.slice(0, tailsMax)) walkText(text, copyState(state), depth + 1);
  }

  function runNamed(name: string, given: readonly string[], state: ShellState, input: Input, depth: number): void {
    if (!isQuiet(name, given) && !state.functions.has(name)) findings.programs.add(name);
    runBuiltin(name, given, state, input.text);
    applyRule(name, given, { ...rules, cwd: state.cwd });
    if (/^(?:npm|pnpm|yarn|bun)$/.test(name)) findings.files.add(resolvePath(state.cwd, 'package.json'));
    for (const text of [...codeInWords(name, given), ...codeInAssignments(name, given)])
      walkText(text, copyState(state), depth + 1);
    const all = startedBy(name, given, { cwd: state.cwd, stdin: input.text });
    if (!isQuiet(name, given) && !hasRule(name) && !state.functions.has(name)) runTail(given, state, input, depth);
    for (const started of all) {
      switch (started.kind) {
        case 'argv':
          runProgram(
            started.argv,
            name === 'exec' ? state : { ...copyState(state), cwd: resolvePath(state.cwd, started.cwd ?? '.') },
            input,
            depth + 1,
          );
          break;
        case 'code': {
          const inner = started.isHere === true ? state : copyState(state);
          if (started.positional !== undefined) inner.positional = started.positional;
          if (started.name !== undefined) inner.name = started.name;
          walkText(started.text, inner, depth + 1);
          break;
        }
        case 'code-file':
          if (stdinPath.test(resolvePath(state.cwd, started.path))) walkStdin(state, input, depth);
          else walkFile(resolvePath(state.cwd, started.path), started.isHere === true ? state : null, state, depth);
          break;
        case 'code-from-stdin':
          walkStdin(state, input, depth);
          break;
        case 'foreign':
          if (started.path === null) findings.risks.add(`runs ${started.language} code that nobody has read`);
          else if (!hasGap(started.path)) findings.files.add(started.path);
          break;
      }
    }
  }

  function walkFile(path: string, here: ShellState | null, state: ShellState, depth: number): void {
    const text = state.files.get(path);
    if (!hasGap(path) && !path.startsWith('/dev/fd/')) findings.files.add(path);
    if (text !== undefined) return walkText(text, here ?? copyState(state), depth + 1);
    findings.risks.add('runs shell code that nobody has read');
    if (here !== null) forgetAll(here);
  }

  function walkStdin(state: ShellState, input: Input, depth: number): void {
    if (input.path !== undefined && !hasGap(input.path)) findings.files.add(input.path);
    if (input.text !== null) return walkText(input.text, copyState(state), depth + 1);
    if (input.from === 'a download') findings.risks.add('runs what it downloads');
    else findings.risks.add(`runs shell code from ${input.from === 'nothing' ? 'its input' : input.from}`);
  }

  function walkText(text: string, state: ShellState, depth: number): void {
    walk.step(depth);
    if (hasGap(text)) findings.risks.add('runs shell code that is known only when it runs');
    const read = readShellWithGaps(text);
    if (read.ok) walk.script(read.script, state, nothing, depth + 1);
    else if (!hasGap(text)) findings.unread.add(read.problem);
  }

  return { run: runProgram, text: walkText };
}
