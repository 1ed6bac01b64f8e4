/** Whether what a path led to may be looked at: inside yes, hidden never, anything else by leave of a person. */
import type { ToolContext, ToolOutcome } from '../tool.ts';
import { mayGoOn, readingPlan, type Approved } from './ask-first.ts';
import type { Located } from './confined-open.ts';
import { failed, hiddenText, type FileDeps, type Place } from './file-deps.ts';
import { zoneByNames } from './other-names.ts';
import type { Zone } from './zones.ts';

/** With all names of a file that has several. */
export async function zoneToRead({ zones, marks }: Omit<Place, 'where'>, where: Located): Promise<Zone> {
  if (where.entry?.stats.isFile() !== true) return where.zone;
  return zoneByNames(where.entry, where.zone, zones, marks);
}

/** Null if it may; else the outcome to end with. */
export async function mayRead(
  deps: FileDeps,
  place: Place,
  where: Located,
  context: ToolContext,
  approved: Approved,
): Promise<ToolOutcome | null> {
  switch (await zoneToRead(place, where)) {
    case 'inside':
    case 'readable':
      return null;
    case 'hidden':
      return failed(hiddenText(where.shown));
    case 'outside': {
      const hasOtherNames = where.zone !== 'outside';
      const reason = hasOtherNames ? 'has another name outside the workspace' : 'is outside the workspace';
      // What a lasting permission would be about is a folder, and this is only one file of it.
      const plan = { ...readingPlan(where, reason), ...(hasOtherNames ? { onceOnly: true as const } : {}) };
      return mayGoOn(deps.gate, plan, context, approved, where.shown);
    }
  }
}
