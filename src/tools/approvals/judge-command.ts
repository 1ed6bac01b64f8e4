/**
 * Judges a command before it runs: plain, worth a question, or never. Pure: it knows the text and the places it is told of.
 * The boundary is the sandbox, not this: inside a whole one an ordinary command is plain whatever it hides, and only what
 * harms the workspace itself asks. Where nothing holds a command back, every one asks. What nobody may do is refused at every
 * level and in every mode, as far as reading can find it.
 */
import type { CommandPlace, Judgement } from '../approval.ts';
import { noFindings, type Findings } from './findings.ts';
import { readShell } from './parse-shell.ts';
import { initialState } from './shell-state.ts';
import { unseenCharacters } from './shown-text.ts';
import { walkCommand } from './walk-command.ts';

const reasonsMax = 8;

export function judgeCommand(text: string, place: CommandPlace): Judgement {
  const findings = findingsOf(text, place);
  const [refusal] = findings.refusals;
  if (refusal !== undefined) return { kind: 'refused', reason: refusal };
  const reasons = [
    ...levelReasons(findings, place),
    ...[...findings.unread].map((problem) => `can't be read: ${problem}`),
    ...findings.asks,
  ];
  if (reasons.length === 0) return { kind: 'plain', notes: [...findings.notes] };
  return { kind: 'asks', reasons: [...new Set(reasons)].slice(0, reasonsMax) };
}

/** Files that it would run, as far as can be read: their content is part of what is approved. */
export function filesOf(text: string, place: CommandPlace): readonly string[] {
  return [...findingsOf(text, place).files].sort();
}

function findingsOf(text: string, place: CommandPlace): Findings {
  const findings = noFindings();
  const unseen = unseenCharacters(text);
  if (unseen.length > 0) findings.asks.add(`has characters that can't be seen (${unseen.slice(0, 3).join(', ')})`);
  const read = readShell(text);
  if (!read.ok) {
    findings.unread.add(read.problem);
    return findings;
  }
  walkCommand(read.script, initialState(place.cwd, place.home, place.talariaHome), {
    places: { ...place, writable: [place.workspace, ...place.writable] },
    findings,
    ownPids: place.ownPids ?? [],
  });
  return findings;
}

/** What only matters because of where it runs. */
function levelReasons({ risks, notes, programs }: Findings, { level, gaps }: CommandPlace): string[] {
  switch (level) {
    case 'none':
      return ['runs outside any sandbox', ...risks, ...notes];
    case 'landlock':
    case 'ssh':
      if (level === 'ssh' || gaps.length > 0) return weakReasons(risks, programs, level);
      return [];
    case 'bubblewrap':
    case 'namespaces':
    case 'docker':
      return gaps.length > 0 ? weakReasons(risks, programs, level) : [];
  }
}

function weakReasons(risks: ReadonlySet<string>, programs: ReadonlySet<string>, level: string): string[] {
  if (risks.size > 0) return [...risks];
  if (programs.size === 0) return [];
  const names = [...programs].slice(0, 3).join(', ');
  return [
    level === 'ssh' ? `runs ${names} on another machine, with no sandbox` : `runs ${names}, and the sandbox has gaps`,
  ];
}
