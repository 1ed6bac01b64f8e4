/**
 * The way from a sandbox without a network to the proxy behind a socket: a listener on the sandbox's own loopback that
 * hands every connection on to the socket. It decides nothing; the proxy does. It is started only with such a network,
 * inside the sandbox, before the command, and ends with the sandbox.
 */
export const forwarderPort = 3128;

const forwarder = `
const net = require('node:net'), fs = require('node:fs');
const [socket, port] = process.argv.slice(1);
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP']) process.on(signal, () => {});
net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: socket, allowHalfOpen: true });
  const end = () => { inner.destroy(); outer.destroy(); };
  inner.on('error', end); outer.on('error', end);
  inner.pipe(outer); outer.pipe(inner);
}).listen(Number(port), '127.0.0.1', () => fs.writeSync(1, 'ready\\n'));
`;

/** $1: Node, $2: the socket, then the command. The listener is up before the command begins. */
const script = `node=$1 socket=$2; shift 2
ready=/tmp/.network-$$
mkfifo "$ready" || exit 126
("$node" -e '${forwarder.replaceAll("'", String.raw`'\''`)}' "$socket" ${forwarderPort} </dev/null >"$ready" 2>/dev/null &)
read -r word <"$ready"
rm -f "$ready"
[ "$word" = ready ] || { echo 'sandbox: the way to the network can not be set up' >&2; exit 126; }
exec "$@"`;

export function throughForwarder(nodePath: string, socket: string, argv: readonly string[]): string[] {
  return ['/bin/sh', '-c', script, 'sh', nodePath, socket, ...argv];
}

export function proxyEnvironment(): Record<string, string> {
  const address = `http://127.0.0.1:${forwarderPort}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
  const environment: Record<string, string> = {
    NO_PROXY: 'localhost,127.0.0.1,::1',
    no_proxy: 'localhost,127.0.0.1,::1',
  };
  for (const name of names) {
    environment[name] = address;
    environment[name.toLowerCase()] = address;
  }
  // Node's own fetch looks at these only if told to.
  return { ...environment, NODE_USE_ENV_PROXY: '1' };
}
