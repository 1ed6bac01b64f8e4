/** A skill as a person looks at it before they say yes: its files, and what to look at in them. Nothing of it is hidden. */
import type { AuditFinding, InspectedSkill, OfferedSkill } from '../app/skills-admin.ts';
import { printable, printableLine } from '../tui/printable.ts';
import type { CommandContext } from './command.ts';
import { formatTable } from './table.ts';

const descriptionCharsMax = 1_100;
const pathCharsMax = 300;

export async function showSkill(
  { streams }: Pick<CommandContext, 'streams'>,
  { header, hash, files, bytes, findings }: InspectedSkill,
): Promise<void> {
  const rows = files.map(({ path, size, isExecutable }) => [
    `  ${printableLine(path, pathCharsMax)}`,
    `${size.toLocaleString('en-US')} bytes`,
    isExecutable ? 'may be run' : '',
  ]);
  const lines = [
    `${header.name}: ${printableLine(header.description, descriptionCharsMax)}`,
    ...(header.license === null ? [] : [`License: ${printableLine(header.license, 200)}`]),
    ...(header.compatibility === null ? [] : [`Needs: ${printableLine(header.compatibility, 600)}`]),
    `${counted(files.length, 'file')}, ${bytes.toLocaleString('en-US')} bytes, ${hash}`,
    ...formatTable(rows, Infinity),
    ...(findings.length === 0 ? ['Nothing suspicious was found; read it all the same.'] : ['To look at:']),
    ...findings.map(findingLine),
  ];
  await streams.write(`${lines.join('\n')}\n`);
}

export async function showTexts(
  { streams }: Pick<CommandContext, 'streams'>,
  { changes, texts }: Pick<OfferedSkill, 'changes' | 'texts'>,
): Promise<void> {
  const files = changes.map((line) => `  ${printableLine(line, pathCharsMax)}`);
  const lines = [
    ...(files.length === 0 ? [] : ['Changes (+ new, - gone, ~ other):', ...files]),
    ...texts.flatMap(({ path, text }) => [`${printableLine(path, pathCharsMax)}:`, indented(printable(text))]),
  ];
  if (lines.length > 0) await streams.write(`${lines.join('\n')}\n`);
}

/** So that no line of it passes for one of ours. */
function indented(text: string): string {
  return text.replaceAll(/^/gm, '  | ');
}

function findingLine({ path, line, what, shown }: AuditFinding): string {
  const place = `${printableLine(path, pathCharsMax)}${line === 0 ? '' : `:${line}`}`;
  return `  ${place} ${what}${shown === '' ? '' : `: ${printableLine(shown, 200)}`}`;
}

export function counted(count: number, word: string): string {
  return `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`;
}
