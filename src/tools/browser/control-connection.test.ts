import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../fake-tool-context.ts';
import { connectToHost } from './control-connection.ts';

test('messages come one by one, however they were cut, and those about downloads not at all', async (t) => {
  const folder = await temporaryFolder(t);
  const heard: string[] = [];
  const server = createServer((socket: Socket) => {
    socket.on('data', (data) => heard.push(data.toString()));
    const messages = [{ id: 1, text: 'ä' }, { method: 'Browser.downloadWillBegin' }, { id: 2, sessionId: 'a' }];
    const bytes = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\0`).join(''));
    // In the middle of a letter.
    const middle = bytes.indexOf(Buffer.from('ä')) + 1;
    socket.write(bytes.subarray(0, middle), () => setImmediate(() => socket.write(bytes.subarray(middle))));
  });
  server.listen(join(folder, 'c'));
  await once(server, 'listening');
  t.after(() => server.close());
  const transport = await connectToHost(join(folder, 'c'));
  const got: object[] = [];
  await new Promise<void>((resolve) => {
    const onmessage = (message: object): void => void (got.push(message) === 2 && resolve());
    Object.assign(transport, { onmessage });
    transport.send({ id: 9 });
  });
  assert.deepEqual(got, [
    { id: 1, text: 'ä' },
    { id: 2, sessionId: 'a' },
  ]);
  const closed = new Promise((onclose) => Object.assign(transport, { onclose }));
  transport.close();
  await closed;
  assert.deepEqual(heard, ['{"id":9}\0']);
});

test('a link in the place of the socket is not followed, nor is another file taken', async (t) => {
  const folder = await temporaryFolder(t);
  const server = createServer(() => assert.fail('somebody came'));
  server.listen(join(folder, 'other'));
  await once(server, 'listening');
  t.after(() => server.close());
  await symlink(join(folder, 'other'), join(folder, 'c'));
  await assert.rejects(connectToHost(join(folder, 'c')));
  await rm(join(folder, 'c'));
  await writeFile(join(folder, 'c'), '');
  await assert.rejects(connectToHost(join(folder, 'c')), /is not a socket/);
});
