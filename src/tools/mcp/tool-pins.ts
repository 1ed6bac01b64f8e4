/**
 * What each server's tools were when they were approved. It is what models are told, so that a server which is down, slow or
 * sly changes nothing in a prompt: the tools of a session are there from the first moment and stay as they are.
 *
 *   a server that is new, or configured anew     all of its tools are approved: the operator chose it
 *   a tool that is new on a known server         listed by name, not approved: its first call asks
 *   a tool that describes itself anew            stays as it was approved; its next call asks
 *   a tool that the server does not list         not offered any more; what it was is kept
 *
 * Kept in one file that is replaced whole. Another process may have changed it: it is read again when it has. One that is
 * there and can't be read is no reason to trust anybody: then even the tools of a server that looks new are not approved.
 */
import { readFileSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { hasCode } from '../workspace-path.ts';
import type { McpServerSettings, SeenTool } from './mcp-server.ts';

const fileBytesMax = 32_000_000;
const pinsPerServerMax = 512;

const hint = z.optional(z.boolean());
const pinSchema = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  hints: z.object({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint, openWorldHint: hint }),
  hash: z.string(),
  isApproved: z.boolean(),
  isOffered: z.boolean(),
});
const fileSchema = z.object({
  version: z.literal(1),
  servers: z.record(z.string(), z.object({ identity: z.string(), tools: z.array(pinSchema) })),
});

export interface PinnedTool extends SeenTool {
  readonly isApproved: boolean;
  readonly isOffered: boolean;
}

export interface PinnedServer {
  /** Of the program or address that it was. */
  readonly identity: string;
  /** By name. */
  readonly tools: readonly PinnedTool[];
}

export type Standing = 'approved' | 'new' | 'changed';

export function pinsPath(home: string): string {
  return join(home, 'mcp', 'pins.json');
}

/** What makes a server another one. Keys and folders do not. */
export function identityOf({ command, args, url }: McpServerSettings): string {
  return hash('sha256', JSON.stringify([command, args, url])).slice(0, 32);
}

export class ToolPins {
  readonly #path: string;
  #servers: Readonly<Record<string, PinnedServer>> = {};
  /** Changes that the file does not have yet: they hold over what it says. */
  readonly #unwritten = new Map<string, PinnedServer | null>();
  #stamp = '';
  #isDamaged = false;
  #writing: Promise<void> = Promise.resolve();
  /** Another number whenever something changed. */
  version = 0;

  constructor(path: string) {
    this.#path = path;
    this.reread();
  }

  of(server: string): PinnedServer | null {
    return Object.hasOwn(this.#servers, server) ? (this.#servers[server] ?? null) : null;
  }

  standing(server: string, seen: SeenTool): Standing {
    const pin = this.of(server)?.tools.find(({ name }) => name === seen.name);
    if (pin === undefined) return 'new';
    if (pin.hash !== seen.hash) return pin.isApproved ? 'changed' : 'new';
    return pin.isApproved ? 'approved' : 'new';
  }

  /** Takes in what a server lists now. Rejects if it can't be kept; it holds in this process all the same. */
  async see(server: string, identity: string, seen: readonly SeenTool[]): Promise<void> {
    this.reread();
    const next = reconciled(this.of(server), identity, seen, !this.#isDamaged);
    if (JSON.stringify(next) !== JSON.stringify(this.of(server))) await this.#put(server, next);
  }

  /** From now on the tool is what it is now. */
  async approve(server: string, seen: readonly SeenTool[]): Promise<void> {
    this.reread();
    const pinned = this.of(server);
    if (pinned === null) return;
    const fresh = new Map(seen.map((tool) => [tool.name, { ...tool, isApproved: true, isOffered: true }]));
    const others = pinned.tools.filter(({ name }) => !fresh.has(name));
    await this.#put(server, { ...pinned, tools: sorted([...others, ...fresh.values()]) });
  }

  async forget(server: string): Promise<void> {
    this.reread();
    if (this.of(server) !== null) await this.#put(server, null);
  }

  /** If another process has written it. */
  reread(): void {
    try {
      const stamp = stampOf(this.#path);
      if (stamp === this.#stamp) return;
      this.#stamp = stamp;
      const written = fileSchema.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
      const servers = [...this.#unwritten].reduce(withServer, written.servers);
      if (JSON.stringify(servers) === JSON.stringify(this.#servers)) return;
      this.#servers = servers;
      this.version += 1;
    } catch (error) {
      // Not there yet, or not ours: what this process knows goes on, and the next change writes it anew.
      if (!hasCode(error, 'ENOENT')) this.#isDamaged = true;
    }
  }

  #put(server: string, pinned: PinnedServer | null): Promise<void> {
    this.#unwritten.set(server, pinned);
    this.#servers = withServer(this.#servers, [server, pinned]);
    this.version += 1;
    const write = this.#writing.then(async () => {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.reread();
      const changes = [...this.#unwritten];
      const text = `${JSON.stringify({ version: 1, servers: this.#servers })}\n`;
      if (Buffer.byteLength(text) > fileBytesMax) throw new Error(`${this.#path} would be too large to be read again`);
      await writeFileAtomically(this.#path, text, { mode: 0o600 });
      for (const [name, change] of changes) if (this.#unwritten.get(name) === change) this.#unwritten.delete(name);
      this.#stamp = stampOf(this.#path);
    });
    this.#writing = write.catch(() => {});
    return write;
  }
}

function withServer(
  servers: Readonly<Record<string, PinnedServer>>,
  [server, pinned]: readonly [string, PinnedServer | null],
): Readonly<Record<string, PinnedServer>> {
  const { [server]: _before, ...others } = servers;
  return pinned === null ? others : { ...others, [server]: pinned };
}

function stampOf(path: string): string {
  const { mtimeNs, size, ino } = statSync(path, { bigint: true });
  if (size > fileBytesMax) throw new Error(`${path} is too large`);
  return `${mtimeNs} ${size} ${ino}`;
}

function reconciled(
  before: PinnedServer | null,
  identity: string,
  seen: readonly SeenTool[],
  isNewApproved: boolean,
): PinnedServer {
  if (before === null || before.identity !== identity) {
    const isApproved = before !== null || isNewApproved;
    return { identity, tools: sorted(seen.map((tool) => ({ ...tool, isApproved, isOffered: true }))) };
  }
  const listed = new Set(seen.map(({ name }) => name));
  const known = new Set(before.tools.map(({ name }) => name));
  const kept = before.tools.map((pin) => ({ ...pin, isOffered: listed.has(pin.name) }));
  const fresh = seen
    .filter(({ name }) => !known.has(name))
    .map((tool) => ({ ...tool, isApproved: false, isOffered: true }));
  const all = [...kept, ...fresh];
  // A server that makes up names without end: what it does not list any more goes first.
  const room = all.length <= pinsPerServerMax ? all : all.filter((pin) => pin.isOffered || pin.isApproved);
  return { identity, tools: sorted(room.slice(0, pinsPerServerMax)) };
}

function sorted(tools: readonly PinnedTool[]): readonly PinnedTool[] {
  return tools.toSorted((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)));
}
