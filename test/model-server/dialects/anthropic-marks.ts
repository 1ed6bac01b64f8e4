/** The cache marks of a request to Anthropic: where they stand, and what is wrong with them. */
import { listOf, objectOf, textOf, without, type Json } from '../json.ts';
import { badRequest, type Problem } from '../problem.ts';

const marksMax = 4;

export interface Block {
  /** Where it stands, as Anthropic names the place. */
  readonly at: string;
  readonly role: string;
  readonly part: 'tools' | 'system' | 'messages';
  readonly block: Json;
}

/** Everything that can be remembered, in the order in which it is read. A plain text is one block. */
export function blocksOf(body: Json): Block[] {
  const tools = listOf(body['tools']).map((tool, index): Block => {
    return { at: `tools.${index}`, role: 'tool', part: 'tools', block: objectOf(tool) };
  });
  const system = contentOf(body['system']).map((block, index): Block => {
    return { at: `system.${index}`, role: 'system', part: 'system', block };
  });
  const messages = listOf(body['messages']).flatMap((message, index) => {
    const { role, content } = objectOf(message);
    return contentOf(content).map((block, place): Block => {
      return { at: `messages.${index}.content.${place}`, role: textOf(role), part: 'messages', block };
    });
  });
  return [...tools, ...system, ...messages];
}

function contentOf(content: unknown): Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return listOf(content).map(objectOf);
}

export function markOf(block: Json): '5m' | '1h' | null {
  const control = block['cache_control'];
  if (control === undefined || control === null) return null;
  return objectOf(control)['ttl'] === '1h' ? '1h' : '5m';
}

export function unmarked({ role, block }: Block): string {
  return role + JSON.stringify(without(block, 'cache_control'));
}

export function checkMarks(body: Json): Problem | null {
  const marked = blocksOf(body).filter(({ block }) => markOf(block) !== null);
  const count = marked.length + (body['cache_control'] === undefined ? 0 : 1);
  if (count > marksMax) {
    return badRequest(`A maximum of ${marksMax} blocks with cache_control may be provided. Found ${count}.`);
  }
  let isShortSeen = false;
  for (const { at, block } of marked) {
    const { type, ttl } = objectOf(block['cache_control']);
    if (type !== 'ephemeral') return badRequest(`${at}.cache_control.type: Input should be 'ephemeral'`);
    if (ttl !== undefined && ttl !== '5m' && ttl !== '1h') {
      return badRequest(`${at}.cache_control.ephemeral.ttl: Input should be '5m' or '1h'`);
    }
    if (ttl === '1h' && isShortSeen) {
      return badRequest(
        `${at}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
      );
    }
    isShortSeen ||= ttl !== '1h';
  }
  return null;
}
