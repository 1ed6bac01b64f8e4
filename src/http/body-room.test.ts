import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyRoom } from './body-room.ts';

test('past the limit the body that has been arriving longest is given up, once, and no more than need be', () => {
  const room = new BodyRoom(100);
  const givenUp: string[] = [];
  const enter = (name: string) => room.enter(() => givenUp.push(name));
  const [first, second, third] = [enter('first'), enter('second'), enter('third')];
  second.add(50);
  first.add(40);
  third.add(20);
  assert.deepEqual(givenUp, ['first']);
  first.add(1_000);
  third.add(30);
  assert.deepEqual(givenUp, ['first'], 'what is given up does not count any more');
  third.add(1);
  assert.deepEqual(givenUp, ['first', 'second']);
});

test('a body that is whole makes room for others, however often that is said', () => {
  const room = new BodyRoom(100);
  const givenUp: string[] = [];
  const [first, second] = [room.enter(() => givenUp.push('first')), room.enter(() => givenUp.push('second'))];
  first.add(100);
  first.leave();
  first.leave();
  second.add(100);
  assert.deepEqual(givenUp, []);
  second.add(1);
  assert.deepEqual(givenUp, ['second']);
});
