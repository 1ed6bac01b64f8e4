/** Models that think, each in its provider's way. */
import type { Runtime } from '../../src/models/model.ts';
import type { ModelServer } from './server-contract.ts';
import { runtimeOf } from './turn-stage.ts';

export const thinkingPlaces: Readonly<Record<string, (server: ModelServer) => Runtime>> = {
  deepseek: (server) => runtimeOf(server, 'chat_completions', { provider: 'deepseek', name: 'deepseek-flash' }),
  openrouter: (server) =>
    runtimeOf(server, 'chat_completions', { provider: 'openrouter', name: 'anthropic/claude-sonnet-5.5' }),
  mistral: (server) => runtimeOf(server, 'chat_completions', { provider: 'mistral', name: 'mistral-medium-latest' }),
  google: (server) => runtimeOf(server, 'chat_completions', { provider: 'google', name: 'gemini-3.8-flash' }),
  responses: (server) => runtimeOf(server, 'responses', { name: 'gpt-6.1-sol' }),
  'older claude': (server) => runtimeOf(server, 'anthropic_messages', { name: 'claude-sonnet-4-5' }),
  'newer claude': (server) => runtimeOf(server, 'anthropic_messages', { name: 'claude-sonnet-5-5' }),
};
