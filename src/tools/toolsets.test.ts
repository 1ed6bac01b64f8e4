import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolsetNames } from '../protocol/toolsets.ts';
import type { Tool } from './tool.ts';
import { toolsIn } from './toolsets.ts';

const tool = (name: string, server?: string): Tool => ({
  definition: { name, description: '', parameters: {} },
  ...(server === undefined ? {} : { server }),
  effect: 'read',
  replay: 'safe',
  parse: (value) => ({ ok: true, value }),
  run: () => Promise.resolve({ kind: 'finished', text: '' }),
});

const names =
  'terminal process read_file write_file patch search_files memory web_search web_extract browser todo clarify send_file ' +
  'skills_list skill_view skill_manage';
const all = [
  ...names.split(' ').map((name) => tool(name)),
  tool('mcp_mail_read', 'mail'),
  tool('mcp_mail_box_sell', 'mail'),
  tool('mcp_mail_box_read', 'mail_box'),
  tool('made_up'),
  tool('constructor'),
];
const namesIn = (...toolsets: string[]) => toolsIn(all, toolsets).map(({ definition }) => definition.name);

test('each toolset has its tools and no others', () => {
  const sets = Object.fromEntries(toolsetNames.map((name) => [name, namesIn(name)]));
  assert.deepEqual(sets, {
    core: all.map(({ definition }) => definition.name),
    safe: ['read_file', 'search_files', 'todo'],
    files: ['read_file', 'write_file', 'patch', 'search_files'],
    terminal: ['terminal', 'process'],
    web: ['web_search', 'web_extract'],
    browser: ['browser'],
    memory: ['memory'],
    skills: ['skills_list', 'skill_view', 'skill_manage'],
    people: ['todo', 'clarify', 'send_file'],
    mcp: ['mcp_mail_read', 'mcp_mail_box_sell', 'mcp_mail_box_read'],
  });
});

test('several toolsets have the tools of all of them, each once and in the order that they came in', () => {
  assert.deepEqual(namesIn('memory', 'safe', 'files'), [
    'read_file',
    'write_file',
    'patch',
    'search_files',
    'memory',
    'todo',
  ]);
  assert.deepEqual(namesIn('safe', 'core').length, all.length);
  assert.deepEqual(namesIn(), []);
});

test('a server’s toolset has its tools and not those of one whose name begins alike', () => {
  assert.deepEqual(namesIn('mcp-mail'), ['mcp_mail_read', 'mcp_mail_box_sell']);
  assert.deepEqual(namesIn('mcp-mail_box'), ['mcp_mail_box_read']);
  assert.deepEqual(namesIn('mcp-nobody'), []);
});

test('a tool that nobody has put into a toolset is in core alone', () => {
  for (const name of toolsetNames) assert.equal(namesIn(name).includes('made_up'), name === 'core', name);
  for (const name of toolsetNames) assert.equal(namesIn(name).includes('constructor'), name === 'core', name);
});
