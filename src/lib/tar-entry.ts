/** What an archive consists of, for its writer and its reader. */

/** Names are relative, with `/` between their parts and none at the end. */
export type TarHeader =
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly mode: number;
      readonly modifiedMs: number;
      readonly size: number;
    }
  | { readonly kind: 'folder'; readonly name: string; readonly mode: number; readonly modifiedMs: number }
  | { readonly kind: 'symlink'; readonly name: string; readonly modifiedMs: number; readonly target: string };

export interface TarEntry {
  readonly header: TarHeader;
  /** As many bytes as a file's header says; nothing for the others. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type TarErrorReason =
  /** Not an archive at all, or not as it was written. */
  | 'damaged'
  /** It ends before its end. */
  | 'truncated'
  /** A name that would lead outside of the folder it is unpacked into. */
  | 'unsafe-name'
  /** Devices, hard links and the like. */
  | 'unsupported'
  /** A file had another size than its header says, while it was being written. */
  | 'size-changed';

export class TarError extends Error {
  override readonly name = 'TarError';
  readonly reason: TarErrorReason;

  /** `message` is for the user: what is wrong with the archive and what to do. */
  constructor(reason: TarErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export function damagedArchive(): TarError {
  return new TarError('damaged', 'The file is not a tar archive, or it is damaged. Use another copy of it.');
}
