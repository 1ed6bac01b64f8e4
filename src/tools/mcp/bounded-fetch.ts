/** `fetch` for servers elsewhere: one message of theirs is never kept beyond a limit, however much they send. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { messageBytesMax } from './server-process.ts';

export const boundedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  const bounded = response.body.pipeThrough(limit(isStream));
  const copy = new Response(bounded, { status: response.status, headers: response.headers });
  // A new one has no address, and redirects are judged by it.
  Object.defineProperty(copy, 'url', { value: response.url });
  Object.defineProperty(copy, 'redirected', { value: response.redirected });
  return copy;
};

/** Of a stream each event is a message; they are apart by an empty line. */
function limit(isStream: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let newest = 0;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isStream ? chunk : []) {
        bytes += 1;
        if (byte === 13) continue;
        if (byte === 10 && newest === 10) bytes = 0;
        newest = byte;
      }
      if (!isStream) bytes += chunk.byteLength;
      if (bytes > messageBytesMax) controller.error(new Error('the server sent a message that is too long'));
      else controller.enqueue(chunk);
    },
  });
}
