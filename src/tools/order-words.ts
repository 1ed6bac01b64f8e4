/**
 * Words that tell a model to drop what it was told, as they stand in files and notes: in the languages that such texts are
 * written in, with letters that pass for others, spaced out or broken over lines. They find what is written openly; what is
 * clever enough is not found, so whoever asks fences the text as well. Pure.
 */
const english = 'ignore|disregard|forget|override|overrule|bypass|neglect';
const earlier = 'above|previous|prior|earlier|preceding|foregoing';
const orders = 'instructions?|rules?|prompts?|messages?|guidelines|directions?|directives?|orders?';

// All rules are tried on small letters without accents. Flags that say the same would make them slow to get ready, and
// they are needed where a conversation begins.

/** Found in one line or paragraph: what is told to be dropped need not be named. */
const looseRules: readonly RegExp[] = [
  new RegExp(`\\b(?:${english})\\b.{0,40}\\b(?:${earlier}|before|system)\\b`),
  new RegExp(`\\b(?:${english})\\b.{0,30}\\b(?:all|any|your|other)\\b.{0,20}\\b(?:${orders}|restrictions?)\\b`),
];

/** Found anywhere, over lines too. */
const latinRules: readonly RegExp[] = [
  new RegExp(`\\b(?:${english})\\b[^.!?]{0,40}\\b(?:${earlier}|all|any|your|system)\\b[^.!?]{0,40}\\b(?:${orders})\\b`),
  new RegExp(`\\b(?:${english}) (?:the|everything|all|anything|whatever)(?: that)?(?: is| was| of the)? above\\b`),
  new RegExp(
    `\\b(?:do not|don.?t|stop|no longer|never) (?:follow|obey|heed)(?:ing)?\\b.{0,20}\\b(?:${earlier})\\b.{0,20}\\b(?:${orders})\\b`,
  ),
  new RegExp(
    `\\b(?:(?:${earlier}) (?:${orders})|(?:${orders}) above) (?:are|is|were|no longer|do not|don.?t)\\b.{0,20}\\b(?:void|appl(?:y|ies)|obsolete|cancell?ed|replaced|superseded|invalid|wrong)\\b`,
  ),
  /\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missacht\w*)\b.{0,40}\b(?:oben|obig\w*|vorherig\w*|vorig\w*|bisherig\w*|zuvor|vorangegangen\w*)\b/,
  /\b(?:ignor(?:a|e|ez|ad|en|i)|olvid(?:a|e|ad)|esque(?:ce|ca)|desconsidere|dimentica|oubli(?:e|ez))\b.{0,40}\b(?:anterior(?:es|i)?|previ[ao]s|precedent[ei]s?|ci-dessus|arriba|acima|sopra)\b/,
  /\b(?:negeer|vergeet)\b.{0,30}\b(?:bovenstaande|vorige|eerdere|voorgaande)\b/,
  /\b(?:z?ignoruj|pomin|zapomnij)\b.{0,30}\b(?:powyzsz|poprzedni|wczesniejsz)/,
  /\b(?:onceki|yukar[ıi]daki)\b.{0,40}(?:yok say|gormezden gel|unut)/,
];

const otherRules: readonly RegExp[] = [
  /(?:игнориру|забуд|ігнору).{0,40}(?:предыдущ|вышеуказан|вышепривед|прежн|попередн|вище|выше)/,
  /(?:忽略|无视|無視|忘记|忘記|忽視).{0,12}(?:以上|上述|上面|之前|先前|前面|此前)/,
  /(?:以上|上述|上面|之前|先前|前面).{0,12}(?:指令|指示|命令|提示|规则|規則).{0,8}(?:忽略|无视|無視|作废|作廢)/,
  /(?:上記|以上|以前|これまで|前述).{0,16}(?:指示|命令|ルール|プロンプト).{0,8}(?:無視|忘れ|従わない)/,
  /(?:이전|위의|앞의|기존|지금까지).{0,16}(?:지시|명령|규칙|프롬프트).{0,12}(?:무시|잊)/,
  /(?:تجاهل|انس).{0,30}(?:السابق|أعلاه|اعلاه)/,
  /(?:पिछले|पूर्व|ऊपर|उपरोक्त).{0,30}निर्देश.{0,20}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)/,
];

/** The words that were found, or null. `loose`: also without saying what is to be dropped. */
export function defiantWords(text: string, { loose }: { readonly loose: boolean }): string | null {
  const folded = spelledOut(withPlainLetters(text));
  const latin = spelledOut(withLatinLookalikes(folded));
  const isForeign = !asciiPattern.test(text);
  return (
    (loose ? firstFound(looseRules, paragraphsOf(latin)) : null) ??
    firstFound(latinRules, onOneLine(latin)) ??
    (isForeign ? firstFound([...otherRules, ...latinRules], onOneLine(folded)) : null)
  );
}

function firstFound(rules: readonly RegExp[], text: string): string | null {
  for (const rule of rules) {
    const [words] = rule.exec(text) ?? [];
    if (words !== undefined) return words;
  }
  return null;
}

/** A line that goes on is one with the next; a list, a heading and an empty line are an end. */
function paragraphsOf(text: string): string {
  return text.replaceAll(/[ \t]*\n(?!\s*\n|\s*(?:[-*+#>|`]|\d+[.)])\s)[ \t]*/g, ' ');
}

function onOneLine(text: string): string {
  return text.replaceAll(/[\s>*#/|-]+/g, ' ');
}

// oxlint-disable-next-line no-control-regex -- plain ASCII
const asciiPattern = /^[\0-\x7f]*$/;

/** Small ones of one width, without accents and strokes. */
function withPlainLetters(text: string): string {
  if (asciiPattern.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase();
}

/** A word that is spaced out is a word. */
function spelledOut(text: string): string {
  return text.replaceAll(/(?<![a-z0-9])[a-z](?:[ ._*-][a-z]){3,}(?![a-z0-9])/g, (word) =>
    word.replaceAll(/[ ._*-]/g, ''),
  );
}

/** Cyrillic and Greek letters that look like Latin ones, each before that one. */
const lookalikes = 'аaвbеeѕsіiїiјjкkмmнhоoрpсcтtуyхxԁdԛqԝwһhɡgαaβbεeιiκkνvοoρpτtυuχxγyωwηnᴠvıi';
const latinOf: ReadonlyMap<string, string> = new Map(
  Array.from(lookalikes.matchAll(/(.)(.)/g), ([, odd = '', latin = '']) => [odd, latin]),
);

function withLatinLookalikes(text: string): string {
  return text.replaceAll(/[\u0131\u0261\u0370-\u0530\u1d20]/g, (one) => latinOf.get(one) ?? one);
}
