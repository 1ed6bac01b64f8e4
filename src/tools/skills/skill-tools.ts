/** The three tools about skills, together: they share one shelf, and changes are made one after the other. */
import type { SessionId } from '../../protocol/ids.ts';
import type { Gate } from '../approval.ts';
import type { Tool } from '../tool.ts';
import type { DiffTexts } from './build-change.ts';
import { createSkillManageTool } from './skill-manage-tool.ts';
import type { SkillShelf } from './skill-shelf.ts';
import { createSkillViewTool } from './skill-view-tool.ts';
import { createSkillsListTool } from './skills-list-tool.ts';

export interface SkillToolsDeps {
  readonly shelf: SkillShelf;
  readonly gate: Gate;
  readonly diff: DiffTexts;
  /** `skills.write_approval`. */
  readonly asksAlways: () => boolean;
  /** Whether a session is the owner's own. */
  readonly isOwners: (sessionId: SessionId) => Promise<boolean>;
}

export function createSkillTools(deps: SkillToolsDeps): readonly Tool[] {
  return [createSkillsListTool(deps), createSkillViewTool(deps), createSkillManageTool(deps)];
}
