/**
 * A body as lines of JSON, at the pace of whoever takes them. Bounded as a whole and by the line: what is not yet a line is
 * kept in pieces and joined once, so that a body without line ends costs no more than its size.
 */
import { HttpProblem, tooLarge, type HttpRequest } from './http-message.ts';
import { isDeeperThan } from './json-depth.ts';

const newline = 0x0a;

export interface LineLimits {
  readonly bytesMax: number;
  readonly lineBytesMax: number;
  /** How deeply the JSON in a line may be nested. */
  readonly depthMax: number;
}

/** Throws an `HttpProblem` at a limit and where the text is no UTF-8. The line ends are not part of the lines. */
export async function* readLines(request: Pick<HttpRequest, 'body'>, limits: LineLimits): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let pieces: Uint8Array[] = [];
  let lineBytes = 0;
  let bytes = 0;
  const take = (piece: Uint8Array) => {
    lineBytes += piece.byteLength;
    if (lineBytes > limits.lineBytesMax) {
      throw new HttpProblem(413, 'too-large', `A line is longer than ${limits.lineBytesMax} bytes.`);
    }
    pieces.push(piece);
  };
  const line = (): string => {
    const whole = Buffer.concat(pieces);
    pieces = [];
    lineBytes = 0;
    if (isDeeperThan(whole, limits.depthMax)) {
      throw new HttpProblem(400, 'bad-request', `A line is nested more than ${limits.depthMax} deep.`);
    }
    try {
      return decoder.decode(whole);
    } catch {
      throw new HttpProblem(400, 'bad-request', 'The body is not valid UTF-8.');
    }
  };
  for await (const chunk of request.body) {
    bytes += chunk.byteLength;
    if (bytes > limits.bytesMax) throw tooLarge(limits.bytesMax);
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (lineBytes > 0) yield line();
}
