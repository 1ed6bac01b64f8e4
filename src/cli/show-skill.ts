/** A skill as a person looks at it before they say yes: its files, and what to look at in them. Nothing of it is hidden. */
import type { AuditFinding, InspectedSkill } from '../app/skills-admin.ts';
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

export async function showChanges(
  { streams }: Pick<CommandContext, 'streams'>,
  { changes, diff }: { readonly changes: readonly string[]; readonly diff: string },
): Promise<void> {
  if (changes.length === 0) return;
  const files = changes.map((line) => `  ${printableLine(line, pathCharsMax)}`);
  const text = diff === '' ? [] : ['SKILL.md:', printable(diff)];
  await streams.write(`${['Changes (+ new, - gone, ~ other):', ...files, ...text].join('\n')}\n`);
}

function findingLine({ path, line, what, shown }: AuditFinding): string {
  const place = `${printableLine(path, pathCharsMax)}${line === 0 ? '' : `:${line}`}`;
  return `  ${place} ${what}${shown === '' ? '' : `: ${printableLine(shown, 200)}`}`;
}

export function counted(count: number, word: string): string {
  return `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`;
}
