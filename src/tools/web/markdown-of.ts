/**
 * A page's elements as Markdown: headings, paragraphs, lists, links with whole addresses, code, quotes and tables. What is
 * for the eye only is left out. It knows elements by their names and children, not which library made them.
 */
export interface PageNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<PageNode>;
  getAttribute?(name: string): string | null;
}

const textNode = 3;
const elementNode = 1;
const depthMax = 200;

const unseen = new Set(
  'TITLE SCRIPT STYLE NOSCRIPT TEMPLATE SVG CANVAS IFRAME OBJECT EMBED VIDEO AUDIO HEAD DIALOG'.split(' '),
);
const blocks = new Set(
  'ADDRESS ARTICLE ASIDE DETAILS DIV DL DD DT FIELDSET FIGURE FIGCAPTION FOOTER FORM HEADER MAIN NAV P SECTION SUMMARY BODY HTML'.split(
    ' ',
  ),
);

export function markdownOf(root: PageNode, base: string): string {
  const text = blockText(root, { base, depth: 0 });
  return text
    .replaceAll(/[ \t]+\n/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

interface Place {
  readonly base: string;
  readonly depth: number;
}

/** Children as blocks and runs of words between them. */
function blockText(node: PageNode, place: Place): string {
  if (place.depth > depthMax) return (node.textContent ?? '').replaceAll(/\s+/g, ' ');
  const inner = { ...place, depth: place.depth + 1 };
  let out = '';
  for (const child of node.childNodes) {
    const text = nodeText(child, inner);
    // A space between two blocks is no part of either.
    out += out === '' || out.endsWith('\n') ? text.replace(/^ /, '') : text;
  }
  return out;
}

function nodeText(node: PageNode, place: Place): string {
  if (node.nodeType === textNode) return (node.textContent ?? '').replaceAll(/\s+/g, ' ');
  if (node.nodeType !== elementNode) return '';
  const name = node.nodeName.toUpperCase();
  if (unseen.has(name) || (node.getAttribute?.('hidden') !== null && node.getAttribute?.('hidden') !== undefined))
    return '';
  const within = () => blockText(node, place);
  const heading = /^H([1-6])$/.exec(name);
  if (heading !== null) return block(`${'#'.repeat(Number(heading[1]))} ${oneLine(within())}`);
  if (blocks.has(name)) return block(within());
  switch (name) {
    case 'BR':
      return '\n';
    case 'HR':
      return block('---');
    case 'A':
      return linkText(node, oneLine(within()), place.base);
    case 'IMG':
      return oneLine(node.getAttribute?.('alt') ?? '') === ''
        ? ''
        : `[image: ${oneLine(node.getAttribute?.('alt') ?? '')}]`;
    case 'STRONG':
    case 'B':
      return marked('**', within());
    case 'EM':
    case 'I':
      return marked('*', within());
    case 'CODE':
    case 'KBD':
    case 'SAMP':
      return marked('`', node.textContent ?? '');
    case 'PRE':
      return block(`\`\`\`\n${(node.textContent ?? '').replace(/\n$/, '').replaceAll('```', "'''")}\n\`\`\``);
    case 'BLOCKQUOTE':
      return block(within().trim().replaceAll(/^/gm, '> '));
    case 'UL':
    case 'OL':
      return block(listText(node, name === 'OL', place));
    case 'TABLE':
      return block(tableText(node, place));
    default:
      return within();
  }
}

const block = (text: string) => (text.trim() === '' ? '' : `\n\n${text.trim()}\n\n`);
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const marked = (mark: string, text: string) => (text.trim() === '' ? text : `${mark}${oneLine(text)}${mark}`);

function linkText(node: PageNode, words: string, base: string): string {
  const url = URL.parse(node.getAttribute?.('href') ?? '', base);
  if (url === null || !/^https?:$/.test(url.protocol)) return words;
  return words === '' ? '' : `[${words}](${url.href})`;
}

function listText(node: PageNode, isNumbered: boolean, place: Place): string {
  const items: string[] = [];
  for (const child of node.childNodes) {
    const text = nodeText(child, { ...place, depth: place.depth + 1 }).trim();
    if (text === '') continue;
    const mark = isNumbered ? `${items.length + 1}. ` : '- ';
    items.push(mark + text.replaceAll(/\n{2,}/g, '\n').replaceAll('\n', `\n${' '.repeat(mark.length)}`));
  }
  return items.join('\n');
}

function tableText(node: PageNode, place: Place): string {
  const rows = elementsNamed(node, 'TR').map((row) =>
    [...row.childNodes]
      .filter(({ nodeName }) => /^T[DH]$/i.test(nodeName))
      .map((cell) => oneLine(blockText(cell, { ...place, depth: place.depth + 1 })).replaceAll('|', '\\|')),
  );
  const [head, ...rest] = rows.filter((row) => row.length > 0);
  if (head === undefined) return blockText(node, place);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rest.map(line)].join('\n');
}

function elementsNamed(node: PageNode, name: string): PageNode[] {
  const found: PageNode[] = [];
  const waiting = [...node.childNodes].reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.nodeName.toUpperCase() === name) found.push(next);
    else waiting.push(...[...next.childNodes].reverse());
  }
  return found;
}
