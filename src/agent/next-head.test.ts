import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Head, HeadTools, ToolDefinition } from '../protocol/messages.ts';
import { nextHead } from './next-head.ts';

const tool = (name: string, description = ''): ToolDefinition => ({ name, description, parameters: {} });
const frozen: Head = { systemPrompt: 'frozen', tools: [tool('a'), tool('b')], toolsets: ['core'] };

function agentWith(headTools: HeadTools) {
  let built = 0;
  const agent = { headTools, buildHead: async () => ({ systemPrompt: `built ${++built}`, ...headTools }) };
  return { agent, built: () => built };
}

test('a session begins with the head that its agent builds', async () => {
  const { agent } = agentWith({ tools: [tool('a')], toolsets: ['safe'] });
  assert.deepEqual(await nextHead(null, agent), {
    reason: 'session-started',
    head: { systemPrompt: 'built 1', tools: [tool('a')], toolsets: ['safe'] },
  });
});

test('C93 a head stays in force while its tools are the same, and nothing is built', async () => {
  for (const toolsets of [['core'], ['files', 'terminal']]) {
    const { agent, built } = agentWith({ tools: [tool('a'), tool('b')], toolsets });
    assert.deepEqual([await nextHead(frozen, agent), built()], [null, 0]);
  }
});

test('C94 other toolsets with other tools are a new head with that reason and the system prompt as it was', async () => {
  const { agent, built } = agentWith({ tools: [tool('a')], toolsets: ['safe'] });
  assert.deepEqual(await nextHead(frozen, agent), {
    reason: 'toolset-changed',
    head: { systemPrompt: 'frozen', tools: [tool('a')], toolsets: ['safe'] },
  });
  assert.equal(built(), 0);
});

test('C25 a prompt that stays frozen keeps its sections too', async () => {
  const { agent } = agentWith({ tools: [tool('a')], toolsets: ['safe'] });
  const sections = [{ name: 'identity', chars: 6 }];
  assert.deepEqual(await nextHead({ ...frozen, sections }, agent), {
    reason: 'toolset-changed',
    head: { systemPrompt: 'frozen', sections, tools: [tool('a')], toolsets: ['safe'] },
  });
});

test('C94 other tools of the same toolsets are a new registry: one gone, one new, one described otherwise, another order', async () => {
  const lists = [[tool('a')], [tool('a'), tool('b'), tool('c')], [tool('a'), tool('b', 'new')], [tool('b'), tool('a')]];
  for (const tools of lists) {
    const { agent } = agentWith({ tools, toolsets: ['core'] });
    const next = await nextHead(frozen, agent);
    assert.deepEqual(next, { reason: 'registry-changed', head: { systemPrompt: 'frozen', tools, toolsets: ['core'] } });
    assert.equal(await nextHead(next?.head ?? null, agent), null, 'once');
  }
});

test('a head of a log that does not say of which toolsets it is has all tools', async () => {
  const { systemPrompt, tools } = frozen;
  const reasons = [['core'], ['safe']].map(async (toolsets) => {
    const { agent } = agentWith({ tools: [tool('a')], toolsets });
    return (await nextHead({ systemPrompt, tools }, agent))?.reason;
  });
  assert.deepEqual(await Promise.all(reasons), ['registry-changed', 'toolset-changed']);
});
