/**
 * Anthropic's prompt cache by its documented rules: the prompt is tools, system prompt, messages, block by block. From
 * every mark it looks back over at most 20 blocks, the marked one included, for an entry of an earlier request; then it
 * writes an entry at every mark. Another thinking setting makes other messages of the same ones. Knows nothing of time.
 */
import { createHash } from 'node:crypto';

type Fields = Readonly<Record<string, unknown>>;

export class PromptCache {
  readonly #entries = new Set<string>();

  /** How many blocks the request has, and how many of the first ones were in the cache. */
  send(bodyText: string): { readonly blocks: number; readonly cached: number } {
    const body = JSON.parse(bodyText) as Fields;
    const setting = JSON.stringify([body['thinking'], body['output_config']]);
    const messages = body['messages'] as { role: string; content: Fields[] }[];
    const blocks = [
      ...((body['tools'] ?? []) as Fields[]).map((block) => ({ block, within: 'tools' })),
      ...((body['system'] ?? []) as Fields[]).map((block) => ({ block, within: 'system' })),
      ...messages.flatMap(({ role, content }) => content.map((block) => ({ block, within: role + setting }))),
    ];
    let sum = '';
    const prefixes = blocks.map(({ block: { cache_control: _mark, ...block }, within }) => {
      sum = createHash('sha256')
        .update(sum + within + JSON.stringify(block))
        .digest('hex');
      return sum;
    });
    const marks = blocks.flatMap(({ block }, index) => (block['cache_control'] === undefined ? [] : [index]));
    const found = marks.map((mark) => {
      for (let index = mark; index > mark - 20 && index >= 0; index--) {
        if (this.#entries.has(prefixes[index] ?? '')) return index + 1;
      }
      return 0;
    });
    for (const mark of marks) this.#entries.add(prefixes[mark] ?? '');
    return { blocks: blocks.length, cached: Math.max(0, ...found) };
  }
}
