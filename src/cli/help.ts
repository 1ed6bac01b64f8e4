/** Help texts, made from the table of commands. */
import { globalOptions, nextWords, programOptions, type CommandSpec, type OptionSpec } from './arguments.ts';

const homeNote = 'Everything is kept in $TALARIA_HOME, by default ~/.talaria.';

export function helpText(commands: readonly CommandSpec[], path: readonly string[]): string {
  const command = commands.find((candidate) => candidate.path.join(' ') === path.join(' '));
  const below = commandsBelow(commands, path);
  const options = [...(command?.options ?? []), ...globalOptions, ...(path.length === 0 ? programOptions : [])];
  return [
    usage(path, command, below.length > 0),
    command === undefined ? '' : sentence(command.summary),
    ...(command?.details ?? []),
    below.length > 0 ? section('Commands', below) : '',
    section('Options', options.map(optionRow)),
    path.length === 0 ? homeNote : '',
  ]
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
    .concat('\n');
}

function usage(path: readonly string[], command: CommandSpec | undefined, hasCommands: boolean): string {
  const program = ['talaria', ...path].join(' ');
  const lines: string[] = [];
  if (command !== undefined) {
    const operands = command.operands.map(({ name, need }) => {
      if (need === 'required') return name;
      if (need === 'one-or-more') return `${name}…`;
      return need === 'optional' ? `[${name}]` : `[${name}…]`;
    });
    lines.push([program, '[OPTIONS]', ...operands].join(' '));
  }
  if (hasCommands) lines.push(`${program} COMMAND …`);
  return lines.map((line, index) => `${index === 0 ? 'Usage: ' : '       '}${line}`).join('\n');
}

type Row = readonly [left: string, right: string];

function commandsBelow(commands: readonly CommandSpec[], path: readonly string[]): Row[] {
  return nextWords(commands, path).map((word) => {
    const here = [...path, word];
    const command = commands.find((candidate) => candidate.path.join(' ') === here.join(' '));
    return [word, command?.summary ?? nextWords(commands, here).join(', ')];
  });
}

function optionRow(option: OptionSpec): Row {
  const short = option.short === undefined ? '    ' : `-${option.short}, `;
  return [`${short}--${option.name}${option.value === undefined ? '' : ` ${option.value}`}`, option.summary];
}

function section(title: string, rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return [`${title}:`, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join('\n');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
