/** What a user means by a model's name in a session, as a change of the agent's inputs. */
import type { AgentInputs } from '../agent/agent-inputs.ts';
import { isProvider, providerRow } from '../models/providers.ts';
import { ApiError } from '../protocol/api.ts';

/**
 * `wanted` is `PROVIDER/NAME` or a name of the provider in use. An aggregator's names begin with a maker, which may be
 * called like a provider: there the whole is a name, unless it begins with the aggregator's own.
 */
export function withModel(inputs: AgentInputs, wanted: string | null, inUse: string): AgentInputs {
  if (wanted === null) return inputs;
  const slash = wanted.indexOf('/');
  const first = slash === -1 ? '' : wanted.slice(0, slash);
  const isAggregator = providerRow(inUse).reach === 'aggregator';
  const named = (first === 'offline' || isProvider(first)) && (!isAggregator || first === inUse) ? first : null;
  const name = named === null ? wanted : wanted.slice(slash + 1);
  if (name.trim() === '') throw new ApiError('bad-request', `${JSON.stringify(wanted)} names no model.`);
  // What is known of the configured model is not true of another one.
  const other = { 'model.name': name, 'model.context_length': null, 'model.max_output_tokens': null } as const;
  if (named === null || named === inUse) return { ...inputs, ...other, 'model.provider': inUse, 'model.price': null };
  return {
    ...inputs,
    ...other,
    'model.provider': named,
    'model.base_url': null,
    'model.api_mode': null,
    'model.api_key': null,
    'model.price': null,
  };
}
