/** The parameters of a call, however they are sent: query, form, JSON, or parts with files. */
import type { IncomingMessage } from 'node:http';
import type { Payload } from './bot-api.ts';

const bodyBytesMax = 60_000_000;

export async function readPayload(incoming: IncomingMessage, query: string): Promise<Payload> {
  const body = await readBody(incoming);
  const type = incoming.headers['content-type'] ?? '';
  const asked = Object.fromEntries([...new URLSearchParams(query)].map(([name, value]) => [name, parsed(value)]));
  if (body.length === 0) return asked;
  if (type.startsWith('application/json')) return { ...asked, ...(JSON.parse(body.toString()) as Payload) };
  if (!type.startsWith('multipart/form-data') && !type.startsWith('application/x-www-form-urlencoded')) return asked;
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, unknown> = { ...asked };
  const files = new Map<string, Uint8Array>();
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = parsed(value);
    else files.set(name, Object.assign(new Uint8Array(await value.arrayBuffer()), { fileName: value.name }));
  }
  // A field may say that its file is attached under another name.
  for (const [name, value] of Object.entries(fields)) {
    const attached = typeof value === 'string' && value.startsWith('attach://') ? value.slice(9) : null;
    if (attached !== null) fields[name] = files.get(attached);
  }
  for (const [name, bytes] of files) fields[name] ??= bytes;
  return fields;
}

export async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > bodyBytesMax) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Objects, lists, numbers and booleans are sent as JSON in forms. */
function parsed(value: string): unknown {
  if (!/^(?:[[{]|-?\d+$|true$|false$)/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
