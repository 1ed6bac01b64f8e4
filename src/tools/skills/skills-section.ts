/**
 * The index of skills in the system prompt: a line each, as long as all of them fit; then shorter ones, then names only,
 * then a word on how to find the rest. The same skills give the same text. Pure.
 */
import { withoutInvisible } from '../invisible.ts';
import type { Skill } from './skill-shelf.ts';

/** Of the whole section. */
export const sectionCharsMax = 4_000;
/** Of one description, tried in this order; 0: no description. */
const descriptionChars = [200, 80, 0];

const opening = '# Skills\nRead one that fits with skill_view first.';

/** Empty if there are none. Only those that are offered belong here. */
export function skillsSection(skills: readonly Pick<Skill, 'name' | 'description'>[]): string {
  if (skills.length === 0) return '';
  const sorted = skills.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  for (const charsMax of descriptionChars) {
    const section = [opening, ...sorted.map((skill) => indexLine(skill, charsMax))].join('\n');
    if (section.length <= sectionCharsMax) return section;
  }
  return cutSection(sorted.map(({ name }) => name));
}

function cutSection(names: readonly string[]): string {
  const room = sectionCharsMax - opening.length - 100;
  let list = '';
  let shown = 0;
  for (const name of names) {
    if (list.length + name.length + 2 > room) break;
    list += `${shown === 0 ? '' : ', '}${name}`;
    shown += 1;
  }
  return `${opening}\n${list}\n${names.length - shown} more: skills_list with a word finds them.`;
}

export function indexLine({ name, description }: Pick<Skill, 'name' | 'description'>, charsMax: number): string {
  return charsMax === 0 ? `- ${name}` : `- ${name}: ${oneLine(description, charsMax)}`;
}

/** Without what can't be seen: it could hide words from the person who confirmed the skill. */
function oneLine(text: string, charsMax: number): string {
  const line = withoutInvisible(text.replace(/\s+/gu, ' ')).text.trim();
  return line.length <= charsMax
    ? line
    : `${line
        .slice(0, charsMax - 1)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`;
}
