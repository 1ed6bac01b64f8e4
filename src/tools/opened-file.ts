/** How a tool gets a file to hand on, without knowing what may be read. */
import type { ToolContext } from './tool.ts';

export type OpenedFile =
  | { readonly kind: 'opened'; readonly name: string; readonly shown: string; readonly bytes: Uint8Array }
  /** `problem` is a sentence. */
  | { readonly kind: 'refused'; readonly problem: string };

/** A file that may be read, whole. Never asks: what is outside the roots is refused. Does not throw. */
export type OpenForReading = (
  path: string,
  context: Pick<ToolContext, 'workspace' | 'spoolFolder'>,
  bytesMax: number,
) => Promise<OpenedFile>;
