/**
 * A session outside the store: JSON lines, the first one about the session, then one entry a line. Only finished
 * turns are written, so that what is read back is a conversation every model accepts. Reading trusts nothing: a line
 * that does not fit is named with its number.
 */
import * as z from 'zod/mini';
import { isId } from '../lib/ids.ts';
import { ApiError } from '../protocol/api.ts';
import type { CallId } from '../protocol/ids.ts';
import { toolCallsOf, type Entry } from '../protocol/messages.ts';
import type { PortableSession, SessionRecord, StoreReader } from '../store/store.ts';
import { withoutWishes } from './without-wishes.ts';

/** Few at a time, so that a long session doesn't hold up the others. */
const entriesPerRead = 50;
const lineCharsMax = 20_000_000;
const entriesMax = 1_000_000;

export async function* exportLines(read: StoreReader, session: SessionRecord): AsyncGenerator<string> {
  const { name, title, createdAt } = session;
  yield JSON.stringify({ talaria: 'session', version: 1, name, title, createdAt });
  const openTurn = (await read.journal(session.id, session.lastSeq))?.openTurn ?? null;
  for (let after = 0; ;) {
    const entries = await read.entries(session.id, { after, limit: entriesPerRead });
    for (const entry of entries) {
      after = entry.seq;
      if (openTurn === null || entry.turnId !== openTurn.id) yield JSON.stringify(entry);
    }
    if (entries.length < entriesPerRead) return;
  }
}

export async function parseExport(lines: AsyncIterable<string>): Promise<PortableSession> {
  let header: z.infer<typeof headerSchema> | null = null;
  const entries: Entry[] = [];
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    if (line.length > lineCharsMax || entries.length >= entriesMax) throw broken(number, 'it is too large');
    const value = decode(line, number);
    if (header === null) header = fit(headerSchema, value, number, 'it is not the beginning of an exported session');
    else entries.push(fit(entrySchema, value, number, 'it is not an entry of a session') as Entry);
  }
  if (header === null) throw new ApiError('bad-request', 'The file is empty: nothing to import.');
  checkCallsHaveResults(entries);
  return { name: header.name, title: header.title, createdAt: header.createdAt, entries: withoutWishes(entries) };
}

function broken(line: number, why: string): ApiError {
  return new ApiError('bad-request', `Line ${line} can't be imported: ${why}.`);
}

function decode(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw broken(number, 'it is not JSON (is the file whole?)');
  }
}

function fit<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  line: number,
  otherwise: string,
): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw broken(line, otherwise);
  return result.data;
}

/** A call without its result would make every later request of the session invalid. */
function checkCallsHaveResults(entries: readonly Entry[]): void {
  const open = new Set<CallId>();
  for (const entry of entries) {
    if (entry.kind !== 'message') continue;
    if (entry.message.role === 'assistant') for (const call of toolCallsOf(entry.message)) open.add(call.callId);
    if (entry.message.role === 'tool' && !open.delete(entry.message.parts[0].callId)) {
      throw new ApiError('bad-request', 'The file has a tool result without its call; it is not a whole session.');
    }
  }
  if (open.size > 0) throw new ApiError('bad-request', 'The file has a tool call without its result; it is not whole.');
}

const headerSchema = z.object({
  talaria: z.literal('session'),
  version: z.literal(1),
  name: z.string(),
  title: z.string(),
  createdAt: z.number(),
});

const id = (prefix: string) => z.string().check(z.refine((text) => isId(prefix, text)));
const text = z.object({ kind: z.literal('text'), text: z.string() });
const content = z.object({ sha256: z.string(), bytes: z.number(), mediaType: z.string() });
const untrusted = z.enum(['web', 'mcp', 'webhook', 'stranger']);
const image = z.object({ kind: z.literal('image'), content });
const file = z.object({ kind: z.literal('file'), name: z.string(), content });
const reasoning = z.object({
  kind: z.literal('reasoning'),
  text: z.string(),
  opaque: z.optional(z.string()),
  origin: z.optional(z.string()),
});
const toolCall = z.object({
  kind: z.literal('tool-call'),
  callId: id('cal'),
  providerCallId: z.optional(z.string()),
  name: z.string(),
  arguments: z.string(),
});
const toolResult = z.object({
  kind: z.literal('tool-result'),
  callId: id('cal'),
  outcome: z.enum(['finished', 'failed', 'unknown', 'skipped']),
  text: z.string(),
  images: z.optional(z.array(content)),
  files: z.optional(z.array(z.object({ name: z.string(), content }))),
  untrusted: z.optional(untrusted),
  projectFiles: z.optional(z.array(z.string())),
  mistake: z.optional(z.literal(true)),
});
const tool = z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) });
const common = { seq: z.number(), at: z.number(), turnId: z.nullable(id('trn')) };

const userMessage = z.object({
  role: z.literal('user'),
  untrusted: z.optional(untrusted),
  isUnattended: z.optional(z.literal(true)),
  describes: z.optional(z.array(z.string())),
  parts: z.array(z.union([text, image, file])),
});
const assistantMessage = z.object({
  role: z.literal('assistant'),
  parts: z.array(z.union([text, reasoning, toolCall])),
});
const toolMessage = z.object({ role: z.literal('tool'), parts: z.tuple([toolResult]) });

const compressionStep = z.union([
  z.object({
    kind: z.literal('done'),
    why: z.enum(['threshold', 'overflow', 'person']),
    headSeq: z.int(),
    toSeq: z.int(),
    preface: z.string(),
    summary: z.string(),
    by: z.enum(['model', 'rules']),
    keeps: z.array(z.int()),
    digests: z.array(z.object({ callId: id('cal'), text: z.string() })),
    tokensBefore: z.number(),
    tokensAfter: z.number(),
  }),
  z.object({ kind: z.literal('declined'), tokens: z.number() }),
  z.object({ kind: z.literal('begun') }),
  z.object({
    kind: z.literal('asked'),
    why: z.enum(['overflow', 'person']),
    topic: z.string(),
    place: z.nullable(z.object({ channel: z.string(), target: z.string() })),
  }),
]);

const entrySchema = z.union([
  z.object({
    kind: z.literal('head'),
    reason: z.enum([
      'session-started',
      'model-changed',
      'toolset-changed',
      'system-prompt-changed',
      'registry-changed',
    ]),
    head: z.object({
      systemPrompt: z.string(),
      sections: z.exactOptional(z.array(z.object({ name: z.string(), chars: z.int() }))),
      tools: z.array(tool),
      toolsets: z.exactOptional(z.array(z.string())),
    }),
    ...common,
  }),
  z.object({ kind: z.literal('turn-opened'), ...common }),
  z.object({ kind: z.literal('titled'), title: z.string(), by: z.enum(['words', 'model', 'person']), ...common }),
  z.object({ kind: z.literal('message'), message: userMessage, inboxId: z.nullable(id('inb')), ...common }),
  z.object({
    kind: z.literal('message'),
    message: assistantMessage,
    modelCallId: id('mdl'),
    promptTokens: z.exactOptional(z.number()),
    ...common,
  }),
  z.object({ kind: z.literal('message'), message: toolMessage, ...common }),
  z.object({ kind: z.literal('notice'), text: z.string(), ...common }),
  z.object({ kind: z.literal('rewound'), toSeq: z.int(), ...common }),
  z.object({ kind: z.literal('compression'), step: compressionStep, ...common }),
  z.object({ kind: z.literal('turn-closed'), outcome: z.enum(['answered', 'stopped', 'failed', 'parked']), ...common }),
]);
