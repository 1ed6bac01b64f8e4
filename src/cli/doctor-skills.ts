/** The doctor's look at the skills: which can't be used, and which are not what somebody confirmed. */
import { openSkillShelf } from '../app/skills-admin.ts';
import type { Config } from '../config/schema.ts';
import { bad, good, warn, type Finding } from './doctor-finding.ts';

const shownMax = 20;

export async function checkSkills(home: string, config: Config): Promise<Finding[]> {
  try {
    const { skills, broken } = await openSkillShelf(home, () => config.skills.disabled).list();
    const changed = skills.filter(({ state }) => state === 'changed');
    const findings = [
      ...broken.map(({ name, problem }) =>
        bad(`skill ${name} can't be used: ${problem}`, `mend it, or: talaria skills remove ${name}`),
      ),
      ...changed.map(({ name }) =>
        warn(
          `skill ${name} is not what was confirmed, and is not offered to the agent`,
          `look at it: talaria skills audit ${name}`,
        ),
      ),
    ];
    if (findings.length === 0) return [good(`skills: ${skills.length}, all in order`)];
    const more = findings.length - shownMax;
    return more <= 0
      ? findings
      : [...findings.slice(0, shownMax), bad(`${more} more skills need a look`, 'see talaria skills list')];
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'SkillError') throw error;
    return [bad(error.message, `give this user access to ${home}/skills`)];
  }
}
