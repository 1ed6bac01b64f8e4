/** The scripted model server as a process of its own, so that nothing it does is counted as ours and no kill reaches it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RequestRecord } from '../test/model-server/request-log.ts';
import type { FaultOrder } from '../test/model-server/faults/fault-queue.ts';
import { root } from './measure.ts';

export interface ModelServerProcess {
  readonly url: string;
  inject(order: FaultOrder): Promise<void>;
  /** Forgets the faults that wait and the requests so far. */
  reset(): Promise<void>;
  /** Without their bodies. */
  requests(): Promise<readonly RequestRecord[]>;
  stop(): Promise<void>;
}

export async function startModelServerProcess(): Promise<ModelServerProcess> {
  const child = spawn(process.execPath, [join(root, 'test/model-server/main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const url = /^listening on (\S+)$/.exec(line)?.[1];
  if (url === undefined) throw new Error(`the model server said: ${line}`);
  const control = async (name: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${url}/control/${name}`, init);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  return {
    url,
    inject: async (order) => void (await control('fault', order)),
    reset: async () => void (await control('reset', {})),
    requests: async () => ((await control('requests')) as { requests: RequestRecord[] }).requests,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
