/**
 * Finds a Chromium or Chrome: the configured one, else by name in PATH, in the usual places, or what playwright has
 * downloaded. If there is none, says how to get one on this system.
 */
import { access, constants, open, readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

export type FoundChromium =
  | { readonly kind: 'found'; readonly path: string }
  /** `message`: what is missing and what to do, in a sentence or two. */
  | { readonly kind: 'missing'; readonly message: string };

export interface FindChromiumOptions {
  /** `browser.path`; null if not set. */
  readonly configured: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `process.platform`; another one in tests. */
  readonly platform?: string;
}

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'headless_shell'];
const usualFolders = ['/usr/bin', '/usr/local/bin', '/opt/google/chrome', '/opt/chromium', '/usr/lib/chromium'];
const macApps = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const scriptBytesMax = 4_096;

export async function findChromium(options: FindChromiumOptions): Promise<FoundChromium> {
  const { configured, platform = process.platform } = options;
  if (configured !== null) {
    if (isAbsolute(configured) && (await isProgram(configured))) return { kind: 'found', path: configured };
    return { kind: 'missing', message: `browser.path is ${configured}, which is not a program. Correct or remove it.` };
  }
  let hasSnap = false;
  for (const path of [...candidates(options), ...(await downloaded(options))]) {
    if (!(await isProgram(path))) continue;
    if (await isSnap(path)) hasSnap = true;
    else return { kind: 'found', path };
  }
  return { kind: 'missing', message: `${await missing(platform, hasSnap)} Or set browser.path to one.` };
}

function candidates({ env, platform = process.platform }: FindChromiumOptions): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const found = [...new Set([...folders, ...usualFolders])].flatMap((folder) =>
    names.map((name) => join(folder, name)),
  );
  const apps = platform === 'darwin' ? [...macApps, ...macApps.map((path) => join(homedir(), path))] : [];
  return [...found, ...apps];
}

/** What playwright keeps in its cache, the newest first. */
async function downloaded({ env, platform = process.platform }: FindChromiumOptions): Promise<string[]> {
  const usual = platform === 'darwin' ? 'Library/Caches' : '.cache';
  const cache = env['PLAYWRIGHT_BROWSERS_PATH'] ?? join(env['HOME'] ?? homedir(), usual, 'ms-playwright');
  const builds = (await readdir(cache).catch((): string[] => [])).filter((name) => name.startsWith('chromium'));
  const number = (name: string): number => Number(/\d+$/.exec(name)?.[0] ?? 0);
  const programs = [
    'chrome',
    'headless_shell',
    'chrome-headless-shell',
    macApp('Chromium'),
    macApp('Google Chrome for Testing'),
  ];
  const paths: string[] = [];
  for (const build of builds.sort((left, right) => number(right) - number(left))) {
    const folders = (await readdir(join(cache, build)).catch((): string[] => [])).filter((name) =>
      name.startsWith('chrome'),
    );
    paths.push(...folders.flatMap((folder) => programs.map((program) => join(cache, build, folder, program))));
  }
  return paths;
}

const macApp = (name: string): string => `${name}.app/Contents/MacOS/${name}`;

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** A snap sees neither Talaria's home nor a sandbox around it. */
async function isSnap(path: string): Promise<boolean> {
  if (/^\/snap\/|\/snap$/.test(await realpath(path))) return true;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(scriptBytesMax), 0, scriptBytesMax, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    return text.startsWith('#!') && text.includes('/snap/bin/');
  } finally {
    await file.close();
  }
}

const installers: readonly (readonly [program: string, command: string])[] = [
  ['/usr/bin/apt', 'apt install chromium'],
  ['/usr/bin/dnf', 'dnf install chromium'],
  ['/usr/bin/pacman', 'pacman -S chromium'],
  ['/usr/bin/zypper', 'zypper install chromium'],
  ['/sbin/apk', 'apk add chromium'],
];

async function missing(platform: string, hasSnap: boolean): Promise<string> {
  const download = 'npx playwright install chromium';
  if (platform === 'darwin')
    return `There is no Chromium here. Install one: brew install --cask chromium, or ${download}.`;
  if (hasSnap) {
    return `The only Chromium here is a snap, which can't use Talaria's folders. Install another one: ${download}.`;
  }
  for (const [program, command] of installers) {
    if (await isProgram(program)) return `There is no Chromium here. Install one: ${command}, or ${download}.`;
  }
  return `There is no Chromium here. Install one with the system's package manager, or ${download}.`;
}
