/** Where things are in the home, for those that several parts of the program look for. */

/** What calls leave behind that outlives the process: a folder for each session. */
export const spoolsFolder = 'spool';
/** A folder for each session that has a browser. */
export const browsersFolder = 'browser';
/** What belongs to running programs: sockets, proofs, states. */
export const runFolder = 'run';
