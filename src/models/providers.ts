/**
 * Whom a model can be asked of: one row each, plain facts. A provider that has no row is spoken to like `custom`. What
 * is known of single models is in the catalogue; what the rows mean for a call is worked out in `build-runtime.ts`.
 */
import type { ApiMode, Runtime } from './model.ts';
import type { ChatCompletionsQuirk } from './protocols/chat-completions/quirks.ts';

export interface ProviderRow {
  /** For people. */
  readonly label: string;
  /** Of the usual dialect, without a slash at its end; empty if it must be configured. */
  readonly baseUrl: string;
  /** Where the same provider speaks Anthropic's dialect, if that is not the usual address without its `/v1`. */
  readonly anthropicBaseUrl?: string;
  readonly apiMode: ApiMode;
  /** Environment variables that hold its key; the first that is set counts. */
  readonly keyVariables: readonly string[];
  readonly needsKey: boolean;
  /** What is asked when no model is configured; null where only the operator can know. */
  readonly usualModel: string | null;
  readonly reach: Runtime['reach'];
  /** When it speaks chat completions. Those about thinking count only for models that think. */
  readonly quirks: readonly ChatCompletionsQuirk[];
  /** Where a person gets a key. */
  readonly keyAddress: string | null;
}

const everyEffort = ['effort-none', 'effort-minimal', 'effort-xhigh'] as const;
const noKey = { needsKey: false, keyAddress: null, quirks: [] } as const;

export const providerRows = {
  openai: {
    label: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    apiMode: 'responses',
    keyVariables: ['OPENAI_API_KEY'],
    needsKey: true,
    usualModel: 'gpt-6.1-sol',
    reach: 'direct',
    quirks: ['developer-role', 'max-completion-tokens', 'prompt-cache-key', 'reasoning-effort'],
    keyAddress: 'https://platform.openai.com/api-keys',
  },
  anthropic: {
    label: 'Anthropic',
    baseUrl: 'https://api.anthropic.com',
    apiMode: 'anthropic_messages',
    keyVariables: ['ANTHROPIC_API_KEY'],
    needsKey: true,
    usualModel: 'claude-sonnet-5-5',
    reach: 'direct',
    quirks: [],
    keyAddress: 'https://platform.claude.com/settings/keys',
  },
  openrouter: {
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    apiMode: 'chat_completions',
    keyVariables: ['OPENROUTER_API_KEY'],
    needsKey: true,
    usualModel: 'anthropic/claude-sonnet-5.5',
    reach: 'aggregator',
    quirks: ['usage-include', 'reasoning-object', 'reasoning-details-back', ...everyEffort],
    keyAddress: 'https://openrouter.ai/settings/keys',
  },
  google: {
    label: 'Google Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    apiMode: 'chat_completions',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    needsKey: true,
    usualModel: 'gemini-3.8-flash',
    reach: 'direct',
    quirks: ['reasoning-effort', 'thought-signatures'],
    keyAddress: 'https://aistudio.google.com/apikey',
  },
  deepseek: {
    label: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    anthropicBaseUrl: 'https://api.deepseek.com/anthropic',
    apiMode: 'chat_completions',
    keyVariables: ['DEEPSEEK_API_KEY'],
    needsKey: true,
    usualModel: 'deepseek-flash',
    reach: 'direct',
    quirks: ['thinking-switch', 'reasoning-content-back'],
    keyAddress: 'https://platform.deepseek.com/api_keys',
  },
  xai: {
    label: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    apiMode: 'chat_completions',
    keyVariables: ['XAI_API_KEY'],
    needsKey: true,
    usualModel: 'grok-4.7',
    reach: 'direct',
    quirks: ['reasoning-effort'],
    keyAddress: 'https://console.x.ai',
  },
  zai: {
    label: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    anthropicBaseUrl: 'https://api.z.ai/api/anthropic',
    apiMode: 'chat_completions',
    keyVariables: ['ZAI_API_KEY', 'GLM_API_KEY'],
    needsKey: true,
    usualModel: 'glm-5.3',
    reach: 'direct',
    quirks: ['thinking-switch', 'reasoning-content-back'],
    keyAddress: 'https://z.ai/manage-apikey/apikey-list',
  },
  moonshot: {
    label: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/v1',
    anthropicBaseUrl: 'https://api.moonshot.ai/anthropic',
    apiMode: 'chat_completions',
    keyVariables: ['MOONSHOT_API_KEY'],
    needsKey: true,
    usualModel: 'kimi-k3.1-pro',
    reach: 'direct',
    quirks: ['reasoning-content-back'],
    keyAddress: 'https://platform.kimi.ai/console/api-keys',
  },
  mistral: {
    label: 'Mistral AI',
    baseUrl: 'https://api.mistral.ai/v1',
    apiMode: 'chat_completions',
    keyVariables: ['MISTRAL_API_KEY'],
    needsKey: true,
    usualModel: 'mistral-medium-latest',
    reach: 'direct',
    quirks: ['no-stream-options', 'short-call-ids', 'assistant-after-tool'],
    keyAddress: 'https://console.mistral.ai/api-keys',
  },
  groq: {
    label: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    apiMode: 'chat_completions',
    keyVariables: ['GROQ_API_KEY'],
    needsKey: true,
    usualModel: 'openai/gpt-oss-120b',
    reach: 'direct',
    quirks: ['max-completion-tokens'],
    keyAddress: 'https://console.groq.com/keys',
  },
  nous: {
    label: 'Nous Portal',
    baseUrl: 'https://inference-api.nousresearch.com/v1',
    apiMode: 'chat_completions',
    keyVariables: ['NOUS_API_KEY'],
    needsKey: true,
    usualModel: 'nousresearch/hermes-4-405b',
    reach: 'aggregator',
    quirks: ['reasoning-object', 'reasoning-details-back', ...everyEffort],
    keyAddress: 'https://portal.nousresearch.com',
  },
  'openai-codex': {
    label: 'OpenAI Codex',
    baseUrl: 'https://chatgpt.com/backend-api/codex',
    apiMode: 'responses',
    keyVariables: ['OPENAI_CODEX_TOKEN', 'OPENAI_CODEX_API_KEY'],
    needsKey: true,
    usualModel: 'gpt-6.1-sol',
    reach: 'direct',
    quirks: [],
    keyAddress: 'https://chatgpt.com/codex',
  },
  ollama: {
    ...noKey,
    label: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    apiMode: 'chat_completions',
    keyVariables: ['OLLAMA_API_KEY'],
    usualModel: null,
    reach: 'local',
    quirks: ['reasoning-effort', 'effort-none'],
  },
  lmstudio: {
    ...noKey,
    label: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    apiMode: 'chat_completions',
    keyVariables: ['LMSTUDIO_API_KEY'],
    usualModel: null,
    reach: 'local',
  },
  vllm: {
    ...noKey,
    label: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    apiMode: 'chat_completions',
    keyVariables: ['VLLM_API_KEY'],
    usualModel: null,
    reach: 'local',
  },
  custom: {
    ...noKey,
    label: 'Custom',
    baseUrl: '',
    apiMode: 'chat_completions',
    keyVariables: ['CUSTOM_API_KEY'],
    usualModel: null,
    reach: 'direct',
  },
} as const satisfies Readonly<Record<string, ProviderRow>>;

export type ProviderName = keyof typeof providerRows;

export function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(providerRows, name);
}

export function providerRow(name: string): ProviderRow {
  return isProvider(name) ? providerRows[name] : { ...providerRows.custom, label: name };
}

/** The first of its key variables that is set. Null if none is. */
export function keyInEnvironment(
  row: ProviderRow,
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  for (const name of row.keyVariables) {
    const value = Object.hasOwn(environment, name) ? (environment[name]?.trim() ?? '') : '';
    if (value !== '') return value;
  }
  return null;
}
