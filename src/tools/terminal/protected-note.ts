/**
 * Why a command failed that wanted to change something protected, as far as its own words tell: what a mount answers with
 * says nothing to who does not know of it. A guess for the model, not for what is allowed. Pure.
 */
import { isProtected } from '../protected-names.ts';

const problem =
  /Read-only file system|Device or resource busy|Permission denied|Is a directory|EROFS|EBUSY|EACCES|EISDIR/i;
const linesMax = 200;

/** Null if nothing of the kind was said. */
export function protectedNote(output: string): string | null {
  for (const line of output.split('\n').slice(-linesMax)) {
    if (!problem.test(line)) continue;
    const path = line.match(/[^\s'"`:,()[\]<>=]+/g)?.find(isGuarded);
    if (path !== undefined) {
      return `[${path} is protected: commands in the sandbox can't change or create it; outside: true asks the user]`;
    }
  }
  return null;
}

function isGuarded(word: string): boolean {
  return /[./]/.test(word) && (isProtected(word) || word.split('/').includes('.git'));
}
