import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback, originProblem } from './guard.ts';

const request = (headers: Record<string, string>, method = 'GET') => ({
  method,
  header: (name: string) => headers[name],
});

test('a request to this machine by one of its own names passes', () => {
  for (const host of ['localhost:8477', '127.0.0.1:8477', '[::1]:8477', 'LOCALHOST']) {
    assert.equal(originProblem(request({ host }), true), null, host);
  }
});

test('a name that was made to point at this machine is refused on loopback', () => {
  for (const host of ['evil.example', 'localhost.evil.example:8477', '127.0.0.1.evil.example', '']) {
    assert.match(originProblem(request({ host }), true) ?? '', /answers to localhost only/, host);
  }
});

test('a server with a key answers to any name', () => {
  assert.equal(originProblem(request({ host: 'talaria.example' }), false), null);
});

test('a page of this server may ask, a page of another origin may not', () => {
  const host = 'localhost:8477';
  assert.equal(originProblem(request({ host, origin: 'http://localhost:8477' }, 'POST'), true), null);
  for (const origin of ['http://evil.example', 'http://localhost:9999', 'null', 'http://localhost:8477.evil.example']) {
    assert.match(originProblem(request({ host, origin }, 'POST'), true) ?? '', /other web pages/, origin);
  }
});

test('a cross-site fetch is refused, a link that leads here is not', () => {
  const host = 'localhost:8477';
  const fetched = { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
  const navigated = { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  assert.match(originProblem(request(fetched), true) ?? '', /other web pages/);
  assert.equal(originProblem(request(navigated), true), null);
  assert.match(originProblem(request(navigated, 'POST'), true) ?? '', /other web pages/);
});

test('loopback is told from its address', () => {
  assert.deepEqual(['127.0.0.1', '127.8.9.1', '::1', 'localhost'].map(isLoopback), [true, true, true, true]);
  assert.deepEqual(['0.0.0.0', '::', '192.168.1.2', 'talaria.example'].map(isLoopback), [false, false, false, false]);
});
