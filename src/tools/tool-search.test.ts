import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as z from 'zod/mini';
import { defineTool } from './define-tool.ts';
import { fakeToolContext } from './fake-tool-context.ts';
import { createToolRegistry } from './registry.ts';
import type { Tool } from './tool.ts';

function tool(name: string, description: string, effect: Tool['effect'] = 'write', server?: string): Tool {
  const made = defineTool({
    name,
    description,
    effect,
    replay: effect === 'read' ? 'safe' : 'never',
    schema: z.strictObject({ text: z.string() }),
    run: async ({ text }) => ({ kind: 'finished', text: `${name}: ${text}` }),
  });
  return server === undefined ? made : { ...made, server };
}

const own = [tool('terminal', 'Runs a command.')];
const many = [
  tool('mcp_github_create_issue', 'Opens an issue in a repository.', 'write', 'github'),
  tool('mcp_github_list_issues', 'Lists the issues of a repository.', 'read', 'github'),
  tool('mcp_my_mail_send', 'Sends a letter.', 'write', 'my_mail'),
];
const names = (registry: ReturnType<typeof createToolRegistry>) => registry.definitions().map(({ name }) => name);

describe('tools of other programs', () => {
  test('stand in the prompt while they fit, whatever order they came in', () => {
    const options = { others: { tools: many, bytesMax: 10_000 } };
    const expected = ['mcp_github_create_issue', 'mcp_github_list_issues', 'mcp_my_mail_send', 'terminal'];
    assert.deepEqual(names(createToolRegistry(own, options)), expected);
    const reversed = { others: { tools: [...many].reverse(), bytesMax: 10_000 } };
    assert.deepEqual(names(createToolRegistry(own, reversed)), expected);
  });

  test('beyond the limit are found by a search instead, and those of our own stay', () => {
    const registry = createToolRegistry(own, { others: { tools: many, bytesMax: 300 } });
    assert.deepEqual(names(registry), ['terminal', 'tool_search', 'tool_use']);
    assert.equal(registry.get('mcp_my_mail_send'), undefined);
  });
});

describe('tool_search and tool_use', () => {
  const registry = createToolRegistry(own, { others: { tools: many, bytesMax: 300 } });
  const [search, use] = [registry.get('tool_search'), registry.get('tool_use')];
  const context = fakeToolContext('/nowhere');
  const find = async (query: string) => (await search?.run({ query }, context)) ?? { kind: 'missing' };

  test('the search says what there is, and finds by name and description, best first', async () => {
    assert.match(search?.definition.description ?? '', /3 of them: github, my_mail/);
    const found = await find('create an issue');
    assert.ok(found.kind === 'finished' && 'text' in found);
    const [first, second, ...rest] = found.text.split('\n').map((line) => JSON.parse(line) as { name: string });
    assert.deepEqual([first?.name, second?.name, rest], ['mcp_github_create_issue', 'mcp_github_list_issues', []]);
  });

  test('a search for nothing known names what there is', async () => {
    assert.deepEqual(await find('…'), {
      kind: 'finished',
      text: 'Nothing fits. There are: mcp_github_create_issue, mcp_github_list_issues, mcp_my_mail_send',
    });
  });

  test('a found tool is used with its own arguments, checked as its own', async () => {
    const parsed = use?.parse({ name: 'mcp_my_mail_send', arguments: { text: 'hello' } });
    assert.ok(parsed?.ok === true);
    assert.deepEqual(await use?.run(parsed.value, context), { kind: 'finished', text: 'mcp_my_mail_send: hello' });
    assert.equal(use?.sideBySide?.(parsed.value), 'alone');
    const reading = use?.parse({ name: 'mcp_github_list_issues', arguments: { text: 'x' } });
    assert.ok(reading?.ok);
    assert.equal(use?.sideBySide?.(reading.value), 'any');
  });

  test('wrong uses are told apart', () => {
    const problem = (input: unknown) => {
      const parsed = use?.parse(input);
      return parsed?.ok === false ? parsed.problem : null;
    };
    assert.equal(problem({ name: 'nope', arguments: {} }), 'tool_search knows no tool named "nope".');
    assert.match(problem({ name: 'mcp_my_mail_send' }) ?? '', /takes the `name` of a tool/);
    assert.match(problem({ name: 'mcp_my_mail_send', arguments: { txet: 1 } }) ?? '', /text/);
  });
});
