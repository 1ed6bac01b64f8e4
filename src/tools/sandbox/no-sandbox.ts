/** No sandbox, for those who ask for it by name: every command then asks. It only starts what it is given. */
import type { Sandbox } from '../sandbox.ts';

export function createNoSandbox(): Sandbox {
  return {
    level: 'none',
    description: 'no sandbox: commands can do all that this user can',
    gaps: ['commands can read, change and send everything that this user can'],
    sharesFiles: true,
    wrap: async ({ argv, cwd, env }) => ({
      argv: ['/bin/sh', '-c', 'cd -- "$0" && exec "$@"', cwd, ...argv],
      env,
    }),
  };
}
