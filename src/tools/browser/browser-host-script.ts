/**
 * The program beside Chromium that outlives Talaria: it starts Chromium, listens for Talaria on a socket of the file
 * system and hands messages of the DevTools protocol from one to the other. Chromium is spoken to through a pipe, so that
 * there is no debugging port for anybody to find. Each connection gets a DevTools session of its own, which ends with it:
 * whatever a killed Talaria left switched on is off for the next one. A newer connection takes the place of the older.
 *
 * It also leads Chromium's traffic to the proxy behind another socket, on a loopback port, because Chromium knows no proxies
 * on sockets. It decides nothing. It is text, because it runs inside the sandbox, where nothing of Talaria can be seen.
 */

/** What nobody reads is not kept for ever: a Talaria that stands still is let go. */
const unreadBytesMax = 256 * 1024 * 1024;
const lastWordsChars = 4_000;
const parentEveryMs = 2_000;

/** Arguments: the proxy's socket, the socket to listen on, the file for Chromium's last words, then Chromium's own. */
const script = `
const net = require('node:net'), fs = require('node:fs'), { spawn } = require('node:child_process');
const [proxy, control, lastWords, program, ...flags] = process.argv.slice(1);
process.on('SIGHUP', () => {});
const way = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: proxy, allowHalfOpen: true });
  const end = () => { inner.destroy(); outer.destroy(); };
  inner.on('error', end); outer.on('error', end);
  inner.pipe(outer); outer.pipe(inner);
});
way.listen(0, '127.0.0.1', () => {
  const proxyFlag = '--proxy-server=http://127.0.0.1:' + way.address().port;
  const browser = spawn(program, [proxyFlag, ...flags], { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
  let words = '';
  browser.stderr.on('data', (chunk) => { words = (words + chunk).slice(-${lastWordsChars}); });
  const end = (why) => { try { fs.writeFileSync(lastWords, words + why); } catch {} process.exit(0); };
  browser.on('error', (error) => end(String(error)));
  browser.on('exit', () => end(''));
  // Whoever started it is what others know it by: without that one, nobody could end it any more.
  const parent = process.ppid;
  setInterval(() => { if (process.ppid !== parent) browser.kill('SIGKILL'); }, ${parentEveryMs});
  const [, , , toBrowser, fromBrowser] = browser.stdio;
  toBrowser.on('error', () => {});
  let client = null, session = null, count = 0, attaching = null;
  const tell = (message) => toBrowser.write(JSON.stringify(message) + '\\0');
  const each = (stream, take) => {
    let parts = [];
    stream.on('data', (chunk) => {
      for (let at; (at = chunk.indexOf(0)) >= 0; chunk = chunk.subarray(at + 1)) {
        const text = Buffer.concat([...parts, chunk.subarray(0, at)]).toString();
        parts = [];
        try { take(JSON.parse(text)); } catch { stream.destroy(); }
      }
      if (chunk.length > 0) parts.push(chunk);
    });
  };
  const detach = () => {
    if (session !== null) tell({ id: --count, method: 'Target.detachFromTarget', params: { sessionId: session } });
    session = null;
  };
  each(fromBrowser, (message) => {
    if (message.sessionId === undefined) {
      if (attaching !== null && message.id === attaching.id) attaching.done(message.result);
      return;
    }
    if (client === null) return;
    if (message.sessionId === session) delete message.sessionId;
    client.write(JSON.stringify(message) + '\\0');
    if (client.writableLength > ${unreadBytesMax}) client.destroy();
  });
  fs.rmSync(control, { force: true });
  net.createServer((socket) => {
    if (client !== null) client.destroy();
    detach();
    client = socket;
    socket.on('error', () => {});
    socket.on('close', () => { if (client === socket) { client = null; detach(); } });
    socket.pause();
    tell({ id: --count, method: 'Target.attachToBrowserTarget', params: {} });
    attaching = { id: count, done: (result) => {
      attaching = null;
      if (client !== socket) return;
      session = result.sessionId;
      each(socket, (message) => {
        if (client !== socket) return;
        if (message.sessionId === undefined) message.sessionId = session;
        tell(message);
      });
      socket.resume();
    } };
  }).listen(control);
});
`;

export interface HostedChromium {
  readonly nodePath: string;
  readonly proxySocket: string;
  readonly controlSocket: string;
  readonly lastWordsFile: string;
  readonly executable: string;
  readonly flags: readonly string[];
}

export function hostArguments(hosted: HostedChromium): string[] {
  const { nodePath, proxySocket, controlSocket, lastWordsFile, executable, flags } = hosted;
  // Without the dashes Node would take Chromium's flags for its own.
  return [nodePath, '-e', script, '--', proxySocket, controlSocket, lastWordsFile, executable, ...flags];
}
