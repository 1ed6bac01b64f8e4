/**
 * OpenAI's responses dialect: one request becomes one body with its keys in a fixed order and everything that grows at
 * its end. The server is told to keep nothing; thoughts come back sealed and are sent again. The quirk `codex` is for
 * the address behind a ChatGPT subscription, which takes fewer members and wants to know the account.
 */
import type { ApiKey, ModelRequest, Runtime } from '../../model.ts';
import { isBlank, jsonText, toolName, toolParameters } from '../message-parts.ts';
import type { Protocol } from '../protocol.ts';
import { createResponsesDecoder } from './decode-stream.ts';
import { effortWord } from './effort-words.ts';
import { encodeItems, userText } from './encode-items.ts';

const cacheKeyCharsMax = 64;
/** A lower limit is refused. */
const outputTokensMin = 16;
/** That address takes no request without instructions. */
const leastInstructions = 'You are a helpful assistant.';
/** An input must not be empty. */
const closingWords = 'Go on.';

export const responses: Protocol = {
  path: '/responses',
  headers: responsesHeaders,
  encode,
  decoder: createResponsesDecoder,
};

function isCodex({ provider, quirks }: Runtime): boolean {
  return provider === 'openai-codex' || quirks.includes('codex');
}

function responsesHeaders(runtime: Runtime, { secret }: ApiKey): Readonly<Record<string, string>> {
  const account = isCodex(runtime) ? accountOf(secret) : null;
  return {
    ...(secret !== '' && { authorization: `Bearer ${secret}` }),
    ...(isCodex(runtime) && { 'openai-beta': 'responses=experimental', originator: 'talaria' }),
    ...(account !== null && { 'chatgpt-account-id': account }),
  };
}

/** The token names its account itself; null for one that doesn't. */
function accountOf(token: string): string | null {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    const { chatgpt_account_id: account } = (claims['https://api.openai.com/auth'] ?? {}) as Record<string, unknown>;
    return typeof account === 'string' && /^[\w.-]+$/.test(account) ? account : null;
  } catch {
    return null;
  }
}

function encode(runtime: Runtime, request: ModelRequest): { readonly body: string; readonly units: readonly string[] } {
  const tools = request.tools.map(
    (tool) =>
      `{"type":"function","name":"${toolName(tool.name)}","description":${jsonText(tool.description)},"parameters":${toolParameters(tool)},"strict":false}`,
  );
  const instructions = instructionsOf(runtime, request);
  const reasoning = JSON.stringify(reasoningSetting(runtime, request));
  const messages = request.messages.map((message) => encodeItems(runtime, request, message).join(','));
  const items = messages.filter((item) => item !== '');
  const parts = [
    `"model":${jsonText(runtime.model)},"stream":true,"store":false`,
    ...(isCodex(runtime) ? [] : [`"max_output_tokens":${Math.max(outputTokensMin, runtime.outputTokensMax)}`]),
    // Models that don't think refuse to be asked for their thoughts.
    ...(runtime.reasons ? ['"include":["reasoning.encrypted_content"]'] : []),
    ...(reasoning === '{}' ? [] : [`"reasoning":${reasoning}`]),
    ...(runtime.caching === 'none' ? [] : [`"prompt_cache_key":${jsonText(cacheKey(request.cacheKey))}`]),
    ...(tools.length > 0 ? [`"tool_choice":"auto","parallel_tool_calls":true,"tools":[${tools.join(',')}]`] : []),
    ...(instructions === '' ? [] : [`"instructions":${jsonText(instructions)}`]),
    `"input":[${(items.length > 0 ? items : [userText(closingWords)]).join(',')}]`,
  ];
  return {
    body: `{${parts.join(',')}}`,
    units: [`[${tools.join(',')}]`, jsonText(instructions), reasoning, ...messages.map((items) => `[${items}]`)],
  };
}

function instructionsOf(runtime: Runtime, { systemPrompt }: ModelRequest): string {
  if (!isBlank(systemPrompt)) return systemPrompt;
  return isCodex(runtime) ? leastInstructions : '';
}

function reasoningSetting(runtime: Runtime, { effort }: ModelRequest): { effort?: string; summary?: string } {
  if (!runtime.reasons) return {};
  if (effort === null) return { summary: 'auto' };
  const word = effortWord(runtime, effort);
  return word === 'none' ? { effort: word } : { effort: word, summary: 'auto' };
}

function cacheKey(key: string): string {
  if (key.length <= cacheKeyCharsMax) return key;
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(key).digest('hex');
}
