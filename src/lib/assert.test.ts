import nodeAssert from 'node:assert/strict';
import { test } from 'node:test';
import { assert, AssertionFailure, present, unreachable } from './assert.ts';

const failure = (message: string) => ({ name: 'AssertionFailure', message, constructor: AssertionFailure });

test('assert lets what is true pass and ends loudly otherwise', () => {
  assert(1, 'one');
  for (const nothing of [false, 0, '', null, undefined]) {
    nodeAssert.throws(() => assert(nothing, 'it must hold'), failure('it must hold'));
  }
});

test('unreachable names the case that slipped in', () => {
  nodeAssert.throws(() => unreachable({ kind: 'new' } as never), failure('unreachable: {"kind":"new"}'));
});

test('present gives back any value but null and undefined', () => {
  for (const value of [0, '', false, 'x']) nodeAssert.equal(present(value, 'value'), value);
  nodeAssert.throws(() => present(null, 'the session'), failure('the session is missing'));
  nodeAssert.throws(() => present(undefined, 'the session'), failure('the session is missing'));
});
