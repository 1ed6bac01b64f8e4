import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpReloadNote } from './services.ts';
import { TestChat } from './test-chat.ts';

async function said(note: McpReloadNote): Promise<string[]> {
  const chat = await TestChat.open({ services: { reloadMcp: () => Promise.resolve(note) } });
  const answer = await chat.says('/reload-mcp');
  await chat.close();
  return answer;
}

test('/reload-mcp says how each server is, and what came and went', async () => {
  const ready = { name: 'one', state: 'ready', tools: 1, problem: null };
  assert.deepEqual(await said({ added: [], removed: [], states: [ready] }), [
    '- one: ready, 1 tool\nThe tools are the same.',
  ]);
  const failed = { name: 'two', state: 'failed', tools: 2, problem: 'It can not be reached.' };
  const slow = { name: 'three', state: 'connecting', tools: 0, problem: null };
  assert.deepEqual(await said({ added: ['mcp_one_a'], removed: ['mcp_one_b'], states: [failed, slow] }), [
    '- two: failed, 2 tools. It can not be reached.\n- three: connecting, 0 tools\nNew: mcp_one_a\nGone: mcp_one_b\nThe rest is under way.',
  ]);
});

test('/reload-mcp says how to add a server where there is none', async () => {
  const chat = await TestChat.open();
  assert.deepEqual(await chat.says('/reload-mcp'), ['There are no MCP servers. Add one with: talaria mcp add']);
  await chat.close();
});
