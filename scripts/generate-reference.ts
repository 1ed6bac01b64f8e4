/**
 * Writes what is derived from the configuration's schema: docs/configuration.md, and src/config/default-config.ts so
 * that a start without a configuration need not load the schema. With `--check` nothing is written; a file that is
 * out of date is named and the exit code is 1.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { expectation } from '../src/config/explain-issue.ts';
import { formatPath, keyTree, sectionKeys, type KeyNode, type KeyPath } from '../src/config/key-tree.ts';
import { notYet } from '../src/config/not-yet.ts';
import { configSchema } from '../src/config/schema.ts';
import { writeFileAtomically } from '../src/lib/atomic-file.ts';

const root = join(import.meta.dirname, '..');

const introduction = `<!-- Written by scripts/generate-reference.ts; change it there or in src/config/schema.ts. -->
# Configuration

Talaria reads \`config.yaml\` in its home: \`$TALARIA_HOME\`, or \`~/.talaria\`. Every key is optional, and a missing or empty
file is a working configuration. \`talaria config path\` prints where it is.

\`\`\`yaml
gateway:
  port: 9000
model:
  provider: offline
  name: rehearsal
\`\`\`

| command | what it does |
| --- | --- |
| \`talaria config check\` | names the line of every mistake |
| \`talaria config show\` | the configuration in force, with all defaults; secrets are shown as \`[set]\` |
| \`talaria config get gateway.port\` | one value |
| \`talaria config set gateway.port 9000\` | changes one value; comments and order stay as they are |

**Mistakes.** Unknown keys, wrong types and values out of range are mistakes. All are reported at once, with line and
column and the nearest key that exists. Talaria does not start with a mistake in the file. A gateway that is running
goes on with the last good configuration and says so in \`talaria status\`.

**Changes while running.** A gateway looks at \`config.yaml\` and \`.env\` every second and takes over what changed. The
address it listens on, the store, the level of the log, and Telegram's token, address and webhook stay as they were until
it is started again; \`talaria config set\` says so.

**Secrets.** \`\${NAME}\` in any text reads the environment and the file \`.env\` beside \`config.yaml\`; the environment wins.
A name that is set in neither is a mistake. \`$\${\` stands for a plain \`\${\`. Where a number or \`true\` is wanted,
\`\${NAME}\` works too. \`talaria config set\` puts secrets into \`.env\`, which only you can read, and \`\${NAME}\` into
\`config.yaml\`.

**\`.env\`.** A line is \`NAME=value\`, with or without \`export\`, or a comment that begins with \`#\`. In single quotes a
value is literal; in double quotes \`\\n\`, \`\\"\` and \`\\\\\` are understood. Everything in it is kept out of the log.

**Editors.** A \`config.yaml\` made by \`talaria config set\` points to \`config.schema.json\` beside it, so that editors with
YAML support complete keys and show this text. A key with nothing behind it counts as not set.
`;

export function renderGuide(): string {
  const tree = keyTree();
  const parts = [...(sectionKeys(tree) ?? [])].map(([name, node]) => renderSection([name], node));
  return `${introduction}\n${parts.join('\n')}`;
}

function renderSection(path: KeyPath, node: KeyNode): string {
  const heading = `${'#'.repeat(path.length + 1)} \`${formatPath(path)}\``;
  const lines = [heading, '', `${node.description}${notYetNote(path)}`, ''];
  if (node.shape.kind !== 'section') {
    lines.push(`Type: ${typeWords(node)}. Default: ${defaultWords(node)}.`, '');
  }
  const keys = [...(sectionKeys(itemOf(node)) ?? [])];
  const isRow = (child: KeyNode) => child.shape.kind !== 'section' || isModel(child);
  const rows = keys.filter(([, child]) => isRow(child));
  const isModelElsewhere = isModel(itemOf(node)) && path[0] !== 'model';
  if (rows.length > 0 && !isModelElsewhere) {
    lines.push('| key | type | default | meaning |', '| --- | --- | --- | --- |');
    for (const [name, child] of rows) lines.push(renderRow([...path, name], name, child));
    lines.push('');
  }
  const sections = isModelElsewhere ? [] : keys.filter(([, child]) => !isRow(child));
  return [...lines, ...sections.map(([name, child]) => renderSection([...path, name], child))].join('\n');
}

function renderRow(path: KeyPath, name: string, node: KeyNode): string {
  const cells = [`\`${name}\``, typeWords(node), defaultWords(node), `${node.description}${notYetNote(path)}`];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function isModel(node: KeyNode): boolean {
  return sectionKeys(node)?.has('api_mode') ?? false;
}

/** What a list or a table of names holds, or the node itself. */
function itemOf(node: KeyNode): KeyNode {
  if (node.shape.kind === 'list') return itemOf(node.shape.item);
  return node.shape.kind === 'named' ? itemOf(node.shape.value) : node;
}

function typeWords(node: KeyNode): string {
  const secret = node.secret === true ? ', secret' : '';
  return `${plainTypeWords(node)}${secret}`;
}

function plainTypeWords(node: KeyNode): string {
  const { shape } = node;
  if (shape.kind === 'choice') return shape.values.map((value) => `\`${value}\``).join(' · ');
  if (node.expects !== undefined) return node.expects.replace(/^an? /, '');
  if (isModel(node) && shape.kind === 'section') return 'keys as in [`model`](#model)';
  if (shape.kind === 'section') return 'keys of its own';
  if (shape.kind === 'named') return 'names with values';
  if (shape.kind === 'list')
    return shape.item.shape.kind === 'text' ? 'list of texts' : `list of ${plainTypeWords(shape.item)}`;
  if (shape.kind === 'either') return shape.options.map(plainTypeWords).join(', or ');
  return expectation(node).replace(/^a /, '');
}

function defaultWords(node: KeyNode): string {
  if (typeof node.default === 'string') return `\`${node.default}\``;
  if (node.default !== undefined && node.default !== null) return `\`${JSON.stringify(node.default)}\``;
  return node.unset ?? 'none';
}

function notYetNote(path: KeyPath): string {
  const row = notYet.find(({ key }) => key === path.join('.'));
  if (row === undefined) return '';
  const works = [...(row.works ?? []), ...(row.worksFrom === undefined ? [] : [`${row.worksFrom}…`])];
  if (works.length === 0) return ' *Not in this version yet.*';
  return ` *In this version only ${works.map((value) => `\`${String(value)}\``).join(' and ')}.*`;
}

export function renderDefaults(): string {
  const defaults = JSON.stringify(z.parse(configSchema, {}), null, 2)
    .replaceAll(/^(\s*)"(\w+)":/gm, '$1$2:')
    .replaceAll(/"([^"\\']*)"/g, "'$1'")
    .replaceAll(/([^,{[])$/gm, '$1,')
    .replaceAll(/\[\s+([^\s]+),\s+\]/g, '[$1]')
    .replace(/,$/, '');
  return `/**
 * The configuration of someone who configured nothing. Written by scripts/generate-reference.ts from schema.ts, so that
 * a start without a configuration need not load the schema; \`npm run check\` tells if it is out of date.
 */
import type { Config } from './schema.ts';

export const defaultConfig: Config = ${defaults};
`;
}

async function main(isCheck: boolean): Promise<boolean> {
  const files = { 'docs/configuration.md': renderGuide(), 'src/config/default-config.ts': renderDefaults() };
  let isFresh = true;
  for (const [file, text] of Object.entries(files)) {
    const path = join(root, file);
    const before = await readFile(path, 'utf8').catch(() => null);
    if (before === text) continue;
    isFresh = false;
    if (isCheck) console.error(`${file} is out of date; run: node scripts/generate-reference.ts`);
    else await writeFileAtomically(path, text);
  }
  return isFresh || !isCheck;
}

if (import.meta.main) process.exitCode = (await main(process.argv.includes('--check'))) ? 0 : 1;
