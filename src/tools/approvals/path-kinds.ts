/** Where a path of a command leads, as far as text can say: links are the sandbox's business. */
import { anyChar, anyChars, couldBe, unknown } from './shell-gaps.ts';

export interface Places {
  readonly home: string;
  readonly talariaHome: string;
  readonly workspace: string;
  /** Folders that commands may change, the workspace among them. */
  readonly writable: readonly string[];
  /** The file system does not tell `RM` from `rm`. */
  readonly isCaseBlind: boolean;
}

export type PathKind =
  /** The root, a folder of the system, somebody's home, or all that is in one of them. */
  | 'critical'
  | 'device'
  /** Talaria's own files. */
  | 'talaria'
  /** A whole folder that commands may change, or all that is in it. */
  | 'whole-workspace'
  /** The history of the workspace: its `.git`. */
  | 'history'
  | 'inside'
  | 'outside'
  | 'unknown';

const systemFolders = [
  '/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var',
  '/etc/ssh /usr/bin /usr/lib /usr/lib64 /usr/local /usr/local/bin /usr/sbin /usr/share /var/lib /var/log',
  '/Applications /Library /Network /System /Users /Volumes /cores /private /private/etc /private/var',
].flatMap((line) => line.split(' '));

const deviceNames = [
  'sda sda1 sdb sdb1 sdc hda hda1 hdb vda vda1 vdb xvda nvme0 nvme0n1 nvme0n1p1 nvme1n1 mmcblk0 mmcblk0p1 disk0 disk1 disk2',
  'disk0s1 rdisk0 rdisk1 md0 md127 dm-0 nbd0 mem kmem port loop0 root mapper sr0',
].flatMap((line) => line.split(' '));

/** Absolute and without `.`, `..` and doubled slashes; begins with a gap if nobody knows where it starts. */
export function resolvePath(cwd: string, path: string): string {
  if (path.startsWith(unknown)) return path;
  const whole = path.startsWith('/') ? path : `${cwd}/${path}`;
  const start = whole.startsWith('/') ? '' : unknown;
  const parts: string[] = [];
  for (const part of whole.slice(start.length).split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.at(-1)?.includes(unknown) === true) return unknown;
    else parts.pop();
  }
  const resolved = `${start}/${parts.join('/')}`;
  // Other names of the same folders.
  const [, rest] = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?root(\/.*)?$/.exec(resolved) ?? [null, undefined];
  if (/^\/proc\/[^/]+\/(?:task\/[^/]+\/)?root(?:\/|$)/.test(resolved)) return resolvePath('/', rest ?? '/');
  const open = /^\/proc\/self\/fd\/(\d+)$/.exec(resolved);
  if (open !== null) return `/dev/fd/${open[1] ?? '0'}`;
  const own = /^\/proc\/self\/cwd(\/.*)?$/.exec(resolved);
  if (own !== null) return resolvePath(cwd, `.${own[1] ?? ''}`);
  return resolved.replace(/^\/System\/Volumes\/Data(?=\/|$)/, '') || '/';
}

export function kindOfPath(path: string, places: Places): PathKind {
  const lower = (text: string) => (places.isCaseBlind ? text.toLowerCase() : text);
  const subject = lower(path);
  if (subject.includes(unknown)) return isBelow(subject, lower(places.workspace)) ? 'inside' : 'unknown';
  const device = /^\/dev\/(?:block\/|disk\/.*\/)?([^/]+)/.exec(subject)?.[1];
  if (device !== undefined && (isDevice(device) || subject.startsWith('/dev/disk/by-'))) return 'device';
  const critical = criticalFolders(places).map(lower);
  const parent = allIn(subject);
  const roots = places.writable.map(lower);
  const isAbove = parent !== null && couldBe(parent, critical).length > 0;
  if (isAbove || (couldBe(subject, critical).length > 0 && !roots.includes(subject))) return 'critical';
  if (couldBe(subject, roots).length > 0 || (parent !== null && roots.includes(parent))) return 'whole-workspace';
  const inside = roots.find((root) => isBelow(subject, root));
  if (inside !== undefined)
    return couldBe(subject, [`${inside}/.git`]).length > 0 || parent === `${inside}/.git` ? 'history' : 'inside';
  return subject === lower(places.talariaHome) || isBelow(subject, lower(places.talariaHome)) ? 'talaria' : 'outside';
}

function isDevice(name: string): boolean {
  return (
    couldBe(name, deviceNames).length > 0 ||
    /^(?:sd[a-z]+|hd[a-z]|vd[a-z]|xvd[a-z]|nvme|mmcblk|r?disk|md|dm-|nbd)\d*/.test(name)
  );
}

/** The folder of which this pattern means everything; null for others. */
function allIn(path: string): string | null {
  const slash = path.lastIndexOf('/');
  const last = path.slice(slash + 1);
  const rest = last.replace(/^\.{0,2}/, '');
  if (!rest.includes(anyChars) || Array.from(rest).some((one) => one !== anyChars && one !== anyChar)) return null;
  return slash === 0 ? '/' : path.slice(0, slash);
}

function criticalFolders({ home, talariaHome, workspace, writable }: Places): string[] {
  const above = [home, talariaHome, workspace, ...writable].flatMap(ancestors);
  const kept = new Set(writable);
  return [...systemFolders, home, talariaHome, ...above].filter((folder) => !kept.has(folder));
}

function ancestors(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((_part, index) => `/${parts.slice(0, index).join('/')}`);
}

export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
