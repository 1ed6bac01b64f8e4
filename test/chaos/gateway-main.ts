/** The gateway with a channel to the scripted platform, if there is one, and a tool that asks: otherwise what `talaria gateway` is. */
import { enableCompileCache } from '../../src/lib/compile-cache.ts';

enableCompileCache();
const { runGateway } = await import('../../src/app/run-gateway.ts');
const { createAskTool } = await import('./ask-tool.ts');
const { createPlatformChannel } = await import('./platform-channel.ts');

const { env } = process;
const platform = env['CHAOS_PLATFORM'] ?? '';
const leaving = new AbortController();
process.on('SIGTERM', () => leaving.abort());

const code = await runGateway({
  home: env['TALARIA_HOME'] ?? '',
  env,
  verbose: false,
  port: 0,
  signal: leaving.signal,
  onReady: (url) => void process.stdout.write(`listening on ${url}\n`),
  onNote: (line) => void process.stderr.write(`${line}\n`),
  // Without an address people are on the platforms of the configuration.
  extraChannels:
    platform === '' ? [] : [createPlatformChannel('exact', platform), createPlatformChannel('forgetful', platform)],
  extraTools: [createAskTool(env['CHAOS_LEDGER'] ?? '')],
});
process.exit(code);
