/** Bundles the gateway of these tests as `scripts/build.ts` does the program: it is started a thousand times. */
import { symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/** The file to start: in a folder of its own, beside the skills that come with it. */
export async function buildGateway(folder: string): Promise<string> {
  const program = join(folder, 'dist');
  await build({
    absWorkingDir: root,
    // The threads by the names under which the store looks for them beside itself.
    entryPoints: {
      gateway: join(import.meta.dirname, 'gateway-main.ts'),
      'store-writer': 'src/store/sqlite/writer-thread.ts',
      'store-background': 'src/store/sqlite/background-thread.ts',
    },
    outdir: program,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    logLevel: 'warning',
    alias: { yaml: join(dirname(fileURLToPath(import.meta.resolve('yaml'))), '../browser/index.js') },
    // As for the program: loaded from where it is installed.
    external: ['grammy'],
  });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await symlink(join(root, 'skills'), join(folder, 'skills'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return join(program, 'gateway.js');
}
