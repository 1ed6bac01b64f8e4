import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { say } from './http.ts';
import { freshHome, startGateway } from './talaria-process.ts';

/** How often a turn may take the process down before it is parked. */
export const crashes = 3;

/** A home whose session `x` has taken three gateways down, each time just before its answer was stored. */
export async function poisonedHome(t: TestContext): Promise<string> {
  const home = await freshHome(t);
  for (let life = 1; life <= crashes; life++) {
    const gateway = await startGateway(t, { home, env: { TALARIA_FAULT: 'before:append-answer' } });
    // It may be dead before it can say that the message arrived.
    if (life === 1) await say(gateway.url, 'x', 'hello', 'm1').catch(() => {});
    assert.equal((await gateway.process.ended).signal, 'SIGKILL');
  }
  return home;
}
