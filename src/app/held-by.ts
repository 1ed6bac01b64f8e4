/** Tells whoever finds the home in use by whom, and what to do. */
import type { Holder } from '../store/sqlite/home-lock.ts';

const otherHome = 'set TALARIA_HOME to another folder';

export function heldBy(home: string, holder: Holder | null): string {
  if (holder === null) return `Another Talaria process uses ${home}. Stop it, or ${otherHome}.`;
  const who = `talaria ${holder.purpose} (pid ${holder.pid}${holder.url === null ? '' : `, ${holder.url}`})`;
  const since = new Date(holder.startedAt).toISOString().slice(0, 19).replace('T', ' ');
  const used = `${home} is in use by ${who} since ${since} UTC`;
  if (holder.url !== null) return `${used}. Stop it (kill ${holder.pid}), or ${otherHome}.`;
  return `${used}. Stop it (kill ${holder.pid}), or ${otherHome}; with a gateway running, several can be used at once.`;
}
