/**
 * The Bot API through grammY, which is loaded with the first call. Every failure is a `TelegramError`; every call ends by
 * its time limit or its signal.
 */
import type * as Grammy from 'grammy';
import type { Api, RawApi } from 'grammy';
import type { Clock } from '../../lib/clock.ts';
import { fromAnswer, fromNetwork, TelegramError } from './telegram-error.ts';

/** grammY's own limit, a net below ours. */
const backstopTimeoutS = 600;

export interface TelegramApiOptions {
  readonly token: string;
  readonly apiRoot: string;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
}

export type Methods = RawApi;
type Signal = Parameters<Methods['getMe']>[0];

export interface TelegramApi {
  call<Result>(
    perform: (methods: Methods, signal: Signal) => Promise<Result>,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<Result>;
}

export function createTelegramApi({ token, apiRoot, clock, requestTimeoutMs }: TelegramApiOptions): TelegramApi {
  let loading: Promise<{ api: Api; grammy: typeof Grammy }> | null = null;
  const load = () => (loading ??= open(token, apiRoot.replace(/\/+$/, '')));
  return {
    async call(perform, signal, timeoutMs = requestTimeoutMs) {
      if (signal.aborted) throw stopped(true);
      const { api, grammy } = await load();
      const limit = new AbortController();
      const cancel = clock.setTimer(timeoutMs, () => limit.abort());
      const either = AbortSignal.any([signal, limit.signal]);
      try {
        return await perform(api.raw, either as Signal);
      } catch (error) {
        if (error instanceof grammy.GrammyError) {
          throw fromAnswer(error.error_code, error.description, error.parameters);
        }
        if (signal.aborted) throw stopped(false);
        if (limit.signal.aborted) {
          throw new TelegramError({ reason: 'timeout', text: `Telegram did not answer within ${timeoutMs / 1_000} s` });
        }
        if (error instanceof grammy.HttpError) throw fromNetwork(error.error);
        throw error;
      } finally {
        cancel();
      }
    },
  };
}

async function open(token: string, apiRoot: string): Promise<{ api: Api; grammy: typeof Grammy }> {
  const grammy = await import('grammy');
  return { api: new grammy.Api(token, { apiRoot, timeoutSeconds: backstopTimeoutS }), grammy };
}

function stopped(notDone: boolean): TelegramError {
  return new TelegramError({ reason: 'stopped', text: 'stopped', notDone });
}
