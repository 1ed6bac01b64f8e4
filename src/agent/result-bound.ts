/**
 * Results are bounded before they are first stored: what is too long for a prompt is kept in a file that the model can
 * read, and the result is its beginning, its end and the way to the rest.
 */
export const resultCharsMax = 50_000;
const headChars = 20_000;
const tailChars = 4_000;

export async function boundedResult(text: string, keep: (whole: string) => Promise<string>): Promise<string> {
  const whole = text.toWellFormed();
  if (whole.length <= resultCharsMax) return whole;
  const where = await keep(whole).then(
    (path) => `all of it is in ${path}`,
    () => 'the rest could not be kept',
  );
  const leftOut = whole.length - headChars - tailChars;
  const note = `[… ${leftOut} characters left out; ${where} …]`;
  return `${whole.slice(0, headChars).toWellFormed()}\n${note}\n${whole.slice(-tailChars).toWellFormed()}`;
}
