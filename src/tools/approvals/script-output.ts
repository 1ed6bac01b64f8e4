/** What a piece of shell code prints, where that can be said without running it; see `known-output.ts`. */
import type { CompoundList, ParsedScript, SyntaxNode } from 'unbash';
import { expandParts, expandToText, expandWords, type ExpandHost } from './expand-word.ts';
import { knownOutput } from './known-output.ts';
import { resolvePath } from './path-kinds.ts';
import { assign, copyState, type ShellState } from './shell-state.ts';

export function outputOfScript(
  script: ParsedScript | CompoundList,
  state: ShellState,
  host: ExpandHost,
): string | null {
  const inner = copyState(state);
  let text = '';
  for (const statement of script.commands) {
    const part = outputOfNode(statement.command, inner, null, host);
    if (part === null) return null;
    text += part;
  }
  return text;
}

/** `isRedirected`: what it would print if its output went nowhere else. */
export function outputOfNode(
  node: SyntaxNode,
  state: ShellState,
  stdin: string | null,
  host: ExpandHost,
  isRedirected = false,
): string | null {
  switch (node.type) {
    case 'Command': {
      let input = stdin;
      for (const redirect of node.redirects) {
        if (redirect.type === 'HereDoc') {
          input =
            redirect.body.parts === undefined ? redirect.body.text : expandParts(redirect.body.parts, state, host);
        } else if (redirect.target === undefined) return null;
        else if (redirect.type === 'HereString') input = `${expandToText(redirect.target, state, host)}\n`;
        else if (redirect.operator === '<') {
          input = state.files.get(resolvePath(state.cwd, expandToText(redirect.target, state, host))) ?? null;
        } else if (!isRedirected && redirect.descriptor === undefined) return '';
      }
      if (node.name === undefined) {
        for (const part of node.prefix) {
          if (part.type === 'Assignment' && part.value.type === 'Word')
            assign(state, part.name, expandToText(part.value, state, host));
        }
        return '';
      }
      const words = node.suffix.flatMap((part) => (part.type === 'Word' ? [part] : []));
      const argv = expandWords([node.name, ...words], state, host);
      if (state.functions.has(argv[0] ?? '')) return null;
      const [program = '', file = '-'] = argv;
      if (program === 'cd' && argv.length === 2) {
        state.cwd = resolvePath(state.cwd, file);
        return '';
      }
      if (program === 'cat' && argv.length === 2 && file !== '-')
        return state.files.get(resolvePath(state.cwd, file)) ?? null;
      // One that reads what this command has written before.
      const written = state.files.get(resolvePath(state.cwd, argv.at(-1) ?? ''));
      if (written !== undefined && argv.length > 1) return knownOutput(argv.slice(0, -1), written, state.cwd);
      return knownOutput(argv, input, state.cwd);
    }
    case 'Pipeline': {
      let text = stdin;
      for (const command of node.commands) text = outputOfNode(command, state, text, host);
      return text;
    }
    case 'AndOr': {
      const parts = node.commands.map((command) => outputOfNode(command, state, stdin, host));
      return parts.includes(null) || node.operators.includes('||') ? null : parts.join('');
    }
    case 'BraceGroup':
    case 'Subshell':
      return outputOfScript(node.body, state, host);
    default:
      return null;
  }
}
