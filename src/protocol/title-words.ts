/** What a conversation is called before anybody names it: the words it began with. Pure. */
const titleCharsMax = 60;
const lookedAtChars = 400;

/** The first words, on one line. */
export function titleFrom(text: string): string {
  const line = text.slice(0, lookedAtChars).replaceAll(/\s+/g, ' ').trim();
  if (line.length <= titleCharsMax) return line;
  const cut = line.slice(0, titleCharsMax);
  const lastSpace = cut.lastIndexOf(' ');
  return `${(lastSpace > titleCharsMax / 2 ? cut.slice(0, lastSpace) : cut).toWellFormed()}…`;
}

const greeting =
  /^(?:hi+|hello|hey+|hallo|moin|servus|good (?:morning|afternoon|evening|day)|guten (?:morgen|tag|abend)|bonjour|bonsoir|salut|hola|buen[oa]s (?:d[ií]as|tardes|noches)|ol[aá]|ciao|hej|привет|здравствуйте|你好|您好|こんにちは|안녕하세요|مرحبا|test|testing|ping|are you there|anybody there)(?: (?:there|all|again|talaria|bot|everyone|zusammen))?$/iu;

/** A greeting, or no words at all: it does not say what the conversation is about. */
export function saysLittle(title: string): boolean {
  const words = title.replaceAll(/[^\p{L}\p{N} ]/gu, '').trim();
  return words === '' || greeting.test(words);
}
