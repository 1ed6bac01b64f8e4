/**
 * A stage for the browser: a real Chromium in a real sandbox, and an internet of one address (127.7.0.1, which counts as
 * public here and has several names). Everything else of this machine is private, as ever.
 */
import { once } from 'node:events';
import { accessSync } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/lib/clock.ts';
import type { SessionId } from '../src/protocol/ids.ts';
import type { Gate } from '../src/tools/approval.ts';
import { createGate } from '../src/tools/approvals/gate.ts';
import { createBrowserTools, type BrowserTools } from '../src/tools/browser/browser-tools.ts';
import type { BrowserDeps } from '../src/tools/browser/browser-deps.ts';
import { findChromium } from '../src/tools/browser/find-chromium.ts';
import { createEgress } from '../src/tools/egress/create-egress.ts';
import { startEgressProxy } from '../src/tools/egress/egress-proxy.ts';
import { isPublicAddress } from '../src/tools/egress/public-address.ts';
import { fakeToolContext } from '../src/tools/fake-tool-context.ts';
import type { Sandbox } from '../src/tools/sandbox.ts';
import { createBubblewrapSandbox } from '../src/tools/sandbox/bubblewrap-sandbox.ts';
import { createNoSandbox } from '../src/tools/sandbox/no-sandbox.ts';
import type { Tool, ToolContext, ToolOutcome } from '../src/tools/tool.ts';

export const publicAddress = '127.7.0.1';

/** The system's, else the one that comes with the tests; null if there is none. */
export async function testChromium(): Promise<string | null> {
  const found = await findChromium({ configured: null, env: process.env });
  if (found.kind === 'found') return found.path;
  try {
    const { default: chromium } = await import('@sparticuz/chromium');
    return await chromium.executablePath();
  } catch {
    return null;
  }
}

export function testSandbox(stateFolder: string): Sandbox {
  try {
    accessSync('/usr/bin/bwrap');
    return createBubblewrapSandbox({ stateFolder, nodePath: process.execPath });
  } catch {
    return createNoSandbox();
  }
}

export interface StageOptions {
  readonly home: string;
  readonly chromium: string;
  readonly sandbox?: Sandbox;
  readonly browsersMax?: number;
  readonly gate?: Gate;
}

export function browserDeps({ home, chromium, sandbox, browsersMax, gate }: StageOptions): BrowserDeps {
  const egress = createEgress({
    privateHosts: () => [],
    resolve: async (host) => (host.endsWith('.test') ? [publicAddress] : Promise.reject(new Error('ENOTFOUND'))),
    isPublic: (address) => address === publicAddress || isPublicAddress(address),
  });
  const chosen = sandbox ?? testSandbox(join(home, 'sandbox'));
  return {
    clock: systemClock,
    root: join(home, 'browser'),
    nodePath: process.execPath,
    findChromium: () => Promise.resolve({ kind: 'found', path: chromium }),
    sandbox: () => Promise.resolve(chosen),
    startProxy: (socketPath) => startEgressProxy({ egress, mayReach: () => true, socketPath, login: null }),
    gate: gate ?? askingGate(),
    ...(browsersMax === undefined ? {} : { browsersMax }),
  };
}

export function askingGate(): Gate {
  return createGate({
    grants: { isGranted: () => Promise.resolve(false), add: () => Promise.resolve() },
    mode: () => 'ask',
    timeoutMs: () => 60_000,
    unattended: () => 'deny',
    clock: systemClock,
  });
}

export interface Stage {
  readonly tools: BrowserTools;
  readonly home: string;
  readonly workspace: string;
  /** One session's view of the tool. */
  readonly session: (name: string, context?: Partial<ToolContext>) => SessionView;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SessionView {
  readonly id: SessionId;
  readonly tool: Tool;
  readonly context: ToolContext;
  /** The text of what came of it; fails the test if it did not finish. */
  readonly did: (input: Record<string, unknown>) => Promise<string>;
  readonly run: (input: Record<string, unknown>, context?: Partial<ToolContext>) => Promise<ToolOutcome>;
}

export function sessionIdOf(name: string): SessionId {
  return `ses_${name.padStart(26, '0')}` as SessionId;
}

export async function openStage(options: Omit<StageOptions, 'home'> & { readonly home?: string }): Promise<Stage> {
  const home = options.home ?? (await realpath(await mkdtemp(join(tmpdir(), 'browser-'))));
  const tools = createBrowserTools(browserDeps({ ...options, home }));
  const [tool] = tools.tools;
  if (tool === undefined) throw new Error('there is no tool');
  return {
    tools,
    home,
    workspace: home,
    session(name, more = {}) {
      const id = sessionIdOf(name);
      const context = { ...fakeToolContext(home), sessionId: id, ...more };
      const run: SessionView['run'] = async (input, extra = {}) => {
        const parsed = tool.parse(input);
        if (!parsed.ok) return { kind: 'failed', text: parsed.problem };
        return tool.run(parsed.value, { ...context, ...extra });
      };
      return {
        id,
        tool,
        context,
        run,
        async did(input) {
          const outcome = await run(input);
          if (outcome.kind !== 'finished') throw new Error(`${JSON.stringify(input)}: ${JSON.stringify(outcome)}`);
          return outcome.text;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      for (const { sessionId } of await tools.holding.list()) await tools.holding.end(sessionId);
      await tools.detach();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export interface Site {
  readonly port: number;
  readonly requests: IncomingMessage[];
  readonly url: (path: string, host?: string) => string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Pages by path; a function answers by itself. */
export async function openSite(
  pages: Readonly<Record<string, string | RequestListener>>,
  host = publicAddress,
): Promise<Site> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const page = pages[new URL(request.url ?? '/', 'http://x').pathname];
    if (typeof page === 'function') return page(request, response);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? 'not here');
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    requests,
    url: (path, name = 'site.test') => `http://${name}:${port}${path}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The reference of the first line that has these words. */
export function refOf(snapshot: string, words: string): string {
  const line = snapshot.split('\n').find((one) => one.includes(words) && one.includes('[ref='));
  const ref = /\[ref=(\w+)\]/.exec(line ?? '')?.[1];
  if (ref === undefined) throw new Error(`no reference for ${words} in:\n${snapshot}`);
  return ref;
}

/** Processes of the browsers below this folder. */
export async function browserProcesses(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found: number[] = [];
  for (const pid of pids) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (line.includes(`--user-data-dir=${folder}`)) found.push(Number(pid));
  }
  return found;
}
