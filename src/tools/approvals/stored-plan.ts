/** A plan as it is stored with its question. What comes back is checked: a plan that can't be read is not approved. */
import * as z from 'zod/mini';
import type { Plan } from '../approval.ts';

const planSchema = z.object({
  kind: z.enum(['command', 'file', 'send', 'mcp', 'self']),
  subject: z.string(),
  shown: z.string(),
  reasons: z.array(z.string()),
  where: z.string(),
  frozen: z.string(),
  lasting: z.optional(z.string()),
});

export function writePlan({ kind, subject, shown, reasons, where, frozen, lasting }: Plan): string {
  return JSON.stringify({ kind, subject, shown, reasons, where, frozen, lasting });
}

export function readPlan(text: string | undefined): Plan | null {
  if (text === undefined) return null;
  try {
    const { lasting, ...plan } = planSchema.parse(JSON.parse(text));
    return { ...plan, ...(lasting === undefined ? {} : { lasting }) };
  } catch {
    // Written by another version, or not by us.
    return null;
  }
}
