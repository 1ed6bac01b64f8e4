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
/**
 * A connection that was left alone for longer is closed: after a sleep or a change of networks it may be dead, and then
 * nobody knows what became of a message that was sent on it.
 */
const connectionIdleMs = 15_000;

export interface TelegramApiOptions {
  readonly token: string;
  readonly apiRoot: string;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
  readonly connectionIdleMs?: number;
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

export function createTelegramApi(options: TelegramApiOptions): TelegramApi {
  const { clock, requestTimeoutMs } = options;
  let loading: Promise<{ api: Api; grammy: typeof Grammy }> | null = null;
  const load = () => (loading ??= open(options));
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

async function open({ token, ...options }: TelegramApiOptions): Promise<{ api: Api; grammy: typeof Grammy }> {
  const grammy = await import('grammy');
  const apiRoot = options.apiRoot.replace(/\/+$/, '');
  const { Agent } = process.getBuiltinModule(apiRoot.startsWith('https:') ? 'node:https' : 'node:http');
  const agent = new Agent({ keepAlive: true, timeout: options.connectionIdleMs ?? connectionIdleMs });
  return {
    api: new grammy.Api(token, { apiRoot, timeoutSeconds: backstopTimeoutS, baseFetchConfig: { agent } }),
    grammy,
  };
}

function stopped(notDone: boolean): TelegramError {
  return new TelegramError({ reason: 'stopped', text: 'stopped', notDone });
}
