import assert from 'node:assert/strict';
import test from 'node:test';
import type { Tool } from './tool.ts';
import { toolSummaries } from './tool-summaries.ts';

function tool(name: string, effect: Tool['effect'], server?: string): Tool {
  return {
    ...(server === undefined ? {} : { server }),
    definition: { name, description: 'ä', parameters: {} },
    effect,
    replay: 'never',
    parse: (value) => ({ ok: true, value }),
    run: async () => ({ kind: 'finished', text: '' }),
  };
}

test('tools are listed with their sets, effect and size', () => {
  const bytes = Buffer.byteLength('{"name":"read_file","description":"ä","parameters":{}}');
  assert.deepEqual(
    toolSummaries(
      [tool('write_file', 'write'), tool('read_file', 'read'), tool('mcp_git_log', 'read', 'git')],
      ['git'],
    ),
    [
      { name: 'mcp_git_log', toolsets: ['mcp', 'mcp-git'], effect: 'read', bytes: bytes + 2 },
      { name: 'read_file', toolsets: ['safe', 'files'], effect: 'read', bytes },
      { name: 'write_file', toolsets: ['files'], effect: 'write', bytes: bytes + 1 },
    ],
  );
});
