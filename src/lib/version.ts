/** The version of this program. package.json is its only source; the bundle carries a copy. */
import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;
