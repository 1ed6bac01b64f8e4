/** How prompts begin: what a new session would be sent, and beside it what a session was frozen with. Changes nothing. */
import { headOf, loadJournal } from '../agent/journal.ts';
import { sectionsOf } from '../agent/system-prompt.ts';
import type { PromptReport, PromptView } from '../protocol/api.ts';
import type { Head } from '../protocol/messages.ts';
import type { SessionRecord, StoreReader } from '../store/store.ts';

export interface PromptReportDeps {
  readonly read: StoreReader;
  /** Of a session like this one that would begin now; null: one on this machine's terminal. */
  readonly freshHead: (session: SessionRecord | null) => Promise<Head>;
}

export async function promptReport(
  { read, freshHead }: PromptReportDeps,
  session: SessionRecord | null,
): Promise<PromptReport> {
  const journal = session === null ? null : await loadJournal(read, session.id);
  const frozen = journal === null ? null : headOf(journal);
  return {
    session: session?.name ?? null,
    frozen: frozen === null ? null : viewOf(frozen),
    fresh: viewOf(await freshHead(session)),
  };
}

function viewOf(head: Head): PromptView {
  const tools = head.tools.map((tool) => ({ name: tool.name, bytes: Buffer.byteLength(JSON.stringify(tool)) }));
  return { sections: sectionsOf(head), tools };
}
