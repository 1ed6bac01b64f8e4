import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameTools } from './tool-names.ts';

const namePattern = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

test('tools are named after their server, in what every provider takes, each by a name of its own', () => {
  const tools = [
    { server: 'github', tool: 'create_issue' },
    { server: 'a', tool: 'b_c' },
    { server: 'a_b', tool: 'c' },
    { server: 'x', tool: 'say hello!' },
    { server: 'x', tool: 'say_hello_' },
    { server: 'x', tool: 'ü' },
    { server: 'x', tool: 'ö' },
    { server: 'x', tool: 'long'.repeat(40) },
    { server: 'x', tool: `${'long'.repeat(40)}er` },
    { server: 's'.repeat(64), tool: 'one' },
    { server: `${'s'.repeat(63)}t`, tool: 'one' },
  ];
  const names = nameTools(tools);
  assert.deepEqual(names.slice(0, 2), ['mcp_github_create_issue', 'mcp_a_b_c']);
  assert.match(names[2] ?? '', /^mcp_a_b_c_[0-9a-f]{8}$/);
  assert.match(names[3] ?? '', /^mcp_x_say_hello__[0-9a-f]{8}$/);
  assert.equal(names[4], 'mcp_x_say_hello_');
  assert.equal(new Set(names).size, tools.length);
  assert.deepEqual(
    names.filter((name) => !namePattern.test(name)),
    [],
  );
});

test('a server that takes the marked names of its other tools beforehand makes no two of one name', () => {
  const sly = { server: 's', tool: 'b~b' };
  const rounds = [sly];
  for (let round = 0; round < 3; round += 1) {
    const named = nameTools(rounds)[0] ?? '';
    rounds.push({ server: 's', tool: named.slice('mcp_s_'.length) });
  }
  const names = nameTools(rounds);
  assert.equal(new Set(names).size, rounds.length);
  assert.deepEqual(
    names.filter((name) => !namePattern.test(name)),
    [],
  );
});

test('the names are the same in whatever order the tools come', () => {
  const tools = ['b_c', 'ü', 'c'].flatMap((tool) => [
    { server: 'a', tool },
    { server: 'a_b', tool },
  ]);
  const named = new Map(nameTools(tools).map((name, index) => [JSON.stringify(tools[index]), name]));
  const turned = tools.toReversed();
  assert.deepEqual(
    nameTools(turned),
    turned.map((tool) => named.get(JSON.stringify(tool))),
  );
});
