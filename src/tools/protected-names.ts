/**
 * Names that are protected even where everything else may be changed: whatever is written there is run, or obeyed, by
 * another program later, outside of any sandbox. One list for the file tools and for the sandbox. Pure; a path is judged
 * by its own names only, so links must have been followed before.
 */

/** Each stands for itself and all below it, in any folder. */
export const protectedNames: readonly string[] = [
  // Git runs hooks, and commands that its configuration names.
  '.git/hooks',
  '.git/config',
  '.git/config.worktree',
  '.git/commondir',
  '.git/gitdir',
  '.gitconfig',
  '.config/git',
  '.githooks',
  '.husky',
  '.gitmodules',
  // Shells and sessions read these when they start.
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.mkshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.logout',
  '.inputrc',
  '.envrc',
  '.direnvrc',
  '.pam_environment',
  '.xinitrc',
  '.xprofile',
  '.xsession',
  '.xsessionrc',
  '.config/fish',
  '.config/autostart',
  '.config/systemd',
  '.config/environment.d',
  'Library/LaunchAgents',
  // Keys, and programs that take commands from their own settings.
  '.ssh',
  '.gnupg',
  '.netrc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pypirc',
  '.aws',
  '.docker',
  '.kube',
  '.curlrc',
  '.wgetrc',
  '.ripgreprc',
  '.vimrc',
  '.exrc',
  '.nvimrc',
  '.nvim.lua',
  '.vim',
  '.dir-locals.el',
  '.emacs',
  '.emacs.d',
  '.config/nvim',
  // Editors.
  '.vscode',
  '.idea',
  '.zed',
  '.fleet',
  '.devcontainer',
  // Agents: what they are told, and what they may do.
  '.talaria',
  '.talaria.md',
  '.hermes',
  '.hermes.md',
  '.agents',
  '.claude',
  '.claude.json',
  '.codex',
  '.cursor',
  '.cursorrules',
  '.gemini',
  '.opencode',
  '.windsurf',
  '.windsurfrules',
  '.clinerules',
  '.continue',
  '.roo',
  '.aider.conf.yml',
  '.mcp.json',
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
  'SOUL.md',
];

/** Parts of the data of submodules and further worktrees, which lie at any depth below `.git`. */
const protectedBelowGit: ReadonlySet<string> = new Set(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir']);

const sequences: readonly (readonly string[])[] = protectedNames.map((name) => name.split('/').map(folded));

/** Whether a file at this path, relative or absolute, is one of the protected ones or lies below one. */
export function isProtected(path: string): boolean {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const parts = names.map(folded);
  // A file of this name sends git to another folder, with other hooks.
  if (parts.at(-1) === '.git') return true;
  if (
    parts.some((_, start) => sequences.some((sequence) => sequence.every((name, at) => parts[start + at] === name)))
  ) {
    return true;
  }
  const git = parts.indexOf('.git');
  // With a few others of its kind, git takes a folder for a repository that has its configuration at the top.
  if (parts.at(-1) === 'head' && git < 0) return true;
  const inside = parts[git + 1];
  const isNested = git >= 0 && (inside === 'modules' || inside === 'worktrees');
  return isNested && parts.slice(git + 2).some((name) => protectedBelowGit.has(name));
}

/** Some file systems take several spellings for one name: by case, by composition, with signs that can't be seen. */
function folded(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}
