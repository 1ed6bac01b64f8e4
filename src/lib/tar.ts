/**
 * Tar archives as streams: nothing is held in memory but a chunk and a header. Written are plain POSIX archives (ustar
 * with pax records where a name or a size needs them) that any tar reads; read are those and the ones GNU tar writes.
 * What files to take and where to put them is the caller's business.
 */
export { TarError, type TarEntry, type TarErrorReason, type TarHeader } from './tar-entry.ts';
export { readTar } from './tar-reader.ts';
export { tarEntries } from './tar-writer.ts';
