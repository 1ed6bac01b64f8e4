/** How a tool's description of itself differs from the one that was approved, line by line, for a person. Pure. */
import type { SeenTool } from './mcp-server.ts';

export function definitionChange(before: SeenTool | null, now: SeenTool): string {
  if (before === null || before.hash === now.hash) {
    const lines = linesOf(now, 0);
    return `New tool:\n${lines.map((line) => `+ ${line}`).join('\n')}`;
  }
  // Apart, so that only what is different is shown of a long one.
  const [old, fresh] = [linesOf(before, 1), linesOf(now, 1)];
  let same = 0;
  while (same < old.length && same < fresh.length && old[same] === fresh[same]) same += 1;
  let sameEnd = 0;
  const shorter = Math.min(old.length, fresh.length) - same;
  while (sameEnd < shorter && old.at(-1 - sameEnd) === fresh.at(-1 - sameEnd)) sameEnd += 1;
  const gone = old.slice(same, old.length - sameEnd).map((line) => `- ${line}`);
  const added = fresh.slice(same, fresh.length - sameEnd).map((line) => `+ ${line}`);
  const changed = [...gone, ...added];
  // Beyond what is kept of a very long one.
  return `Changed tool:\n${changed.length === 0 ? '(in a part that is too long to be kept)' : changed.join('\n')}`;
}

function linesOf({ description, inputSchema, hints }: SeenTool, indent: 0 | 1): string[] {
  const text = `${description}\narguments: ${JSON.stringify(inputSchema, null, indent)}\nhints: ${JSON.stringify(hints)}`;
  return text.split('\n');
}
