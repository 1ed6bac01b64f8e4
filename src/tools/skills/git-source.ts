/**
 * A git repository as a source of skills. It is fetched without its history into a bare folder and never checked out:
 * what is needed is read as an archive of one of its folders. So no hook, filter, submodule or setting of the repository
 * can run anything, and a link is seen as a link. Git asks for no password, sees none of Talaria's environment, and may
 * use only the way that the person's URL names.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Git } from './run-git.ts';
import { SkillError } from './skill-error.ts';
import { skillPaths, type OpenedSource, type SourceOptions } from './skill-source.ts';

const listBytesMax = 8 * 1024 * 1024;

/** Also for reaching the outside at all; everything else of the environment stays here. */
const passedOn = [
  'PATH',
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

export async function openGitSource(typed: string, { env, signal }: SourceOptions): Promise<OpenedSource> {
  const { url, protocol, ref } = readGitUrl(typed);
  const folder = await mkdtemp(join(tmpdir(), 'talaria-skill-'));
  const git = new Git(folder, gitEnvironment(env, folder, protocol), signal);
  const close = () => rm(folder, { recursive: true, force: true }).catch(() => {});
  try {
    const only = ['-c', 'protocol.allow=never', '-c', `protocol.${protocol}.allow=always`];
    const branch = ref === null ? [] : ['--branch', ref];
    const shallow = ['--bare', '--depth=1', '--single-branch', '--no-tags', '--no-recurse-submodules', '--template='];
    await git.output([...only, 'clone', '--quiet', ...shallow, ...branch, '--', url, git.repository], 1);
    const revision = (await git.output([...git.at, 'rev-parse', 'HEAD^{commit}'], 200)).trim();
    const files = await git.output([...git.at, 'ls-tree', '-r', '-z', '--name-only', 'HEAD'], listBytesMax);
    const paths = skillPaths(files.split('\0'), url);
    return {
      kind: 'git',
      location: typed,
      revision,
      paths,
      entries: (path) => git.archive(path === '' ? 'HEAD' : `HEAD:${path}`),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface GitUrl {
  readonly url: string;
  readonly protocol: 'https' | 'ssh' | 'file';
  /** A branch or tag, behind `#`. */
  readonly ref: string | null;
}

export function readGitUrl(typed: string): GitUrl {
  const [url = '', ref] = typed.split(/#(.*)/s, 2);
  if (ref !== undefined && (!/^[\w][\w./-]{0,200}$/.test(ref) || ref.includes('..'))) {
    throw new SkillError(`${JSON.stringify(ref)} is no name of a branch or tag.`);
  }
  const found = { url, ref: ref ?? null };
  if (/^[\w.-]+@[\w][\w.-]*:(?!\/\/)[^-]/.test(url)) return { ...found, protocol: 'ssh' };
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const protocol = parsed?.protocol.slice(0, -1);
  if (parsed === null || (protocol !== 'https' && protocol !== 'ssh' && protocol !== 'file')) {
    throw new SkillError(`${url} is no URL that skills are fetched from. Use https://, ssh:// or file://.`);
  }
  if (parsed.password !== '' || (protocol === 'https' && parsed.username !== '')) {
    throw new SkillError(
      'A URL with a password in it would be kept in plain text. Use ssh:// and a key, or a clone of yours.',
    );
  }
  // Behind "ssh://" a host that begins with a dash would be an option of ssh.
  if (protocol === 'ssh' && !/^[\w]/.test(parsed.hostname)) throw new SkillError(`${url} names no machine.`);
  return { ...found, protocol };
}

function gitEnvironment(
  env: SourceOptions['env'],
  home: string,
  protocol: GitUrl['protocol'],
): Readonly<Record<string, string>> {
  const names = protocol === 'ssh' ? [...passedOn, 'SSH_AUTH_SOCK'] : passedOn;
  const passed = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return {
    ...Object.fromEntries(passed),
    HOME: home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  };
}
