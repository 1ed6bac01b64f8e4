/**
 * What providers and gateways really send when a call fails, by who sends it, with the row of the table that must
 * decide. For tests.
 */
import type { ProviderFailure } from './failure-facts.ts';

export interface ErrorSample extends ProviderFailure {
  readonly from: string;
  readonly row: string;
}

type Extra = Readonly<Record<string, string>>;

function json(row: string, from: string, status: number | null, body: unknown, headers: Extra = {}): ErrorSample {
  return { row, from, status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

function raw(row: string, from: string, status: number | null, body: string, headers: Extra = {}): ErrorSample {
  return { row, from, status, headers, body };
}

const openai = (
  message: string,
  type: string | null,
  code: string | number | null = null,
  param: string | null = null,
) => ({
  error: { message, type, param, code },
});
const anthropic = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});
const google = (code: number, status: string, message: string, details: readonly object[] = []) => [
  { error: { code, message, status, details } },
];
const xai = (code: string, error: string) => ({ code, error });

export const errorSamples: readonly ErrorSample[] = [
  // --- OpenAI
  json(
    'context-code',
    'openai',
    400,
    openai(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130261 tokens. Please reduce the length of the messages.",
      'invalid_request_error',
      'context_length_exceeded',
      'messages',
    ),
  ),
  json(
    'context-of-a-minute',
    'openai',
    429,
    openai(
      'Request too large for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Requested 44216. The input or output tokens must be reduced in order to run successfully.',
      'tokens',
      'rate_limit_exceeded',
    ),
  ),
  json(
    'key-code',
    'openai',
    401,
    openai(
      'Incorrect API key provided: sk-proj-********************************abcd. You can find your API key at https://platform.openai.com/account/api-keys.',
      'invalid_request_error',
      'invalid_api_key',
    ),
  ),
  json(
    'billing-code',
    'openai',
    429,
    openai(
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
      'insufficient_quota',
    ),
    { 'x-should-retry': 'false' },
  ),
  json(
    'rate-code',
    'openai',
    429,
    openai(
      'Rate limit reached for gpt-4o in organization org-abc on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 120ms.',
      'requests',
      'rate_limit_exceeded',
    ),
  ),
  json(
    'model-code',
    'openai',
    404,
    openai(
      'The model `gpt-9` does not exist or you do not have access to it.',
      'invalid_request_error',
      'model_not_found',
    ),
  ),
  json(
    'model-permission',
    'openai',
    403,
    openai('Project `proj_abc` does not have access to model `gpt-5-pro`.', 'invalid_request_error'),
  ),
  json(
    'region',
    'openai',
    403,
    openai('Country, region, or territory not supported', 'request_forbidden', 'unsupported_country_region_territory'),
  ),
  json(
    'refused-words',
    'openai',
    400,
    openai(
      'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.',
      'invalid_request_error',
      'invalid_prompt',
    ),
  ),
  json(
    'overloaded-words',
    'openai',
    503,
    openai('The engine is currently overloaded, please try again later', 'server_error'),
  ),
  json('overloaded-code', 'openai', 503, openai('Slow Down', 'server_error', 'slow_down')),
  json(
    'status-server',
    'openai',
    500,
    openai('The server had an error while processing your request. Sorry about that!', 'server_error'),
  ),
  json(
    'status-request',
    'openai',
    400,
    openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'invalid_request_error',
      'unsupported_parameter',
      'max_tokens',
    ),
  ),
  json('code-server', 'openai, in a stream', null, {
    type: 'error',
    code: 'server_error',
    message: 'Something broke.',
    param: null,
    sequence_number: 3,
  }),
  json(
    'code-request',
    'openai, in a stream',
    null,
    openai('Invalid prompt.', 'invalid_request_error', 'invalid_prompt'),
  ),
  // --- Anthropic
  json(
    'context-words',
    'anthropic',
    400,
    anthropic('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
  ),
  json(
    'context-words',
    'anthropic',
    400,
    anthropic(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    ),
  ),
  json('payload-code', 'anthropic', 413, anthropic('request_too_large', 'Request exceeds the maximum size')),
  json(
    'payload-words',
    'anthropic',
    400,
    anthropic(
      'invalid_request_error',
      'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes',
    ),
  ),
  json(
    'billing-words',
    'anthropic',
    400,
    anthropic(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
  ),
  json(
    'billing-words',
    'anthropic',
    400,
    anthropic(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
    ),
  ),
  json('key-code', 'anthropic', 401, anthropic('authentication_error', 'invalid x-api-key')),
  json(
    'status-auth',
    'anthropic',
    403,
    anthropic('permission_error', 'Your API key does not have permission to use the specified resource'),
  ),
  json('model-words', 'anthropic', 404, anthropic('not_found_error', 'model: claude-opus-99')),
  json(
    'refused-words',
    'anthropic',
    400,
    anthropic('invalid_request_error', 'Output blocked by content filtering policy'),
  ),
  json(
    'rate-code',
    'anthropic',
    429,
    anthropic(
      'rate_limit_error',
      "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
    ),
    { 'retry-after': '27' },
  ),
  json('overloaded-code', 'anthropic', 529, anthropic('overloaded_error', 'Overloaded'), { 'x-should-retry': 'true' }),
  json('overloaded-code', 'anthropic, in a stream', null, anthropic('overloaded_error', 'Overloaded')),
  json('overloaded-words', 'anthropic', 500, anthropic('api_error', 'Overloaded')),
  json('status-server', 'anthropic', 500, anthropic('api_error', 'Internal server error')),
  json('status-timeout', 'anthropic', 504, anthropic('timeout_error', 'Request timed out')),
  json('code-server', 'anthropic, in a stream', null, anthropic('api_error', 'Internal server error')),
  json('code-timeout', 'anthropic, in a stream', null, anthropic('timeout_error', 'The request timed out')),
  json('code-auth', 'anthropic, in a stream', null, anthropic('permission_error', 'You may not.')),
  json('code-model', 'anthropic, in a stream', null, anthropic('not_found_error', 'Not here.')),
  // --- OpenRouter
  json('billing-status', 'openrouter', 402, {
    error: {
      message:
        'This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 1066.',
      code: 402,
    },
    user_id: 'user_2abc',
  }),
  json('key-words', 'openrouter', 401, { error: { message: 'No auth credentials found', code: 401 } }),
  json('model-words', 'openrouter', 404, { error: { message: 'No endpoints found for acme/none.', code: 404 } }),
  json('model-words', 'openrouter', 400, { error: { message: 'acme/none is not a valid model ID', code: 400 } }),
  json('refused-words', 'openrouter', 403, {
    error: {
      message: 'openai/gpt-4o requires moderation on OpenAI. Your input was flagged for "violence".',
      code: 403,
      metadata: { reasons: ['violence'], flagged_input: 'how to …', provider_name: 'OpenAI' },
    },
  }),
  json('overloaded-words', 'openrouter', 429, {
    error: {
      message: 'Provider returned error',
      code: 429,
      metadata: {
        raw: 'acme/free is temporarily rate-limited upstream. Please retry shortly, or add your own key.',
        provider_name: 'Chutes',
      },
    },
  }),
  json('rate-status', 'openrouter', 429, {
    error: {
      message: 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day',
      code: 429,
      metadata: {
        headers: { 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1763424000000' },
      },
    },
  }),
  json('context-words', 'openrouter, for anthropic', 400, {
    error: {
      message: 'Provider returned error',
      code: 400,
      metadata: {
        raw: JSON.stringify(anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum')),
        provider_name: 'Anthropic',
      },
    },
  }),
  json('status-server', 'openrouter, in a stream', null, {
    id: 'gen-1',
    object: 'chat.completion.chunk',
    provider: 'OpenAI',
    error: { code: 502, message: 'Provider disconnected unexpectedly' },
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
  }),
  json('status-timeout', 'openrouter', 408, { error: { message: 'Request timed out', code: 408 } }),
  // --- Google
  json(
    'rate-google',
    'google',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10 Please retry in 34.074824224s.',
      [
        { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaValue: '10' }] },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' },
      ],
    ),
  ),
  json(
    'key-code',
    'google',
    400,
    google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
    ]),
  ),
  json(
    'region-words',
    'google',
    400,
    google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
  ),
  json(
    'status-auth',
    'google',
    403,
    google(
      403,
      'PERMISSION_DENIED',
      'Generative Language API has not been used in project 1 before or it is disabled.',
    ),
  ),
  json(
    'model-words',
    'google',
    404,
    google(
      404,
      'NOT_FOUND',
      'models/gemini-9 is not found for API version v1main, or is not supported for generateContent.',
    ),
  ),
  json(
    'context-words',
    'google',
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    ),
  ),
  json(
    'overloaded-code',
    'google',
    503,
    google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  ),
  json('status-server', 'google', 500, google(500, 'INTERNAL', 'An internal error has occurred. Please retry.')),
  json(
    'status-timeout',
    'google',
    504,
    google(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'),
  ),
  json(
    'payload-words',
    'google',
    400,
    google(400, 'INVALID_ARGUMENT', 'Request payload size exceeds the limit: 20971520 bytes.'),
  ),
  // --- DeepSeek
  json(
    'key-code',
    'deepseek',
    401,
    openai('Authentication Fails, Your api key: ****abcd is invalid', 'authentication_error', 'invalid_request_error'),
  ),
  json('billing-status', 'deepseek', 402, openai('Insufficient Balance', 'unknown_error', 'invalid_request_error')),
  json('model-words', 'deepseek', 400, openai('Model Not Exist', 'invalid_request_error', 'invalid_request_error')),
  json(
    'context-words',
    'deepseek',
    400,
    openai(
      "This model's maximum context length is 131072 tokens. However, you requested 140001 tokens (132001 in the messages, 8000 in the completion).",
      'invalid_request_error',
      'invalid_request_error',
    ),
  ),
  json(
    'status-request',
    'deepseek',
    400,
    openai('Missing `reasoning_content` field in the assistant message at message index 3.', 'invalid_request_error'),
  ),
  raw('status-overloaded', 'deepseek', 503, 'Service Unavailable'),
  // --- xAI
  json(
    'key-words',
    'xai',
    400,
    xai(
      'Client specified an invalid argument',
      'Incorrect API key provided: xa***YA. You can obtain an API key from https://console.x.ai.',
    ),
  ),
  json(
    'billing-words',
    'xai',
    403,
    xai(
      'The caller does not have permission to execute the specified operation',
      "Your newly created teams doesn't have any credits yet. You can purchase credits on https://console.x.ai.",
    ),
  ),
  json(
    'billing-words',
    'xai',
    429,
    xai(
      'Some resource has been exhausted',
      'Your team 1 has either used all available credits or reached its monthly spending limit.',
    ),
  ),
  json(
    'context-words',
    'xai',
    400,
    xai(
      'Client specified an invalid argument',
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    ),
  ),
  json(
    'model-words',
    'xai',
    404,
    xai(
      'Some requested entity was not found',
      'The model grok-9 does not exist or your team 1 does not have access to it.',
    ),
  ),
  json(
    'rate-status',
    'xai',
    429,
    xai('Some resource has been exhausted', 'Too many requests for team 1 and model grok-4.'),
  ),
  // --- Z.ai
  json('billing-code', 'zai', 429, {
    error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' },
  }),
  json('rate-code', 'zai', 429, {
    error: { code: '1302', message: 'High concurrency usage of this API, please reduce concurrency.' },
  }),
  json('context-code', 'zai', 400, { error: { code: '1261', message: 'Prompt exceeds max length' } }),
  json('refused-code', 'zai', 400, {
    error: { code: '1301', message: 'System detected potentially unsafe content in input or generation.' },
  }),
  json('model-code', 'zai', 400, { error: { code: '1211', message: 'Unknown Model, please check the model code.' } }),
  json('key-code', 'zai', 401, { error: { code: '1000', message: 'Authentication Failed' } }),
  json('status-request', 'zai', 400, {
    error: { code: '1210', message: 'Invalid API parameter, please check the documentation.' },
  }),
  // --- Moonshot
  json('billing-code', 'moonshot', 429, {
    error: {
      type: 'exceeded_current_quota_error',
      message: 'Your account org-1 is suspended, please check your plan and billing details',
    },
  }),
  json('overloaded-code', 'moonshot', 429, {
    error: { type: 'engine_overloaded_error', message: 'The engine is currently overloaded, please try again later' },
  }),
  json('rate-code', 'moonshot', 429, {
    error: {
      type: 'rate_limit_reached_error',
      message: 'Your account org-1 request reached max organization concurrency: 1, please try again after 1 seconds',
    },
  }),
  json('context-words', 'moonshot', 400, {
    error: {
      type: 'invalid_request_error',
      message: 'Your request exceeded model token limit: 131072 (requested: 140000)',
    },
  }),
  json('refused-code', 'moonshot', 400, {
    error: { type: 'content_filter', message: 'The request was rejected because it was considered high risk' },
  }),
  json('model-words', 'moonshot', 404, {
    error: { type: 'resource_not_found_error', message: 'Not found the model kimi-9 or Permission denied' },
  }),
  json('key-code', 'moonshot', 401, {
    error: { type: 'invalid_authentication_error', message: 'Invalid Authentication' },
  }),
  // --- Mistral
  json('status-auth', 'mistral', 401, { message: 'Unauthorized', request_id: '1' }),
  json('context-words', 'mistral', 400, {
    object: 'error',
    message: 'Prompt contains 150000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    type: 'invalid_request_prompt',
    param: null,
    code: '3051',
  }),
  json('rate-code', 'mistral', 429, {
    object: 'error',
    message: 'Rate limit exceeded',
    type: 'rate_limited',
    param: null,
    code: '1300',
  }),
  json('model-code', 'mistral', 400, {
    object: 'error',
    message: 'Invalid model: mistral-none',
    type: 'invalid_model',
    param: null,
    code: '1500',
  }),
  json('status-request', 'mistral', 422, {
    detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }],
  }),
  json('overloaded-words', 'mistral', 429, {
    object: 'error',
    message: 'Service tier capacity exceeded for this model.',
    type: 'service_tier_capacity_exceeded',
    code: '3505',
  }),
  // --- Groq
  json(
    'context-of-a-minute',
    'groq',
    413,
    openai(
      'Request too large for model `llama-3.1-8b-instant` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9062, please reduce your message size and try again.',
      'tokens',
      'rate_limit_exceeded',
    ),
  ),
  json(
    'rate-code',
    'groq',
    429,
    openai(
      'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` on tokens per day (TPD): Limit 100000, Used 99336, Requested 1513. Please try again in 12m13.536s.',
      'tokens',
      'rate_limit_exceeded',
    ),
  ),
  json(
    'call-unreadable',
    'groq',
    400,
    openai(
      "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      'invalid_request_error',
      'tool_use_failed',
    ),
  ),
  json(
    'model-code',
    'groq',
    400,
    openai('The model `mixtral-8x7b-32768` has been decommissioned.', 'invalid_request_error', 'model_decommissioned'),
  ),
  json('status-overloaded', 'groq', 498, openai('Flex tier is full for now.', 'flex_tier')),
  // --- Ollama
  json('model-words', 'ollama', 404, openai('model "qwen9" not found, try pulling it first', 'api_error')),
  json('model-words', 'ollama', 404, { error: "model 'qwen9' not found" }),
  json(
    'status-request',
    'ollama',
    400,
    openai('registry.ollama.ai/library/gemma:2b does not support tools', 'api_error'),
  ),
  json(
    'memory-words',
    'ollama',
    500,
    openai('model requires more system memory (5.6 GiB) than is available (3.1 GiB)', 'api_error'),
  ),
  json('status-server', 'ollama', 500, openai('llama runner process has terminated: exit status 2', 'api_error')),
  // --- vLLM
  json('context-words', 'vllm', 400, {
    object: 'error',
    message: "This model's maximum context length is 4096 tokens. However, you requested 4104 tokens.",
    type: 'BadRequestError',
    param: null,
    code: 400,
  }),
  json('model-words', 'vllm', 404, openai('The model `none` does not exist.', 'NotFoundError', 404, 'model')),
  json('status-auth', 'vllm', 401, { error: 'Unauthorized' }),
  // --- LM Studio
  json(
    'model-code',
    'lmstudio',
    404,
    openai(
      'No models loaded. Please load a model in the developer page.',
      'invalid_request_error',
      'model_not_found',
      'model',
    ),
  ),
  json('context-words', 'lmstudio', 400, {
    error:
      'Trying to keep the first 6152 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.',
  }),
  json('context-words', 'llama.cpp', 400, {
    error: {
      code: 400,
      message: 'the request exceeds the available context size, try increasing it',
      type: 'exceed_context_size_error',
    },
  }),
  // --- ChatGPT's backend for codex
  json('rate-code', 'openai-codex', 429, {
    error: {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      plan_type: 'plus',
      resets_at: 1777936568,
      resets_in_seconds: 13872,
    },
  }),
  json('billing-code', 'openai-codex', 429, {
    error: { type: 'usage_not_included', message: 'To use Codex with your ChatGPT plan, upgrade to Plus' },
  }),
  json('model-words', 'openai-codex', 400, {
    detail: "The 'gpt-9' model is not supported when using Codex with a ChatGPT account.",
  }),
  json('key-code', 'openai-codex', 401, {
    error: { message: 'Provided authentication token is expired. Please try signing in again.', code: 'token_expired' },
    status: 401,
  }),
  // --- gateways and proxies
  raw(
    'status-server',
    'cloudflare',
    520,
    '<!DOCTYPE html><html><head><title>api.example.com | 520: Web server is returning an unknown error</title></head></html>',
    { server: 'cloudflare', 'content-type': 'text/html' },
  ),
  raw(
    'status-timeout',
    'cloudflare',
    524,
    '<!DOCTYPE html><html><head><title>api.example.com | 524: A timeout occurred</title></head></html>',
  ),
  raw('status-server', 'nginx', 502, '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body></body></html>'),
  raw('status-overloaded', 'nginx', 503, '<html><head><title>503 Service Temporarily</title></head></html>'),
  raw('payload-status', 'nginx', 413, '<html><head><title>413</title></head><body><h1>413</h1></body></html>'),
  raw('no-such-page', 'nginx', 404, '<html><head><title>404 Not Found</title></head></html>'),
  raw('no-such-route', 'a Go server', 404, '404 page not found'),
  raw('status-model', 'a gateway', 404, ''),
  raw('status-auth', 'cloudflare', 403, '<html><head><title>Just a moment...</title></head></html>'),
  raw('proxy-key', 'squid', 407, '<html><head><title>ERROR: Cache Access Denied</title></head></html>'),
  raw('moved', 'a web server', 301, '', { location: 'https://example.com/' }),
  raw('status-retry', 'a gateway', 409, ''),
  raw('rate-words', 'a gateway, in a stream', null, 'Rate limit exceeded'),
  raw('words-server', 'a gateway, in a stream', null, 'upstream connect error or disconnect'),
  raw('anything', 'a gateway', 418, 'I am a teapot'),
  raw('anything', 'a gateway, in a stream', null, '{}'),
];
