/** The lists of models, in each provider's form. */
import type { Json } from './json.ts';

const createdS = 1_735_689_600;

/** Null if the path is not one of a list. */
export function modelList(
  path: string,
  headers: Readonly<Record<string, string>>,
  models: readonly string[],
): Json | null {
  if (path.endsWith('/api/tags')) return { models: models.map(ollamaModel) };
  if (path.endsWith('/api/show'))
    return { capabilities: ['completion', 'tools'], parameters: '', model_info: { 'llama.context_length': 131_072 } };
  if (path.endsWith('/api/version')) return { version: '0.12.3' };
  if (!path.endsWith('/models')) return null;
  return headers['anthropic-version'] === undefined ? openaiModels(models) : anthropicModels(models);
}

function openaiModels(models: readonly string[]): Json {
  return { object: 'list', data: models.map((id) => ({ id, object: 'model', created: createdS, owned_by: 'system' })) };
}

function anthropicModels(models: readonly string[]): Json {
  const data = models.map((id) => ({ type: 'model', id, display_name: id, created_at: '2025-01-01T00:00:00Z' }));
  return { data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null };
}

function ollamaModel(name: string): Json {
  return {
    name,
    model: name,
    modified_at: '2025-01-01T00:00:00Z',
    size: 4_683_087_332,
    digest: '0'.repeat(64),
    details: {
      format: 'gguf',
      family: 'llama',
      families: ['llama'],
      parameter_size: '8B',
      quantization_level: 'Q4_K_M',
    },
  };
}
