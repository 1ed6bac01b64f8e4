/** A file of the workspace, to be put into a page: read here and handed over, so that Chromium needs no files of anybody. */
import { constants, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileProblem, placeInWorkspace } from '../workspace-path.ts';
import { BrowserError } from './browser-error.ts';

const uploadBytesMax = 20_000_000;

export interface Upload {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/** Throws a `BrowserError`. */
export async function readUpload(workspace: string, path: string): Promise<Upload> {
  const place = await placeInWorkspace(workspace, path);
  if (place.kind === 'refused') throw new BrowserError('action-failed', place.problem);
  const refuse = (why: string): BrowserError =>
    new BrowserError('action-failed', `${place.shown} can't be uploaded: ${why}.`);
  // The place has no links in it; one that came to be there since is not followed. A pipe does not make it wait.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(place.path, flags).catch((error: unknown) => {
    throw refuse(fileProblem(error));
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse('it is not a file');
    if (stats.nlink > 1) throw refuse('it has another name elsewhere (a hard link)');
    if (stats.size > uploadBytesMax) throw refuse(`it has more than ${uploadBytesMax / 1e6} MB`);
    return { name: basename(place.path), mimeType: 'application/octet-stream', buffer: await file.readFile() };
  } finally {
    await file.close();
  }
}
