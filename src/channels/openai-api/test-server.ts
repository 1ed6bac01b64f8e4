/** The API behind a real listener on loopback, with a fake gateway, for tests. */
import type { HttpRequest } from '../../http/http-message.ts';
import { listen } from '../../http/listener.ts';
import { createRouter } from '../../http/router.ts';
import { systemClock } from '../../lib/clock.ts';
import { createIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { systemRandom } from '../../lib/random.ts';
import { FakePort } from './fake-port.ts';
import { withOpenAiErrors } from './openai-door.ts';
import { openAiRoutes } from './openai-routes.ts';

export interface TestServer {
  readonly url: string;
  readonly port: FakePort;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

export async function serving(use: (server: TestServer) => Promise<void>): Promise<void> {
  const port = new FakePort();
  const ids = createIdSource({ clock: systemClock, random: systemRandom });
  const routes = openAiRoutes({ port, clock: systemClock, ids, log: silentLog, userOf });
  const handle = withOpenAiErrors(createRouter(routes));
  const listener = await listen({ host: '127.0.0.1', port: 0, handle, log: silentLog });
  const url = `http://127.0.0.1:${listener.port}/v1`;
  const post: TestServer['post'] = (path, body, headers = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  try {
    await use({ url, port, post });
  } finally {
    await listener.close();
  }
}

const userOf = (request: HttpRequest): string => request.header('authorization')?.replace('Bearer ', '') ?? 'owner';

/** The data of a stream's events, read as JSON where it is. */
export function dataOf(stream: string): unknown[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
    .map((data) => (data.startsWith('{') ? (JSON.parse(data) as unknown) : data));
}

/** Waits until something holds that other parts of the program bring about. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; turns < 10_000; turns++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error('it never came about');
}

export const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
