/** What a gateway says of itself at /metrics, and what the system says of its process. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';

export async function metricsOf(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(' ') as [string, string])
      .map(([name, value]) => [name.replace(/^talaria_/, ''), Number(value)]),
  );
}

/** Open files and connections; null where it can't be told. */
export function descriptorsOf(pid: number): number | null {
  const folder = `/proc/${pid}/fd`;
  return existsSync(folder) ? readdirSync(folder).length : null;
}

/** The most memory that was ever resident; null where it can't be told. */
export function peakBytes(pid: number): number | null {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return null;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8'))?.[1]) * 1024;
}

/** Seconds on a processor so far; null where it can't be told. */
export function processorSeconds(pid: number): number | null {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return null;
  const fields = readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
