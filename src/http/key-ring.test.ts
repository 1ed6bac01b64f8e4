import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey, hashKey, loginCookie } from './access-key.ts';
import { createKeyRing, type KeyHash } from './key-ring.ts';

const carrying = (headers: Record<string, string>) => ({ header: (name: string) => headers[name] });
const bearer = (key: string) => carrying({ authorization: `Bearer ${key}` });
const cookie = (key: string) => carrying({ cookie: `a=b; ${loginCookie(key).split(';')[0]}` });

function setUp() {
  const phone = generateKey();
  const laptop = generateKey();
  const hashes: KeyHash[] = [
    { name: 'phone', sha256: hashKey(phone) },
    { name: 'laptop', sha256: hashKey(laptop) },
  ];
  let plain: string | null = 'the key of the configuration';
  const ring = createKeyRing({ hashes: () => hashes, plain: () => plain });
  return { phone, laptop, hashes, ring, setPlain: (key: string | null) => (plain = key) };
}

test('each key is known by its name, as a bearer token, as a cookie and typed into a form', () => {
  const { ring, phone, laptop } = setUp();
  for (const [key, name] of [
    [phone, 'phone'],
    [laptop, 'laptop'],
    ['the key of the configuration', 'the configuration'],
  ] as const) {
    assert.deepEqual(
      [ring.identify(bearer(key)), ring.identify(cookie(key)), ring.identifyKey(key)],
      [{ name }, { name }, { name }],
    );
  }
});

test('anything else is nobody', () => {
  const { ring, phone, hashes } = setUp();
  const hash = hashes[0]?.sha256 ?? '';
  for (const key of ['', 'x', phone.slice(0, -1), `${phone}x`, hash])
    assert.equal(ring.identify(bearer(key)), null, key);
  assert.equal(ring.identify(carrying({})), null);
  assert.equal(ring.identify(carrying({ authorization: `Basic ${phone}` })), null);
  assert.equal(ring.identify(carrying({ cookie: `talaria_login=${hash}` })), null);
  assert.equal(ring.identify(carrying({ cookie: `talaria_login=${phone}` })), null);
});

test('a wrong bearer token is not made up for by a good cookie', () => {
  const { ring, phone } = setUp();
  const both = { authorization: 'Bearer wrong', cookie: loginCookie(phone).split(';')[0] ?? '' };
  assert.equal(ring.identify(carrying(both)), null);
});

test('a revoked key opens nothing from then on, nor does its cookie', () => {
  const { ring, hashes, phone, laptop, setPlain } = setUp();
  hashes.shift();
  assert.deepEqual([ring.identify(bearer(phone)), ring.identify(cookie(phone))], [null, null]);
  assert.deepEqual(ring.identify(bearer(laptop)), { name: 'laptop' });
  setPlain(null);
  assert.equal(ring.identifyKey('the key of the configuration'), null);
  assert.equal(ring.isLocked(), true);
  hashes.pop();
  assert.equal(ring.isLocked(), false);
});

test('a stored hash that is broken fits nothing and breaks nothing', () => {
  const { ring, hashes, phone } = setUp();
  hashes.unshift({ name: 'broken', sha256: 'zz' }, { name: 'empty', sha256: '' });
  assert.deepEqual(ring.identify(bearer(phone)), { name: 'phone' });
  assert.equal(ring.identify(bearer('')), null);
});

test('two new keys differ and are long', () => {
  const [one, other] = [generateKey(), generateKey()];
  assert.match(one, /^tal_[\w-]{43}$/);
  assert.notEqual(one, other);
});
