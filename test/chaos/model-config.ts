/**
 * The configuration of a gateway whose models are the scripted server's: one that answers, one that takes over when it
 * fails, and one that names sessions. They speak different protocols, and change places as a run goes on: a conversation
 * that began in one protocol goes on in the next.
 */
import type { Protocol } from '../model-server/dialect.ts';
import type { ModelAddresses } from './scripted-model.ts';

const protocols: readonly [Protocol, ...Protocol[]] = ['chat_completions', 'anthropic_messages', 'responses'];
/** How many cases speak the same protocol. */
const casesPerTurn = 6;

/** How many model calls a turn may take. A few more than any scene needs that does not want to use them up. */
export const smallBudget = 7;

/** By which faults know the model that answers. */
export const primaryModel = 'scripted';

export function configFor(addresses: ModelAddresses, caseNumber: number, more: object = {}): string {
  const place = Math.floor(caseNumber / casesPerTurn);
  const model = (name: string, offset: number, keys: readonly string[]) => {
    const protocol = protocols[(place + offset) % protocols.length] ?? protocols[0];
    return { provider: 'custom', name, base_url: addresses[protocol], api_mode: protocol, api_key: keys };
  };
  // Without retries: a failing model is left for the next one at once, and not after seconds.
  return JSON.stringify({
    model: model(primaryModel, 0, ['key-one', 'key-two']),
    fallback: [model('scripted-small', 1, ['key-three'])],
    auxiliary: { title: model('scripted-small', 2, ['key-four']) },
    agent: { max_iterations: smallBudget, api_max_retries: 0 },
    ...more,
  });
}
