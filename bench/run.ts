/**
 * `npm run bench [NAME …]`: prints a table and writes the figures as JSON into bench/results/. Ratios are against bare
 * Node in the same run; they count. Absolute figures are for orientation: machines differ and are noisy.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { formatRow, type Row } from './measure.ts';

const benches: Record<string, () => Promise<Row[]>> = {
  'start-up': async () => (await import('./start-up.ts')).benchStartUp(),
  weight: async () => (await import('./weight.ts')).benchWeight(),
  turns: async () => (await import('./turns.ts')).benchTurns(),
  durability: async () => (await import('./durability.ts')).benchDurability(),
  'model-call': async () => (await import('./model-call.ts')).benchModelCall(),
  load: async () => (await import('./load.ts')).benchLoad(),
  'prompt-cache': async () => (await import('./prompt-cache.ts')).benchPromptCache(),
  sandbox: async () => (await import('./sandbox.ts')).benchSandbox(),
  search: async () => (await import('./search.ts')).benchSearch(),
  'long-session': async () => (await import('./long-session.ts')).benchLongSession(),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}

const results: Record<string, Row[]> = {};
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n${name}`);
  results[name] = await bench();
  for (const row of results[name]) console.log(formatRow(row));
}

const folder = join(import.meta.dirname, 'results');
mkdirSync(folder, { recursive: true });
const path = join(folder, `${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.json`);
const machine = { node: process.version, platform: process.platform, cpu: cpus()[0]?.model, cores: cpus().length };
writeFileSync(path, `${JSON.stringify({ machine, results }, null, 2)}\n`);
console.log(`\nwritten to ${path}`);
