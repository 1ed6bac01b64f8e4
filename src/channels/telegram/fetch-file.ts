/**
 * Fetches the bytes of a file that somebody sent. Never more than the limit, whatever the platform says of its size, and
 * only a few tries: what can't be had is described to the model instead.
 */
import type { IncomingMessage } from 'node:http';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { RandomSource } from '../../lib/random.ts';
import { retryDelayMs } from '../../lib/retry.ts';
import { fileBytesMax, type WantedFile } from './describe-content.ts';
import type { TelegramApi } from './telegram-api.ts';
import { fromAnswer, fromNetwork, TelegramError } from './telegram-error.ts';
import type { TelegramTimes } from './telegram-options.ts';

const attemptsMax = 3;
const waitMaxMs = 10_000;

export interface FetchDeps {
  readonly token: string;
  readonly apiRoot: string;
  readonly api: TelegramApi;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly times: TelegramTimes;
}

/** Null if it can't be had. Throws only when it was stopped. */
export async function fetchFile(
  deps: FetchDeps,
  { fileId }: WantedFile,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const { clock, random, times } = deps;
  const policy = { attemptsMax, firstDelayMs: times.firstDelayMs, delayMaxMs: waitMaxMs };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { file_path: path } = await deps.api.call((api, s) => api.getFile({ file_id: fileId }, s), signal);
      return path === undefined ? null : await download(deps, path, signal);
    } catch (error) {
      if (!(error instanceof TelegramError) || error.reason === 'stopped') throw error;
      if (attempt >= attemptsMax || !error.retryable) return null;
      await sleep(
        clock,
        Math.min(waitMaxMs, Math.max(error.retryAfterMs, retryDelayMs(policy, attempt, random))),
        signal,
      );
    }
  }
}

async function download(deps: FetchDeps, path: string, signal: AbortSignal): Promise<Uint8Array | null> {
  const limit = new AbortController();
  const cancel = deps.clock.setTimer(deps.times.downloadTimeoutMs, () => limit.abort());
  const spelt = path.split('/').map(encodeURIComponent).join('/');
  const url = `${deps.apiRoot}/file/bot${deps.token}/${spelt}`;
  try {
    const answer = await request(url, AbortSignal.any([signal, limit.signal]));
    const { statusCode = 0 } = answer;
    if (statusCode !== 200) {
      answer.destroy();
      // A file that is gone is no question of the token.
      throw statusCode === 404
        ? new TelegramError({ reason: 'bad-request', text: 'the file is gone' })
        : fromAnswer(statusCode, 'no file', {});
    }
    return await bytesOf(answer);
  } catch (error) {
    if (error instanceof TelegramError) throw error;
    throw signal.aborted ? new TelegramError({ reason: 'stopped', text: 'stopped' }) : fromNetwork(error);
  } finally {
    cancel();
  }
}

function request(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { get } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    get(url, { signal, agent: false }, resolve).on('error', reject);
  });
}

async function bytesOf(answer: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > fileBytesMax) {
      answer.destroy();
      return null;
    }
    chunks.push(chunk);
  }
  return answer.complete ? Buffer.concat(chunks) : null;
}
