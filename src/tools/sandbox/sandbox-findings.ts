/** What `status` and `doctor` say about the sandbox. */
import type { SandboxChoice } from './choose-sandbox.ts';
import { reasonOf } from './explain-failure.ts';

export interface SandboxFindings {
  readonly level: string;
  readonly severity: 'fine' | 'weak' | 'broken' | 'unknown';
  /** One line for each, for people. */
  readonly lines: readonly string[];
  /** What would make it better; null if nothing would. */
  readonly fix: string | null;
}

/** `isRoot`: commands are root's, whose processes the kernel does not count. */
export function sandboxFindings(
  choice: SandboxChoice | { readonly kind: 'not-yet-proved' },
  isRoot = process.getuid?.() === 0,
): SandboxFindings {
  switch (choice.kind) {
    case 'not-yet-proved':
      return {
        level: 'not yet proved',
        severity: 'unknown',
        lines: ['It is proved with the first command.'],
        fix: null,
      };
    case 'refused':
      return { level: 'refused', severity: 'broken', lines: [choice.message], fix: choice.message };
    case 'chosen': {
      const { sandbox, proofs } = choice;
      const passed = proofs.at(-1)?.checks.filter((check) => check.passed).length ?? 0;
      const above = proofs.slice(0, -1).map((proof) => `${proof.level} is not used: ${reasonOf(proof)}.`);
      const lines = [
        `${sandbox.description}${passed > 0 ? `; ${passed} checks passed` : ''}.`,
        ...sandbox.gaps.map((gap) => `Gap: ${gap}.`),
        ...above,
        ...(isRoot && countsByItself.has(sandbox.level) ? [uncounted] : []),
      ];
      const isWhole = sandbox.gaps.length === 0;
      return { level: sandbox.level, severity: isWhole ? 'fine' : 'weak', lines, fix: fixFor(choice) };
    }
  }
}

const countsByItself: ReadonlySet<string> = new Set(['bubblewrap', 'namespaces']);
const uncounted =
  'How many processes commands may start is not limited for root; as another user it is. For memory they are ended first.';

function fixFor({ sandbox, proofs }: Extract<SandboxChoice, { kind: 'chosen' }>): string | null {
  switch (sandbox.level) {
    case 'bubblewrap':
    case 'docker':
    case 'ssh':
      return null;
    case 'namespaces':
      return proofs.length > 1 ? 'Install bubblewrap, for example with `apt install bubblewrap`.' : null;
    case 'landlock':
      return 'Install bubblewrap, for example with `apt install bubblewrap`, and set terminal.backend to auto.';
    case 'none':
      return 'Set terminal.backend to auto.';
  }
}
