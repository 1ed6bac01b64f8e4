/** Plain requests to the model server, as a test writes them down, and what came back. */
import { createParser } from 'eventsource-parser';
import type { Protocol } from './dialect.ts';
import type { Json } from './json.ts';
import type { ModelServer } from './server-contract.ts';

const paths: Record<Protocol, string> = {
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  anthropic_messages: '/v1/messages',
};

export interface Came {
  readonly status: number;
  readonly text: string;
  readonly json: Json;
  /** The data of its events, parsed; `[DONE]` is left as it is. */
  readonly events: readonly Json[];
}

export async function ask(
  server: ModelServer,
  protocol: Protocol,
  body: Json,
  headers: Record<string, string> = {},
): Promise<Came> {
  const answer = await fetch(server.url + paths[protocol], {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...keyHeaders(protocol), ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type') === 'application/json';
  return { status: answer.status, text, json: isJson ? (JSON.parse(text) as Json) : {}, events: eventsOf(text) };
}

function keyHeaders(protocol: Protocol): Record<string, string> {
  return protocol === 'anthropic_messages'
    ? { 'x-api-key': 'key-1', 'anthropic-version': '2023-06-01' }
    : { authorization: 'Bearer key-1' };
}

function eventsOf(text: string): Json[] {
  const events: Json[] = [];
  const parser = createParser({
    onEvent: ({ data }) => events.push(data === '[DONE]' ? { done: data } : (JSON.parse(data) as Json)),
  });
  parser.feed(text);
  return events;
}

/** One tool, as each protocol is told about it. */
const tools: Record<Protocol, Json> = {
  chat_completions: { type: 'function', function: { name: 'terminal', parameters: { type: 'object' } } },
  responses: { type: 'function', name: 'terminal', parameters: { type: 'object' } },
  anthropic_messages: { name: 'terminal', input_schema: { type: 'object' } },
};

/** A first request with these words. */
export function firstRequest(protocol: Protocol, words: string, more: Json = {}): Json {
  const common = { model: 'scripted', tools: [tools[protocol]], stream: true };
  switch (protocol) {
    case 'chat_completions':
      return {
        ...common,
        messages: [{ role: 'user', content: words }],
        stream_options: { include_usage: true },
        ...more,
      };
    case 'responses':
      return { ...common, input: [{ role: 'user', content: words }], store: false, ...more };
    case 'anthropic_messages':
      return { ...common, max_tokens: 4_096, messages: [{ role: 'user', content: words }], ...more };
  }
}

/** The text of a streamed answer. */
export function spokenIn(events: readonly Json[]): string {
  return events
    .map((event) => {
      const { delta, choices } = event as {
        delta?: string | { text?: string };
        choices?: { delta: { content?: string | null } }[];
      };
      if (choices !== undefined) return choices[0]?.delta.content ?? '';
      if (typeof delta === 'object') return delta.text ?? '';
      return event['type'] === 'response.output_text.delta' ? delta : '';
    })
    .join('');
}
