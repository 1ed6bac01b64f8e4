/** Who may answer where the agent asks for permission. */
import type { Question } from '../protocol/messages.ts';
import type { Identity } from './identity.ts';

export type MayApprove = (identity: Pick<Identity, 'role' | 'owner'>, session: { readonly owner: string }) => boolean;

/** `user`: everybody in their own conversation, besides the owner. */
export function createMayApprove(approvers: () => 'owner' | 'user'): MayApprove {
  return ({ role, owner }, session) => role === 'owner' || (approvers() === 'user' && session.owner === owner);
}

export const ownerApproves: MayApprove = createMayApprove(() => 'owner');

export const mayNotApprove = 'Only the owner may answer this: it asks for permission.';

export function mayAnswer(
  mayApprove: MayApprove,
  identity: Pick<Identity, 'role' | 'owner'>,
  session: { readonly owner: string },
  question: Question,
): boolean {
  return question.isApproval !== true || mayApprove(identity, session);
}
