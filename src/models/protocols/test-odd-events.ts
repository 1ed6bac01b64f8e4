/** Events that are almost what a dialect sends: the right names, and members that are there, not there, or of other types. */
import * as fc from 'fast-check';

const value = fc.oneof(
  fc.constantFrom<unknown>(null, '', 'x', '{}', 7, -1, true, [], [null], {}),
  fc.constantFrom<unknown>({ reason: 'max_output_tokens' }, [{ type: 'output_text', text: 'x' }], { output_tokens: 1 }),
);

/** `types`: of events; `kinds`: of the blocks, items and changes inside them. */
export function oddEvents(types: readonly string[], kinds: readonly string[]): fc.Arbitrary<unknown> {
  const members = ['id', 'text', 'thinking', 'signature', 'data', 'name', 'input', 'partial_json', 'stop_reason'];
  const others = [
    'content',
    'summary',
    'arguments',
    'call_id',
    'encrypted_content',
    'status',
    'output',
    'usage',
    'error',
  ];
  const inner = fc
    .record({ kind: fc.constantFrom(...kinds), rest: fc.dictionary(fc.constantFrom(...members, ...others), value) })
    .map(({ kind, rest }) => ({ type: kind, ...rest }));
  const holders = ['message', 'content_block', 'delta', 'item', 'response'];
  return fc
    .record({
      type: fc.constantFrom(...types),
      index: fc.constantFrom<unknown>(0, 1, undefined, 'x'),
      held: fc.dictionary(fc.constantFrom(...holders), fc.oneof(inner, value)),
      rest: fc.dictionary(fc.constantFrom('usage', 'arguments', 'summary_index', 'error'), value),
    })
    .map(({ type, index, held, rest }) => ({ type, index, output_index: index, ...held, ...rest }));
}
