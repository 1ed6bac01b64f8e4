/** How the model that answers is told what to do. */
export interface Language {
  /** Answers with exactly this word. */
  say(word: string): string;
  /** Answers with something longer than one post. */
  tell(word: string): string;
  /** Answers in so many pieces, with pauses. */
  slowly(pieces: number, word: string): string;
  /** Commands, one answer after the other; those of one answer side by side. */
  run(...answers: readonly (readonly string[])[]): string;
  read(...paths: readonly string[]): string;
  write(...paths: readonly string[]): string;
  remember(text: string): string;
  /** Asks for a tool with arguments, be they right or wrong. */
  call(tool: string, input: string): string;
}

/** Of the model inside the program. */
export const rehearsal: Language = {
  say: (word) => `say ${word}`,
  tell: (word) => `count to 45, ${word}`,
  slowly: (pieces, word) => `count slowly to ${3 * pieces}, ${word}`,
  run: (...answers) =>
    answers
      .map(
        (commands) => commands.map((command) => `run ${command}`).join(' and ') + (commands.length > 1 ? atOnce : ''),
      )
      .join(' and then '),
  read: (...paths) => `${paths.map((path) => `read ${path}`).join(' and ')}${atOnce}`,
  write: (...paths) => paths.map((path) => `write something to ${path}`).join(' and then '),
  remember: (text) => `remember ${text}`,
  call: (tool, input) => `call the tool ${tool} with ${input}`,
};

const atOnce = ' at once';

/** Of the model server; see test/model-server/script.ts. */
export const script: Language = {
  say: (word) => `say ${word}`,
  tell: (word) => `say ${word} then long 260`,
  slowly: (pieces, word) => `slowly say ${`${word} `.repeat(5 * pieces)}`,
  run: (...answers) => answers.map((commands) => together(commands.map((command) => `run ${command}`))).join(' then '),
  read: (...paths) => together(paths.map((path) => `read ${path}`)),
  write: (...paths) => paths.map((path) => `write ${path}: something`).join(' then '),
  remember: (text) => `remember ${text}`,
  call: (tool, input) => `call ${tool} ${input}`,
};

/** The same on a platform whose posts may be long. Not too long: after a stop it may have to be said slowly. */
export const longScript: Language = { ...script, tell: (word) => `say ${word} then long 4200` };

function together(steps: readonly string[]): string {
  return steps.length === 1 ? steps.join('') : `both ${steps.join(' and ')}`;
}
