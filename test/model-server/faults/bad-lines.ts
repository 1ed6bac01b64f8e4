/** Faults of the line: the answer is right, but it breaks off, stalls, or comes in a form that few clients expect. */
import { gzipSync } from 'node:zlib';
import type { Frame } from '../dialect.ts';
import { bytesOf, head, phases, send, type Effect, type Fault, type Meaning, type Phase, type Step } from './fault.ts';

const hugeEventChars = 1_000_000;
const smallWriteBytes = 7;
/** Once some of the answer is there. */
const withinAnswers: readonly Phase[] = ['mid-stream', 'after-tool-call'];

type Steps = Extract<Effect, { kind: 'line' }>['steps'];

function line(name: string, where: readonly Phase[], means: readonly Meaning[], steps: Steps): Fault {
  return { name, phases: where, means, effect: { kind: 'line', steps } };
}

/** Everything before the strike; nothing at all, not even a head, if that is the beginning. */
function begin(frames: readonly Frame[], struckAt: number): Step[] {
  return struckAt === 0 ? [] : [head(), ...send(frames.slice(0, struckAt))];
}

const broken: readonly Meaning[] = ['malformed-stream', 'connection'];

export const brokenLines: readonly Fault[] = [
  line('reset', phases, ['connection'], ({ frames, struckAt }) => [...begin(frames, struckAt), { kind: 'reset' }]),
  line('cut', phases, broken, ({ frames, struckAt }) => [...begin(frames, struckAt), { kind: 'cut' }]),
  line('stall', phases, ['timeout'], ({ frames, struckAt }) => [...begin(frames, struckAt), { kind: 'hang' }]),
  line('end-early', phases, broken, ({ frames, struckAt }) => [
    head(),
    ...send(frames.slice(0, struckAt)),
    { kind: 'end' },
  ]),
  line('cut-mid-token', ['mid-stream'], broken, ({ frames, struckAt, dialect, answer }) => [
    ...begin(frames, struckAt),
    ...send([dialect.textFrame('half a wo', answer)]),
    { kind: 'end' },
  ]),
  line('cut-mid-utf8', withinAnswers, broken, ({ frames, struckAt, dialect, answer }) => {
    const bytes = Buffer.from(bytesOf(dialect.textFrame('naïve', answer)));
    // The first of the two bytes of the letter, and no more.
    const cutAt = bytes.indexOf(Buffer.from('ï')) + 1;
    return [...begin(frames, struckAt), { kind: 'bytes', bytes: bytes.subarray(0, cutAt) }, { kind: 'end' }];
  }),
  line('cut-mid-json', withinAnswers, broken, ({ frames, struckAt, dialect, answer }) => {
    const text = bytesOf(dialect.textFrame('half an object', answer));
    return [...begin(frames, struckAt), { kind: 'bytes', bytes: text.slice(0, text.length / 2) }, { kind: 'end' }];
  }),
  line('broken-event', withinAnswers, broken, ({ frames, struckAt }) => [
    ...begin(frames, struckAt),
    { kind: 'bytes', bytes: 'data: {"this is": no json\n\n' },
    ...send(frames.slice(struckAt)),
    { kind: 'end' },
  ]),
  line('error-event', phases, ['overloaded', 'server'], ({ frames, struckAt, dialect }) => [
    head(),
    ...send([...frames.slice(0, struckAt), dialect.errorFrame({ kind: 'overloaded' })]),
    { kind: 'end' },
  ]),
  {
    ...line('response-failed', phases, ['server', 'overloaded'], ({ frames, struckAt, answer }) => {
      const error = { code: 'server_error', message: 'An error occurred while processing your request.' };
      const response = {
        id: `resp_${answer.id}`,
        object: 'response',
        status: 'failed',
        error,
        output: [],
        usage: null,
      };
      const data = JSON.stringify({ type: 'response.failed', sequence_number: 903, response });
      return [
        head(),
        ...send([...frames.slice(0, struckAt), { name: 'response.failed', data, place: 'done' }]),
        { kind: 'end' },
      ];
    }),
    protocols: ['responses'],
  },
];

/** One event more at the strike. */
function within(name: string, bytes: (dialect: Parameters<Steps>[0]['dialect']) => string): Fault {
  return line(name, withinAnswers, ['answer'], ({ frames, struckAt, dialect }) => [
    ...begin(frames, struckAt),
    { kind: 'bytes', bytes: bytes(dialect) },
    ...send(frames.slice(struckAt)),
    { kind: 'end' },
  ]);
}

function spelled(name: string, spell: (text: string) => string): Fault {
  return line(name, withinAnswers, ['answer'], ({ frames }) => [
    head(),
    { kind: 'bytes', bytes: spell(frames.map((frame) => bytesOf(frame)).join('')) },
    { kind: 'end' },
  ]);
}

export const oddLines: readonly Fault[] = [
  within('comments', () => ': keep-alive\n\n:\n\n: {"a": "comment"}\n'),
  within('unknown-events', (dialect) => `${bytesOf(dialect.unknownFrame())}retry: 5000\nid: 7\n\n`),
  within('huge-event', (dialect) => {
    const { name, data } = dialect.unknownFrame();
    const padded = JSON.stringify({ ...(JSON.parse(data) as object), padding: 'x'.repeat(hugeEventChars) });
    return bytesOf({ name, data: padded, place: 'content' });
  }),
  spelled('crlf', (text) => text.replaceAll('\n', '\r\n')),
  spelled('cr', (text) => text.replaceAll('\n', '\r')),
  spelled('mixed-newlines', (text) => {
    // An event keeps to one way: a lone CR before a lone LF would be a single end of line.
    const newlines = ['\n', '\r\n', '\r'];
    const events = text.split('\n\n').slice(0, -1);
    return events.map((event, index) => `${event}\n\n`.replaceAll('\n', newlines[index % 3] ?? '\n')).join('');
  }),
  spelled('byte-order-mark', (text) => `\ufeff${text}`),
  spelled('two-dones', (text) => `${text}${text.split('\n\n').at(-2) ?? ''}\n\n`),
  line('no-done', withinAnswers, ['answer', 'malformed-stream'], ({ frames }) => [
    head(),
    ...send(frames.filter(({ place }) => place !== 'done')),
    { kind: 'end' },
  ]),
  line('small-writes', withinAnswers, ['answer'], ({ frames }) => {
    const bytes = Buffer.from(frames.map((frame) => bytesOf(frame)).join(''));
    const writes = Array.from({ length: Math.ceil(bytes.length / smallWriteBytes) }, (_, index): Step => {
      return { kind: 'bytes', bytes: bytes.subarray(index * smallWriteBytes, (index + 1) * smallWriteBytes) };
    });
    return [head(), ...writes, { kind: 'end' }];
  }),
  // Nobody asked for it; a client may decline.
  line('gzip', withinAnswers, ['answer', 'malformed-stream'], ({ frames }) => [
    head({ 'content-encoding': 'gzip' }),
    { kind: 'bytes', bytes: gzipSync(frames.map((frame) => bytesOf(frame)).join('')) },
    { kind: 'end' },
  ]),
  line('slow-first-byte', ['before-first-byte'], ['answer'], ({ frames }, { delayMs }) => [
    { kind: 'wait', ms: delayMs },
    head(),
    ...send(frames),
    { kind: 'end' },
  ]),
];
