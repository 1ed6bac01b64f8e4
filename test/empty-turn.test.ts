/** What an empty turn costs: everything that is sent for a first word, in a fresh home, with all tools. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startModelServer } from './model-server/model-server.ts';
import { follow, isClosed, say } from './support/http.ts';
import { atEnd, freshHome, startGateway } from './support/talaria-process.ts';

const bytesMax = 8_192;
const promptBytesMax = 2_560;

for (const protocol of ['chat_completions', 'responses', 'anthropic_messages'] as const) {
  test(`an empty turn sends at most ${bytesMax} bytes over ${protocol}`, async (t) => {
    const server = await startModelServer();
    atEnd(t, () => server.close());
    const home = await freshHome(t);
    await mkdir(home, { mode: 0o700 });
    const model = {
      provider: 'custom',
      base_url: server.baseUrl(protocol),
      api_mode: protocol,
      name: 'm',
      api_key: 'k',
    };
    await writeFile(join(home, 'config.yaml'), JSON.stringify({ model }));
    const { url } = await startGateway(t, { home });
    await say(url, 'x', 'hello', 'm1');
    await follow(url, 'x', isClosed);
    const [request] = server.requests();
    const bytes = Buffer.byteLength(JSON.stringify(request?.body));
    const tools = request?.body?.['tools'];
    t.diagnostic(
      `${bytes} bytes, ${Buffer.byteLength(JSON.stringify(tools))} of them for ${(tools as unknown[]).length} tools`,
    );
    assert.ok(bytes <= bytesMax, `${bytes} bytes`);
    assert.ok(bytes - Buffer.byteLength(JSON.stringify(tools)) <= promptBytesMax, 'the system prompt is too long');
  });
}
