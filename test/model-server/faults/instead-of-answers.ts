/** Faults that come instead of an answer: statuses, and connections that never carry one. */
import type { Problem, ProblemKind } from '../problem.ts';
import type { Effect, Fault, Meaning, Phase, Step } from './fault.ts';

const ofRequests: readonly Phase[] = ['before-first-byte', 'after-tool-call'];

export const insteadOfAnswers: readonly Fault[] = [
  status('status-400', 'bad-request', ['bad-request']),
  status('status-400-context', 'context', ['context-overflow']),
  status('status-400-policy', 'policy', ['content-refused']),
  status('status-401', 'auth', ['auth']),
  status('status-402', 'billing', ['billing']),
  status('status-403', 'forbidden', ['auth']),
  status('status-404', 'not-found', ['model-not-found']),
  status('status-408', 'timeout', ['timeout']),
  status('status-413', 'too-large', ['payload-too-large']),
  status('status-429', 'rate-limit', ['rate-limit']),
  { ...status('status-429-retry-after', 'rate-limit', ['rate-limit']), effect: limited() },
  status('status-429-quota', 'quota', ['billing']),
  status('status-500', 'server', ['server']),
  instead('status-502-html', ['server', 'overloaded'], () => [
    { kind: 'head', status: 502, headers: { 'content-type': 'text/html' } },
    {
      kind: 'bytes',
      bytes:
        '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n',
    },
    { kind: 'end' },
  ]),
  status('status-503', 'unavailable', ['overloaded', 'server']),
  status('status-529', 'overloaded', ['overloaded']),
  instead('error-with-status-200', ['server', 'overloaded', 'unknown'], (dialect) => {
    return answerWith(200, dialect.rejection({ kind: 'server' }).body);
  }),
  instead('status-500-cut', ['server', 'connection'], () => [
    { kind: 'head', status: 500, headers: { 'content-type': 'application/json' } },
    { kind: 'bytes', bytes: '{"error":{"mess' },
    { kind: 'cut' },
  ]),
  { name: 'connection-refused', phases: ['before-first-byte'], means: ['connection'], effect: { kind: 'refused' } },
];

function instead(name: string, means: readonly Meaning[], steps: Extract<Effect, { kind: 'instead' }>['steps']): Fault {
  return { name, phases: ofRequests, means, effect: { kind: 'instead', steps } };
}

function status(name: string, kind: ProblemKind, means: readonly Meaning[]): Fault {
  return instead(name, means, (dialect) => {
    const { status: code, body } = dialect.rejection({ kind } satisfies Problem);
    return answerWith(code, body);
  });
}

function limited(): Effect {
  return {
    kind: 'instead',
    steps: (dialect, { retryAfterS }) => {
      const { status: code, body } = dialect.rejection({ kind: 'rate-limit' });
      return answerWith(code, body, { 'retry-after': String(retryAfterS) });
    },
  };
}

export function answerWith(code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Step[] {
  return [
    { kind: 'head', status: code, headers: { 'content-type': 'application/json', ...headers } },
    { kind: 'bytes', bytes: JSON.stringify(body) },
    { kind: 'end' },
  ];
}
