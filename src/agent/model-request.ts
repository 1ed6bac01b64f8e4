/**
 * What a model is sent: a pure function of the log. The same log gives the same bytes, whichever process asks and
 * however often, which is what keeps the provider's cache warm.
 */
import { present } from '../lib/assert.ts';
import type { ModelRequest } from '../models/model.ts';
import type { CallId } from '../protocol/ids.ts';
import { toolCallsOf, type Entry, type Message, type ToolMessage } from '../protocol/messages.ts';
import { headOf, type Journal } from './journal.ts';
import { messagesOfView, promptView, withDigest } from './prompt-view.ts';

/** How the log is sent: what may differ from call to call without being another conversation. */
export type RequestManner = Pick<ModelRequest, 'effort' | 'cachePace' | 'contents'>;

export function modelRequest(journal: Journal, manner: RequestManner): ModelRequest {
  const head = present(headOf(journal), 'the head of a session with a turn');
  return {
    systemPrompt: head.systemPrompt,
    tools: head.tools,
    messages: messagesInPromptOrder(journal.entries),
    cacheKey: journal.session.id,
    ...manner,
  };
}

/** The hashes of what the conversation's messages hold besides text. */
export function contentsOf(journal: Journal): ReadonlySet<string> {
  const hashes = new Set<string>();
  for (const message of messagesOfView(promptView(journal.entries))) {
    for (const part of message.parts) {
      if (part.kind === 'image') hashes.add(part.content.sha256);
      if (part.kind === 'tool-result') for (const { sha256 } of part.images ?? []) hashes.add(sha256);
    }
  }
  return hashes;
}

/** Results follow their call's message in the order of the calls, whatever finished first. What was rewound is out. */
function messagesInPromptOrder(entries: readonly Entry[]): Message[] {
  const results = new Map<CallId, ToolMessage>();
  // Of all entries: a call that is in force has its result, wherever that stands.
  for (const entry of entries) {
    if (entry.kind === 'message' && entry.message.role === 'tool') {
      results.set(entry.message.parts[0].callId, entry.message);
    }
  }
  const messages: Message[] = [];
  const view = promptView(entries);
  for (const message of messagesOfView(view)) {
    if (message.role === 'tool' || isSilent(message)) continue;
    messages.push(message);
    if (message.role !== 'assistant') continue;
    for (const call of toolCallsOf(message)) {
      messages.push(withDigest(present(results.get(call.callId), `the result of ${call.callId}`), view.digests));
    }
  }
  return messages;
}

/** An answer with neither words nor calls stays in the log, but no provider takes it back. */
function isSilent(message: Message): boolean {
  if (message.role !== 'assistant') return false;
  return !message.parts.some((part) => part.kind === 'tool-call' || (part.kind === 'text' && part.text.trim() !== ''));
}
