import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { folderNameOf, memoryFolder, memoryOwnerOf, ownerOfFolder } from './memory-places.ts';

test('two owners never share a folder, also where upper and lower case are the same', () => {
  const owner = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ maxLength: 12 }));
  fc.assert(
    fc.property(owner, owner, (one, other) => {
      const [first, second] = [folderNameOf(one), folderNameOf(other)];
      assert.match(first, /^[a-z0-9_-]{1,200}$/);
      assert.equal(first.toLowerCase() === second.toLowerCase(), one === other);
    }),
  );
  for (const [one, other] of [
    ['telegram:a', 'telegram:A'],
    ['_', ''],
    ['é', 'e\u0301'],
    ['a'.repeat(300), `${'a'.repeat(299)}b`],
    ['_41_', 'A'],
  ] as const) {
    assert.notEqual(folderNameOf(one), folderNameOf(other));
  }
});

test('a folder’s name says whose it is, unless it was too long', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 25 }), (owner) => {
      assert.equal(ownerOfFolder(folderNameOf(owner)), owner);
    }),
  );
  assert.equal(ownerOfFolder(folderNameOf('x'.repeat(500))), null);
  for (const stray of ['Upper', '..', '_zz_', '_110000_', 'a b']) assert.equal(ownerOfFolder(stray), null, stray);
});

test('the owner of the machine has the folder itself; nobody else gets there', () => {
  assert.equal(memoryFolder('/home', 'owner'), '/home/memories');
  for (const owner of ['..', '.', '/', '', '../..', 'people', 'owner/', 'OWNER']) {
    assert.match(memoryFolder('/home', owner), /^\/home\/memories\/people\/[a-z0-9_-]+$/, owner);
  }
});

test('a group has a memory of its own, whoever speaks there', () => {
  const cases: readonly (readonly [key: string, owner: string, memory: string])[] = [
    ['telegram:direct:7', 'telegram:7', 'telegram:7'],
    ['cli:direct:main', 'owner', 'owner'],
    ['telegram:group:-100:7', 'telegram:7', 'telegram:group:-100'],
    ['telegram:group:-100', 'telegram:group:-100', 'telegram:group:-100'],
    ['telegram:thread:-100:3', 'telegram:group:-100', 'telegram:group:-100'],
  ];
  for (const [key, owner, expected] of cases) assert.equal(memoryOwnerOf({ key, owner }), expected, key);
});

test('the machine owner’s memory is shared with whom the configuration names, and not in groups', () => {
  const sharing = ['telegram:7'];
  const direct = { key: 'telegram:direct:7', owner: 'telegram:7' };
  assert.equal(memoryOwnerOf(direct, sharing), 'owner');
  assert.equal(memoryOwnerOf({ ...direct, owner: 'telegram:8' }, sharing), 'telegram:8');
  assert.equal(memoryOwnerOf({ ...direct, key: 'telegram:group:-1:7' }, sharing), 'telegram:group:-1');
});
