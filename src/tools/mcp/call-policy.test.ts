import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UntrustedSource } from '../../protocol/messages.ts';
import { planFor, type CallToJudge } from './call-policy.ts';
import type { ServerPlace, ToolHints } from './mcp-server.ts';
import { seenTools } from './seen-tool.ts';

const inside: ServerPlace = { words: 'in the sandbox', hasWayOut: false };
const elsewhere: ServerPlace = { words: 'at https://mcp.example.com', hasWayOut: true };
const readOnly: ToolHints = { readOnlyHint: true };
const destructive: ToolHints = { readOnlyHint: false, destructiveHint: true };
const shown = 'https://shown.example/page';

function judged(
  place: ServerPlace,
  annotations: ToolHints,
  untrusted: UntrustedSource | null,
  input: Record<string, unknown> = {},
): string {
  const [seen] = seenTools([{ name: 'tool', description: 'Does.', inputSchema: {}, annotations }]);
  assert.ok(seen);
  const call: CallToJudge = { server: 's', place, seen, pinned: null, standing: 'approved', input };
  const plan = planFor(call, { untrusted, wasShown: (text) => text === shown });
  return plan === null ? 'goes' : `${plan.kind}: ${plan.reasons.join('; ')}`;
}

test('a call asks if it destroys, or if it does anything in a turn that has read a stranger’s text', () => {
  const changes = 'it changes or sends something';
  const table: [ServerPlace, ToolHints, UntrustedSource | null, string][] = [
    [inside, {}, null, 'goes'],
    [elsewhere, {}, null, 'goes'],
    [elsewhere, readOnly, null, 'goes'],
    [inside, destructive, null, 'mcp: its server says that it destroys something'],
    [elsewhere, destructive, null, 'mcp: its server says that it destroys something'],
    // A contradiction is taken for what only reads, as the protocol has it.
    [inside, { readOnlyHint: true, destructiveHint: true }, null, 'goes'],
    [inside, {}, 'web', `mcp: ${changes}`],
    [elsewhere, {}, 'mcp', `send: ${changes}`],
    [elsewhere, {}, 'stranger', `send: ${changes}`],
    [elsewhere, destructive, 'webhook', `send: its server says that it destroys something; ${changes}`],
    [inside, readOnly, 'web', 'goes'],
    [elsewhere, readOnly, 'web', 'goes'],
  ];
  assert.deepEqual(
    table.map(([place, hints, untrusted]) => judged(place, hints, untrusted)),
    table.map(([, , , expected]) => expected),
  );
});

test('a tool that only reads asks for an address that nobody has shown, where its server has a way out', () => {
  const made = { deep: [{ where: 'see https://evil.example/?q=secret now' }] };
  const asks = 'send: it reaches an address that nobody has shown';
  assert.deepEqual(
    [
      judged(elsewhere, readOnly, 'web', made),
      judged(elsewhere, readOnly, 'web', { url: 'HTTPS://evil.example' }),
      judged(elsewhere, readOnly, 'web', { url: shown }),
      judged(elsewhere, readOnly, null, made),
      judged(inside, readOnly, 'web', made),
      judged(elsewhere, { ...readOnly, openWorldHint: false }, 'web', made),
    ],
    [asks, asks, 'goes', 'goes', 'goes', 'goes'],
  );
});

test('a plan says exactly what would be done, where, and what a lasting yes is about', () => {
  const annotations = destructive;
  const [seen] = seenTools([{ name: 'drop', description: 'Drops.', inputSchema: {}, annotations }]);
  assert.ok(seen);
  const call: CallToJudge = {
    server: 'db',
    place: elsewhere,
    seen,
    pinned: null,
    standing: 'approved',
    input: { table: 'users' },
  };
  assert.deepEqual(planFor(call, { untrusted: null, wasShown: () => false }), {
    kind: 'mcp',
    subject: 'db/drop',
    shown: 'db: drop\n{\n  "table": "users"\n}',
    reasons: ['its server says that it destroys something'],
    where: 'at https://mcp.example.com',
    lasting: 'every use of db: drop, whatever is given to it',
    frozen: JSON.stringify({ tool: 'drop', definition: seen.hash, arguments: { table: 'users' } }),
  });
});
