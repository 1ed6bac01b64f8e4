/**
 * Looks a skill through for what a person should see before they say yes: suspicious words, characters that can't be
 * seen, what its scripts reach for, programs that can't be read. Reads only; bounded however large the skill is.
 */
import { auditRules } from './audit-rules.ts';
import { firstInvisible, unseenClasses } from '../invisible.ts';
import type { SkillHeader } from './skill-format.ts';
import { readInside } from './skill-path.ts';
import type { TreeFile } from './skill-tree.ts';

const findingsMax = 60;
const lookedAtBytesMax = 1024 * 1024;
const shownCharsMax = 120;
/** A pattern is tried on this much of a line: longer ones are no text that people write. */
const lineCharsMax = 4_000;

export interface AuditFinding {
  readonly path: string;
  /** 0: the file as a whole. */
  readonly line: number;
  /** A phrase. */
  readonly what: string;
  /** The line, cut; empty if there is nothing to be shown. */
  readonly shown: string;
}

const scriptPattern = /\.(?:sh|bash|zsh|fish|py|js|mjs|cjs|ts|mts|rb|pl|php|lua|ps1|bat|cmd|go|rs|swift|applescript)$/i;

export async function auditSkill(
  folder: string,
  files: readonly TreeFile[],
  header: Pick<SkillHeader, 'allowedTools'> | null,
): Promise<readonly AuditFinding[]> {
  const findings: AuditFinding[] = [];
  if (header !== null && header.allowedTools.length > 0) {
    const shown = header.allowedTools.join(' ').slice(0, shownCharsMax);
    findings.push({
      path: 'SKILL.md',
      line: 0,
      what: 'wants to use tools without asking, which is not granted',
      shown,
    });
  }
  for (const file of files) {
    if (findings.length >= findingsMax) break;
    findings.push(...(await auditFile(folder, file)));
  }
  return findings.slice(0, findingsMax);
}

async function auditFile(folder: string, file: TreeFile): Promise<readonly AuditFinding[]> {
  const { path, isExecutable } = file;
  const whole = (what: string): AuditFinding[] => [{ path, line: 0, what, shown: '' }];
  if (file.size > lookedAtBytesMax) return whole('is too large to be looked through');
  const read = await readInside(folder, path, lookedAtBytesMax);
  if (read.kind !== 'read') return whole('could not be read');
  const bytes = Buffer.from(read.bytes);
  if (isProgram(bytes)) return whole('is a program that can’t be read');
  // What is no text and can't be run: pictures, fonts, documents.
  if (bytes.includes(0)) return isExecutable ? whole('may be run and is no text') : [];
  const text = bytes.toString('utf8');
  const isScript = isExecutable || scriptPattern.test(path) || path.startsWith('scripts/') || text.startsWith('#!');
  return auditText(path, text, isScript);
}

function auditText(path: string, text: string, isScript: boolean): readonly AuditFinding[] {
  const findings: AuditFinding[] = [];
  const seen = new Set<string>();
  for (const [index, whole] of text.split('\n').entries()) {
    const line = whole.slice(0, lineCharsMax);
    const unseen = firstInvisible(index === 0 ? whole : whole.replace(/\r$/, ''));
    const found = auditRules
      .filter(({ where, pattern }) => (where === 'text' || isScript) && pattern.test(line))
      .map(({ what }) => what);
    if (unseen !== null) found.push(`has a character that nobody sees (${unseen})`);
    if (whole.length > lineCharsMax) found.push('has a line that is too long to be looked through');
    for (const what of found) {
      // Once for each file is enough to look there.
      if (seen.has(what)) continue;
      seen.add(what);
      findings.push({ path, line: index + 1, what, shown: shownLine(line) });
    }
  }
  return findings;
}

const unseenPattern = new RegExp(`[${unseenClasses}]`, 'gu');

function shownLine(line: string): string {
  const clean = line.replace(unseenPattern, '·').trim();
  return clean.length <= shownCharsMax ? clean : `${clean.slice(0, shownCharsMax - 1).toWellFormed()}…`;
}

/** ELF, Windows, and the three kinds of macOS. */
function isProgram(bytes: Buffer): boolean {
  if (bytes.length < 4) return false;
  const magic = bytes.readUInt32BE(0);
  const macOs = [0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe, 0xcafebabe];
  return magic === 0x7f454c46 || bytes.subarray(0, 2).toString('latin1') === 'MZ' || macOs.includes(magic);
}
