import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from './fake-clock.ts';
import { createLog, silentLog, type LogLevel } from './log.ts';
import { createRedactor } from './redact.ts';

function setUp(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const redactor = createRedactor();
  const clock = new FakeClock(Date.UTC(2026, 1, 3, 4, 5, 6, 7));
  const log = createLog({ clock, redactor, level, writeLine: (line) => lines.push(line) });
  return { log, lines, redactor, records: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const time = '2026-02-03T04:05:06.007Z';

describe('log', () => {
  test('writes one JSON object a line, time, level and message first', () => {
    const { log, lines } = setUp();
    log.info('started\nwell', { port: 8477 });
    assert.deepEqual(lines, [`{"time":"${time}","level":"info","message":"started\\nwell","port":8477}`]);
  });

  test('leaves out what is below its level', () => {
    const written = (level: LogLevel) => {
      const { log, records } = setUp(level);
      for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name]('x');
      return records().map((record) => record['level']);
    };
    assert.deepEqual(written('debug'), ['debug', 'info', 'warn', 'error']);
    assert.deepEqual(written('info'), ['info', 'warn', 'error']);
    assert.deepEqual(written('warn'), ['warn', 'error']);
    assert.deepEqual(written('error'), ['error']);
    assert.deepEqual(written('silent'), []);
  });

  test('carries bound fields on every line; the nearest wins and the parent is unchanged', () => {
    const { log, records } = setUp();
    const child = log.with({ session: 'a', part: 'x' }).with({ part: 'y' });
    child.info('one', { session: 'b' });
    child.info('two');
    log.info('three');
    assert.deepEqual(records(), [
      { time, level: 'info', message: 'one', session: 'b', part: 'y' },
      { time, level: 'info', message: 'two', session: 'a', part: 'y' },
      { time, level: 'info', message: 'three' },
    ]);
  });

  test('a field cannot change what the line is', () => {
    const { log, lines } = setUp();
    log.with({ level: 'debug' }).error('real', { message: 'fake', time: 0, other: 1 });
    assert.deepEqual(lines, [`{"time":"${time}","level":"error","message":"real","other":1}`]);
  });

  test('writes errors with what caused them, and big integers', () => {
    const { log, records } = setUp();
    const cause = new TypeError('inner');
    const error = new Error('outer', { cause });
    log.error('failed', { error, count: 2n ** 70n });
    assert.deepEqual(records(), [
      {
        time,
        level: 'error',
        message: 'failed',
        error: {
          name: 'Error',
          message: 'outer',
          stack: error.stack,
          cause: { name: 'TypeError', message: 'inner', stack: cause.stack },
        },
        count: '1180591620717411303424',
      },
    ]);
  });

  test('a field that cannot be written does not cost the line', () => {
    const { log, records } = setUp();
    const ring: Record<string, unknown> = {};
    ring['self'] = ring;
    const thrower = {
      get bad(): string {
        throw new Error('no');
      },
    };
    log.info('ring', { ring });
    log.info('nested getter', { thrower });
    log.info('getter', thrower);
    assert.deepEqual(
      records(),
      ['ring', 'nested getter', 'getter'].map((message) => ({ time, level: 'info', message, fields: 'unprintable' })),
    );
  });

  test('blanks secrets out in the message, in nested fields, in errors and in bound fields', () => {
    const { log, lines, redactor } = setUp();
    const secret = 'sk-"quoted"-secret';
    redactor.add(secret);
    const error = new Error(`401 for ${secret}`, { cause: new Error(secret) });
    log.with({ key: secret }).warn(`with ${secret}`, { deep: [{ header: `Bearer ${secret}` }], [secret]: 1, error });
    const line = lines.join('');
    assert.doesNotMatch(line, /quoted/);
    // key, message, header, field name, error message and stack, the same of the cause
    assert.equal(line.match(/\[redacted\]/g)?.length, 8);
  });

  test('a log that cannot be written to does not disturb its user', () => {
    const writeLine = () => {
      throw new Error('disk full');
    };
    const log = createLog({ clock: new FakeClock(), redactor: createRedactor(), level: 'debug', writeLine });
    log.error('lost');
  });
});

test('silentLog writes nothing, whatever it is bound to', () => {
  assert.equal(silentLog.with({ a: 1 }), silentLog);
  for (const name of ['debug', 'info', 'warn', 'error'] as const) assert.equal(silentLog[name]('x'), undefined);
});
