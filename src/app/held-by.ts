/** Tells whoever finds the home in use by whom, and what to do. */
import type { Holder } from '../store/sqlite/home-lock.ts';

export function heldBy(home: string, holder: Holder | null): string {
  if (holder === null) return `Another Talaria process uses ${home}. Stop it, or set TALARIA_HOME to another folder.`;
  const who = `talaria ${holder.purpose} (pid ${holder.pid}${holder.url === null ? '' : `, ${holder.url}`})`;
  const since = new Date(holder.startedAt).toISOString().slice(0, 19).replace('T', ' ');
  return `${home} is in use by ${who} since ${since} UTC. Stop it (kill ${holder.pid}), or set TALARIA_HOME to another folder.`;
}
