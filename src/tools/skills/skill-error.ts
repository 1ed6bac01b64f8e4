/** Something about a skill can't be done; the message is for the person: what happened and what to do next. */
export class SkillError extends Error {
  override readonly name = 'SkillError';
}
