/** The doctor's look at the machine: Node, the home's folder, the room on its disk. */
import { constants } from 'node:fs';
import { access, lstat, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bad, good, warn, type Finding } from './doctor-finding.ts';

const nodeMajorMin = 26;
const freeBytesMin = 100 * 1024 * 1024;
const freeBytesComfortable = 1024 * 1024 * 1024;

export function checkNode(version: string): Finding {
  const major = Number(version.split('.')[0]);
  if (major >= nodeMajorMin) return good(`Node ${version}`);
  return bad(
    `Node ${version} is too old, ${nodeMajorMin} is needed`,
    'start it with bin/talaria, which brings its own',
  );
}

export async function checkHome(home: string, uid = process.getuid?.() ?? null): Promise<Finding[]> {
  const found = await stat(home).catch((error: unknown) => errorCode(error));
  if (found === 'ENOENT') return [await checkMissingHome(home)];
  if (typeof found === 'string') return [bad(`home ${home} can't be looked at (${found})`, chooseAnother)];
  if (!found.isDirectory()) return [bad(`home ${home} is not a folder`, `move it away, or ${chooseAnother}`)];
  if (uid !== null && found.uid !== uid) {
    return [bad(`home ${home} belongs to user ${found.uid}, this is ${uid}`, `run as its owner, or ${chooseAnother}`)];
  }
  const refused = await access(home, constants.W_OK | constants.X_OK).then(() => '', errorCode);
  if (refused !== '') return [bad(`home ${home} can't be written to (${refused})`, `chmod u+rwx ${home}`)];
  if ((found.mode & 0o077) !== 0) {
    return [warn(`home ${home} is open to other users of this machine`, `chmod 700 ${home}`)];
  }
  return [good(`home ${home}`)];
}

async function checkMissingHome(home: string): Promise<Finding> {
  const above = await nearestEntry(home);
  if (above === home) return bad(`home ${home} is a link that leads nowhere`, `remove it, or ${chooseAnother}`);
  const refused = await access(above, constants.W_OK | constants.X_OK).then(() => '', errorCode);
  if (refused === '') return good(`home ${home} is not there yet; it is made at the first use`);
  return bad(`home ${home} is not there and can't be made in ${above} (${refused})`, chooseAnother);
}

/** The path itself, or the nearest of the folders above it, that is there; a link counts whatever it leads to. */
async function nearestEntry(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const isThere = await lstat(at).then(
      () => true,
      () => false,
    );
    if (isThere || at === dirname(at)) return at;
  }
}

const chooseAnother = 'set TALARIA_HOME to another folder';

export async function checkDiskSpace(home: string): Promise<Finding[]> {
  const space = await statfs(await nearestEntry(home)).catch(() => null);
  if (space === null) return [];
  const free = space.bavail * space.bsize;
  const text = `${(free / 1e9).toFixed(1)} GB free on its disk`;
  if (free < freeBytesMin) return [bad(`only ${text}`, 'free some space')];
  return [free < freeBytesComfortable ? warn(`only ${text}`, 'free some space before long') : good(text)];
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
