/** What playwright says about a failed action, in plain words and without anything that the page wrote. */
const known: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/intercepts pointer events/, 'Something else lies over it. Close that first, or scroll.'],
  [/not enabled|element is disabled/, 'It is disabled.'],
  [/not visible|outside of the viewport/, 'It is not visible. Scroll to it, or open what it is in.'],
  [/not an <input>|not editable|readonly|cannot be filled/, 'Nothing can be typed into it.'],
  [/not a <select>/, 'It is not a list to choose from. Click it, and then what it shows.'],
  [/did not find some options/, 'It has no such option. Give the words of one that is in the snapshot.'],
  [/not an HTMLInputElement|Non-multiple file|not a file/i, 'It takes no file.'],
  [/Unknown key/, 'There is no such key. Examples: Enter, Escape, ArrowDown, Control+a.'],
  [/ERR_TUNNEL_CONNECTION_FAILED/, 'It can not be reached, or it is not a public address.'],
  [/ERR_NAME_NOT_RESOLVED|ERR_ADDRESS_UNREACHABLE|ERR_CONNECTION_\w+|ERR_EMPTY_RESPONSE/, 'It can not be reached.'],
  [/ERR_CERT_\w+|ERR_SSL_\w+/, 'Its certificate is not valid.'],
  [/ERR_TOO_MANY_REDIRECTS/, 'It leads in circles.'],
  [/ERR_ABORTED/, 'It is not a page: the browser was told to download it, which is refused.'],
  [/ERR_PROXY_CONNECTION_FAILED/, 'The way to the network is closed just now. Try again.'],
  [/Page crashed|Target crashed/, 'The page crashed. Navigate again.'],
  [
    /Target page, context or browser has been closed|browser has been closed|has been disconnected/,
    'The browser ended meanwhile. Try again: it is started anew.',
  ],
  [/detached|not attached|Execution context was destroyed/, 'The page changed meanwhile. Take a new snapshot.'],
  [/Timeout \d+ms exceeded/, 'It did not happen in time. Take a new snapshot to see what is there.'],
];

export function plainFailure(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (
    known.find(([pattern]) => pattern.test(text))?.[1] ?? 'It did not work. Take a new snapshot to see what is there.'
  );
}
