/** OpenAI's chat completions, as most providers and every local server speak it. */
import type { Protocol } from '../protocol.ts';
import { createChatCompletionsDecoder } from './decode.ts';
import { encode } from './encode.ts';

export const chatCompletions: Protocol = {
  path: '/chat/completions',
  headers: (_runtime, key) => (key.secret === '' ? {} : { authorization: `Bearer ${key.secret}` }),
  encode,
  decoder: createChatCompletionsDecoder,
};
