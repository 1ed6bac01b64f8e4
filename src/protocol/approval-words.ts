/**
 * The choices of an approval, in the words that people see: the gate offers them, commands and front ends send them back,
 * and the gate reads them. Some may be missing from a question; none has another word.
 */
export const approvalWords = {
  once: 'Once',
  session: 'This session',
  always: 'Always',
  no: 'No',
} as const;

/** How long a yes holds. */
export type ApprovalScope = Exclude<keyof typeof approvalWords, 'no'>;
export type ApprovalWord = (typeof approvalWords)[keyof typeof approvalWords];

export const approvalScopes = ['once', 'session', 'always'] as const satisfies readonly ApprovalScope[];

/** What an answer means; null for words that are none of these, which is as good as no. */
export function readApproval(answer: string): ApprovalScope | 'no' | null {
  const said = answer.trim().toLowerCase();
  for (const [meaning, word] of Object.entries(approvalWords)) {
    if (word.toLowerCase() === said) return meaning as ApprovalScope | 'no';
  }
  return null;
}
