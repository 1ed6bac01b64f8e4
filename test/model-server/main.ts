/** The model server as a process of its own: `node test/model-server/main.ts [--port N] [--keys A,B] [--window TOKENS] [--provider-cache]`. */
import { parseArgs } from 'node:util';
import { startModelServer } from './model-server.ts';
import { exactCacheOptions, providerCacheOptions } from './prompt-cache.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    keys: { type: 'string' },
    window: { type: 'string' },
    'provider-cache': { type: 'boolean', default: false },
  },
});

const server = await startModelServer({
  port: Number(values.port),
  cache: values['provider-cache'] ? providerCacheOptions : exactCacheOptions,
  ...(values.keys === undefined ? {} : { keys: values.keys.split(',') }),
  ...(values.window === undefined ? {} : { windowTokens: Number(values.window) }),
});
console.log(`listening on ${server.url}`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.close());
