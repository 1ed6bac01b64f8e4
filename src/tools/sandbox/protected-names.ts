/**
 * Names in a writable folder that stay as they are, because other programs act on them by themselves: a shell that starts,
 * git that runs its hooks, an editor or another agent that opens the folder. A command that could change them would leave
 * the sandbox as soon as somebody uses the folder. What of the first list is not there can't be created either; the second
 * list is about what is there already, and about somebody's home, where all of them matter.
 */
import { protectedNames as allNames } from '../protected-names.ts';
import { words } from './quote.ts';

/** In every repository, as far as they are there: what is run by itself. What agents are told there changes with the files. */
export const protectedInProjects: readonly string[] = words(
  '.gitconfig .husky .githooks .envrc',
  '.claude .codex .cursor .agents .mcp.json .talaria',
  '.vscode .idea .devcontainer .vimrc .exrc',
);

/** At the top of every writable folder. `.git` is looked at in more detail, see `find-guards.ts`. */
export const protectedNames: readonly string[] = [
  ...protectedInProjects,
  ...words(
    // With a few others of its kind, git takes a folder for a repository that has its configuration at the top.
    'HEAD',
    '.bashrc .bash_profile .profile .zshrc .zshenv .ssh',
    // What Talaria itself is told by a workspace: the next session would obey it.
    '.talaria.md AGENTS.md CLAUDE.md .cursorrules',
  ),
];

/** The rest of the one list, and folders of a home in which much of it lies. */
export const protectedIfThere: readonly string[] = [
  ...allNames.filter((name) => !name.includes('/') && !protectedNames.includes(name)),
  '.config',
  '.local',
];
