/** How large skills may be. What is past a limit is refused or reported, never cut silently. */

export const skillFileName = 'SKILL.md';

/** As the format has them. */
export const nameCharsMax = 64;
export const descriptionCharsMax = 1_024;
export const compatibilityCharsMax = 500;

export const frontMatterCharsMax = 16 * 1024;
export const skillFileBytesMax = 256 * 1024;

/** Of one skill's folder. */
export const filesMax = 500;
export const fileBytesMax = 5 * 1024 * 1024;
export const treeBytesMax = 20 * 1024 * 1024;
export const pathDepthMax = 8;
export const pathCharsMax = 300;

/** Folders looked at on one shelf. */
export const skillsMax = 2_000;

/** Of what a skill was before it was changed. */
export const versionsMax = 20;
export const historyBytesMax = 40 * 1024 * 1024;
