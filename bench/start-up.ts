/** How long the program takes to start, against a bare Node in the same run. */
import { homeEnv, interleaved, startGateway, talaria, timeToEnd, withHome, type Row } from './measure.ts';

const rounds = 15;

export function benchStartUp(): Promise<Row[]> {
  return withHome('', async (home) => {
    const env = homeEnv(home);
    const times = await interleaved(rounds, {
      bare: () => timeToEnd(process.execPath, ['-e', '0'], env),
      version: () => timeToEnd(talaria, ['--version'], env),
      oneShot: () => timeToEnd(talaria, ['-p', 'hello'], env),
      gateway: async () => {
        const gateway = await startGateway(home);
        await gateway.stop();
        return gateway.readyMs;
      },
    });
    const row = (name: string, value: number, limit: number): Row => ({
      name,
      value,
      unit: 'ms',
      ratio: value / times.bare,
      limit,
    });
    return [
      { name: 'node -e 0', value: times.bare, unit: 'ms' },
      row('talaria --version', times.version, 2.5),
      row('talaria -p hello', times.oneShot, 8),
      row('gateway ready', times.gateway, 15),
    ];
  });
}
