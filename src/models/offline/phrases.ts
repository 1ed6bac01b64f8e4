/**
 * The plain words that the rehearsal model understands, as data: tried from top to bottom, the first that matches
 * counts. Named groups are what the words are about. What a phrase leads to is decided in `plan.ts`.
 */
export type PhraseKind = 'say' | 'raw-call' | 'shell' | 'run' | 'read' | 'write' | 'remember' | 'count' | 'think';

export interface Phrase {
  readonly kind: PhraseKind;
  readonly pattern: RegExp;
}

// `\x60` is a backtick.
const quotedPath = String.raw`(?:\x60(?<ticked>[^\x60\n]+)\x60|"(?<quoted>[^"\n]+)")`;
/** A word with a dot or slash in it, or one of the names that everybody knows as a file. */
const fileLike = String.raw`(?<bare>[^\s\x60"]*[./][^\s\x60"]*[^\s\x60".?!,]|(?:readme|makefile|license|dockerfile)\b)`;
const anyWord = String.raw`(?<bare>[^\s\x60"]*[^\s\x60".?!,])`;
const theFile = String.raw`(?:the\s+|a\s+)?(?:new\s+)?file\s+(?:called\s+|named\s+)?`;
const show = String.raw`(?:read|open|show|print|display)\s+(?:me\s+)?(?:the\s+)?`;
const lines = String.raw`(?:,?\s+(?:from\s+)?lines?\s+(?<from>\d{1,9})(?:\s*(?:-|–|to)\s*(?<to>\d{1,9}))?)?`;
const ending = String.raw`\s*[.!?]?$`;

const phrase = (kind: PhraseKind, ...alternatives: string[]): Phrase[] =>
  alternatives.map((source) => ({ kind, pattern: new RegExp(source, 'iu') }));

/** These take the rest of the message as it is, line breaks and all. */
export const wholeMessagePhrases: readonly Phrase[] = [
  ...phrase('say', String.raw`^(?:echo|say)[ \t]+(?<text>[^]+)$`),
  ...phrase('raw-call', String.raw`^call\s+(?:the\s+)?tool\s+(?<name>\S+)(?:\s+with\s+(?<arguments>[^]*))?$`),
];

/** These stand for one step of a message, which may have several. */
export const stepPhrases: readonly Phrase[] = [
  ...phrase('shell', String.raw`^\$\s*(?<command>\S[^]*)$`),
  ...phrase(
    'run',
    String.raw`^(?:run|execute)\b[^\x60]{0,40}\x60\x60\x60\w*\n(?<command>[^]+?)\s*\x60\x60\x60${ending}`,
    String.raw`^(?:run|execute)\s+(?:the\s+)?(?:command\s+)?\x60(?<command>[^\x60]+)\x60${ending}`,
    // "run the tests" and "run out of milk" are no commands.
    String.raw`^(?:run|execute)\s+(?:(?:the\s+)?command\s+)?(?!(?:the|an?|my|your|our|in|into|out|away)\s|(?:it|this|that|me)(?:\s|$))(?<command>\S.*)$`,
  ),
  ...phrase(
    'read',
    String.raw`^${show}file\s+(?:${quotedPath}|${anyWord})${lines}${ending}`,
    String.raw`^${show}(?:${quotedPath}|${fileLike})${lines}${ending}`,
    String.raw`^cat\s+(?:the\s+file\s+)?(?:${quotedPath}|(?<bare>[^\s\x60"|<>;&*$-][^\s\x60"|<>;&*$]*))$`,
    String.raw`^what(?:'s|\s+is)\s+in\s+(?:the\s+)?(?:file\s+)?(?:${quotedPath}|${fileLike})${ending}`,
  ),
  ...phrase(
    'write',
    String.raw`^(?:create|make|write)\s+${theFile}(?:${quotedPath}|${anyWord})\s+(?:with|containing)\s+(?:the\s+)?(?:text\s+|content\s+)?(?<content>\S[^]*)$`,
    String.raw`^(?:write|save|put)\s+(?<content>\S.*?)\s+(?:to|into|in)\s+(?:${theFile})(?:${quotedPath}|${anyWord})${ending}`,
    String.raw`^(?:write|save|put)\s+(?<content>\S.*?)\s+(?:to|into|in)\s+(?:the\s+)?(?:${quotedPath}|${fileLike})${ending}`,
  ),
  ...phrase('remember', String.raw`^(?:remember|don't\s+forget|keep\s+in\s+mind)(?:\s+that\b|:)?\s+(?<text>\S.*)$`),
  ...phrase('count', String.raw`^count\s+(?:slowly\s+)?(?:from\s+1\s+)?(?:up\s+)?to\s+(?<number>\d{1,9})\b.*$`),
  ...phrase('think', String.raw`^think\b(?:\s+(?:hard\s+)?(?:about|of|over))?\s*(?<about>.*?)${ending}`),
];

/** Words around a request that change nothing about it. */
export const politeOpening = /^(?:please|now|then|first|next|finally|ok(?:ay)?|hey|so)\b[,:]?\s+/iu;
export const politeQuestion = /^(?:can|could|would|will)\s+you\s+/iu;
export const politeEnding = /,?\s+please[.!?]?$/iu;

const verbs = 'run|execute|read|show|open|cat|write|save|create|remember|count|think';

/** What holds together whatever stands in it, or (not captured) what separates a step from the next one. */
export const stepBorders =
  /(?<whole>```[^]*?(?:```|(?![^]))|`[^`\n]*`|"[^"\n]*"|^\$.*$)|\s*\n(?!\s*```)\s*|[,;]?\s+and\s+then\s+|[,;]\s*then\s+/gimu;
/** Separates requests only if another one follows. */
export const requestBorders = new RegExp(
  String.raw`(?<whole>\x60[^\x60\n]*\x60|"[^"\n]*")|,?\s+and\s+(?=(?:please\s+)?(?:${verbs})\b)`,
  'giu',
);
/** These take a sentence as it is, whatever verbs are in it. */
export const takesSentence = /^(?:\$|remember|don't\s+forget|keep\s+in\s+mind|think)/iu;

/** Ends a request whose parts go out in one round. */
export const togetherEnding =
  /,?\s+(?:both\s+)?(?:at\s+once|at\s+the\s+same\s+time|together|in\s+parallel|side\s+by\s+side)[.!]?$/iu;
/** "run both A and B". */
export const bothPattern = new RegExp(
  String.raw`^(?<verb>${verbs})\s+both\s+(?<first>\S.*?)\s+and\s+(?<second>\S.*)$`,
  'iu',
);
