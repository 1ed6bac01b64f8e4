/** What `/NAME WORDS` becomes on any channel if NAME is a skill: a message that has the model read it first. Pure. */
export function skillCommand(name: string, argument: string): string {
  const words = argument.trim();
  const asked = `Use the skill ${name}: read it with skill_view and do what it says.`;
  return words === '' ? asked : `${asked}\n\n${words}`;
}
