/**
 * Lets Node keep compiled code beside the built bundle, so that the next start skips compiling. It holds for modules
 * loaded after the call: an entry calls this first and loads the rest with `import()`. Running from source, or from a
 * folder that can't be written to, it changes nothing.
 */
import { enableCompileCache as enableInNode } from 'node:module';
import { join } from 'node:path';

export function enableCompileCache(): void {
  if (import.meta.filename.endsWith('.ts')) return;
  // Portable: a checkout that was moved, or copied into an image, keeps its cache. Failing is a value, not an error.
  enableInNode({ directory: join(import.meta.dirname, '.compile-cache'), portable: true });
}
