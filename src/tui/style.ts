/** The few styles that the terminal output uses; each is the identity where colour is not wanted. */

export interface Style {
  readonly colour: boolean;
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

export function createStyle(colour: boolean): Style {
  const wrap = (on: number, off: number) => (text: string) =>
    colour && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    colour,
    dim: wrap(2, 22),
    bold: wrap(1, 22),
    red: wrap(31, 39),
    green: wrap(32, 39),
    yellow: wrap(33, 39),
  };
}

/** Colour is for people in front of a terminal who have not declined it (https://no-color.org). */
export function wantsColour(env: NodeJS.ProcessEnv, isTty: boolean): boolean {
  const declined = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return isTty && !declined && env['TERM'] !== 'dumb';
}
