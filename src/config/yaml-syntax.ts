/** What the YAML parser complains about, in words that tell the writer of the file what to change. */
import type * as yamlModule from 'yaml';
import type { Document, YAMLParseError, YAMLWarning } from 'yaml';

export type Yaml = typeof yamlModule;

/** Longer keys are shown only in part. */
const keyCharsMax = 64;

export interface SyntaxMessage {
  readonly offset: number;
  readonly message: string;
  /** Whether what was understood of the file is only a guess. */
  readonly isFatal: boolean;
}

export function syntaxMessage(
  yaml: Yaml,
  source: string,
  document: Document.Parsed,
  error: YAMLParseError | YAMLWarning,
): SyntaxMessage {
  const [offset] = error.pos;
  const fatal = (message: string, at = offset): SyntaxMessage => ({ offset: at, message, isFatal: true });
  switch (error.code) {
    case 'DUPLICATE_KEY':
      return {
        offset,
        message: `${keyAt(source, offset)} is given twice in this place; keep one`,
        isFatal: false,
      };
    case 'TAB_AS_INDENT':
      return fatal('this line is indented with a tab; use spaces');
    case 'BAD_INDENT':
      return fatal(
        error.message.startsWith('Flow')
          ? `a \`${error.message.includes('sequence') ? '[' : '{'}\` is opened and not closed before this point`
          : 'this line is indented differently from the lines it belongs to',
      );
    case 'MISSING_CHAR':
      if (/quote/.test(error.message)) {
        return fatal('a quotation mark is opened here and never closed', lastQuoteStart(yaml, document) ?? offset);
      }
      return fatal(
        /Implicit (map )?key/.test(error.message)
          ? 'a `:` is missing behind this key'
          : `something is missing here: ${error.message}`,
      );
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return fatal('a `:` too many: put a value that contains one into quotes, and keys on lines of their own');
    case 'BAD_SCALAR_START':
      return fatal(`a value that begins with \`${error.message.at(-1) ?? ''}\` must stand in quotes`);
    case 'BAD_DQ_ESCAPE':
      return fatal('this `\\` is no known escape; write `\\\\`, or use single quotes');
    case 'MULTIPLE_DOCS':
      return fatal('a second document begins here with `---`; there can be only one');
    case 'TAG_RESOLVE_FAILED':
      return { offset, message: 'tags that begin with `!` have no meaning here; remove it', isFatal: false };
    default:
      if (error.message.includes('call stack')) return fatal('the file is nested too deeply');
      return fatal(`this is not valid YAML: ${error.message.split('\n')[0] ?? error.code}`);
  }
}

/** An unclosed quotation swallows the rest of the file, so it is the last one there is. */
function lastQuoteStart(yaml: Yaml, document: Document.Parsed): number | undefined {
  let start: number | undefined;
  yaml.visit(document, {
    Scalar(_key, node) {
      if (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE') start = node.range?.[0] ?? start;
    },
  });
  return start;
}

function keyAt(source: string, offset: number): string {
  const key = /^(?:"[^"\n]*"|'[^'\n]*'|[^\s:,{}]+)/.exec(source.slice(offset, offset + keyCharsMax))?.[0];
  return key === undefined ? 'a key' : `\`${key}\``;
}
