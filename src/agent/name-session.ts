/**
 * Names a session after its first answer, with the model that was chosen for it. A side job: it may fail, and then the
 * session keeps the words it began with; it is never tried twice.
 */
import { localDay } from '../lib/local-day.ts';
import { present } from '../lib/assert.ts';
import { ModelError, type ModelRequest, type Runtime } from '../models/model.ts';
import { textOf } from '../protocol/messages.ts';
import type { Usage } from '../protocol/usage.ts';
import { StoreError, type SessionWrite } from '../store/store.ts';
import { estimateTokens, priced, reservation } from './call-cost.ts';
import type { Journal } from './journal.ts';
import { messagesInForce } from './rewind.ts';
import type { TurnDeps } from './turn-deps.ts';

const excerptCharsMax = 2_000;
const titleCharsMax = 80;
const patienceMs = 30_000;

export async function nameSession(deps: TurnDeps, journal: Journal, signal: AbortSignal): Promise<void> {
  const runtime = present(deps.agent.titler, 'a model that names sessions');
  const modelCallId = deps.ids.next('mdl');
  const request = titleRequest(journal);
  const key = (await deps.models.nextKey(runtime, new Set())) ?? runtime.keys[0];
  // Recorded as named before it is: should this take the process down, it is not tried again.
  const keepWords: SessionWrite = { verb: 'set-title', title: journal.session.title, by: 'model' };
  try {
    await deps.commit([
      keepWords,
      {
        verb: 'start-model-call',
        modelCallId,
        turnId: null,
        purpose: 'title',
        provider: runtime.provider,
        model: runtime.model,
        keyId: key.id,
        prompt: { runtime: 'title', kept: 0, added: [], prefixBreak: 'first-call', headSeq: 0, effort: null },
        day: localDay(deps.clock.now()),
        reservedUsd: reservation(runtime, estimateTokens([JSON.stringify(request.messages)])),
        budget: deps.settings.budget,
      },
    ]);
  } catch (error) {
    if (error instanceof StoreError && error.reason === 'over-budget') return deps.commit([keepWords]);
    throw error;
  }
  const ended = (outcome: 'completed' | 'failed' | 'cancelled', usage: Usage | null, error: string | null) =>
    ({ verb: 'end-model-call', modelCallId, outcome, usage, error }) as const;
  const answer = await ask(deps, runtime, request, key, signal);
  if (answer instanceof ModelError) {
    return deps.commit([ended(signal.aborted ? 'cancelled' : 'failed', null, answer.message)]);
  }
  const title = tidied(answer.text);
  const named: SessionWrite[] = title === '' ? [] : [{ verb: 'set-title', title, by: 'model' }];
  return deps.commit([ended('completed', answer.usage, null), ...named]);
}

async function ask(
  deps: TurnDeps,
  runtime: Runtime,
  request: ModelRequest,
  key: Runtime['keys'][0],
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly usage: Usage } | ModelError> {
  const limit = new AbortController();
  const cancel = deps.clock.setTimer(patienceMs, () => limit.abort());
  try {
    const model = await deps.agent.clients.get(runtime);
    let text = '';
    for await (const event of model.stream(model.prepare(request), key, AbortSignal.any([signal, limit.signal]))) {
      if (event.kind === 'text-delta') text += event.text;
      if (event.kind === 'failed') return event.error;
      if (event.kind === 'end') return { text, usage: priced(event.usage, event.usd, runtime.price, 'short') };
    }
    return new ModelError('malformed-stream', 'The model stopped in mid-answer.');
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  } finally {
    cancel();
  }
}

function titleRequest(journal: Journal): ModelRequest {
  const spoken = messagesInForce(journal.entries).flatMap(({ message }) =>
    message.role === 'tool' ? [] : [`${message.role}: ${textOf(message)}`],
  );
  const text = spoken.join('\n').slice(0, excerptCharsMax).toWellFormed();
  return {
    systemPrompt:
      'Name the conversation that follows in three to seven words, in its own language. Answer with the name alone.',
    tools: [],
    messages: [{ role: 'user', parts: [{ kind: 'text', text }] }],
    effort: 'none',
    cacheKey: 'title',
    cachePace: 'short',
    contents: new Map(),
  };
}

/** One line without quotes around it. */
function tidied(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line
    .replace(/^["'“«*#\s]+|["'”»*.\s]+$/g, '')
    .slice(0, titleCharsMax)
    .toWellFormed();
}
