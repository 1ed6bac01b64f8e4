/**
 * A process of its own that says how much it keeps for an agent whose session is long, and whether idle agents go when
 * memory is short. Run with --expose-gc and a small heap; takes a home and the size of a message, prints JSON.
 */
import assert from 'node:assert/strict';
import { openHome } from '../src/app/open-home.ts';
import { AgentCache } from '../src/gateway/agent-cache.ts';
import { isMemoryShort, readMemoryFigures } from '../src/gateway/agent-cache-memory.ts';
import { RuntimeChain } from '../src/agent/runtime-chain.ts';
import { RuntimeClients } from '../src/agent/runtime-clients.ts';
import { systemClock } from '../src/lib/clock.ts';
import { countingIdSource } from '../src/lib/ids.ts';
import { silentLog } from '../src/lib/log.ts';
import { createScriptedModel, scriptedRuntime } from '../src/models/scripted-model.ts';
import type { TalariaApi } from '../src/protocol/api.ts';

/** What a process loads, compiles and forgets again falls into some of the groups; the one in the middle tells. */
const groups = 5;
const agentsInGroup = 5;

const [, , home = '', messageChars = ''] = process.argv;

/** What is left once nobody holds on to anything: other threads take a while to let go of what they were sent. */
async function keptBytes(): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 10; round++) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.ok(globalThis.gc !== undefined, 'needs --expose-gc');
    globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    rounds.push(heapUsed + external);
  }
  return Math.min(...rounds);
}

/** The model writes what it was told into a file: the transcript holds it twice. */
async function turn(api: TalariaApi, session: string, chars: number): Promise<void> {
  const text = `write ${session}.txt: ${'long '.repeat(chars / 5)}`;
  await api.send({ session, text, externalId: session, channel: 'cli' });
  const over = new AbortController();
  for await (const event of api.events(session, 0, over.signal)) {
    if (event.kind === 'entry' && event.entry.kind === 'turn-closed') break;
  }
  over.abort();
  while ((await api.status()).agent_cache.active > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function measureAgents(): Promise<{ bytesPerAgent: number; agents: number; transcriptChars: number }> {
  const result = await openHome({ home, env: {}, purpose: 'test', verbose: false, mode: 'gateway' });
  assert.equal(result.kind, 'opened');
  const { talaria, close } = result.home;
  await talaria.start();
  const { api } = talaria;
  const kept: number[] = [];
  for (let group = 0; group <= groups; group++) {
    for (let index = 0; index < agentsInGroup; index++) await turn(api, `s${group}-${index}`, Number(messageChars));
    kept.push(await keptBytes());
  }
  const growth = kept.slice(1).map((bytes, index) => bytes - (kept[index] ?? 0));
  const median = growth.sort((a, b) => a - b)[Math.floor(groups / 2)] ?? Number.NaN;
  const { agent_cache: cache } = await api.status();
  let transcriptChars = 0;
  for await (const line of api.export('s0-0')) transcriptChars += line.length;
  await close(1_000);
  return { bytesPerAgent: Math.round(median / agentsInGroup), agents: cache.size, transcriptChars };
}

/** How many of four idle agents go: with plenty of memory, and when the heap is nearly full. */
async function pressIdleAgents(): Promise<number[]> {
  const cache = new AgentCache({
    cap: () => 128,
    idleTtlMs: () => 3_600_000,
    isMemoryShort: () => isMemoryShort(readMemoryFigures()),
    clock: systemClock,
    log: silentLog,
  });
  const ids = countingIdSource();
  for (let index = 0; index < 4; index++) {
    const clients = new RuntimeClients(async () => createScriptedModel({ responses: [] }));
    const agent = {
      chain: new RuntimeChain([scriptedRuntime()], clients),
      clients,
      titler: null,
      judge: null,
      tools: { get: () => undefined },
      headTools: { tools: [] },
      buildHead: async () => ({ systemPrompt: '', tools: [] }),
      workspace: '',
      spoolFolder: () => '',
      keepResult: async () => '',
    };
    (await cache.borrow(ids.next('ses'), 'a', () => agent)).giveBack();
  }
  const atEase = cache.relieve();
  const ballast: number[][] = [];
  while (!isMemoryShort(readMemoryFigures())) ballast.push(Array<number>(100_000).fill(ballast.length));
  const pressed = cache.relieve();
  const { size } = cache.counts();
  cache.close();
  return [atEase, pressed, size];
}

const measured = await measureAgents();
console.log(JSON.stringify({ ...measured, relieved: await pressIdleAgents() }));
