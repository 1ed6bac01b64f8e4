/**
 * The environment variables in which people keep the keys of providers, and which are read without being named in
 * config.yaml. Their values are secrets wherever they come from.
 */
import { valueOf, type Environment } from './environment.ts';

export const keyVariables: readonly string[] = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'OPENROUTER_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
  'ZAI_API_KEY',
  'GLM_API_KEY',
  'MOONSHOT_API_KEY',
  'MISTRAL_API_KEY',
  'GROQ_API_KEY',
  'NOUS_API_KEY',
  'OPENAI_CODEX_TOKEN',
  'OPENAI_CODEX_API_KEY',
  'OLLAMA_API_KEY',
  'LMSTUDIO_API_KEY',
  'VLLM_API_KEY',
  'CUSTOM_API_KEY',
];

export function keysInEnvironment(environment: Environment): string[] {
  return keyVariables.flatMap((name) => {
    const value = valueOf(environment, name)?.trim() ?? '';
    return value === '' ? [] : [value];
  });
}
