import type { UnderlyingSource } from 'node:stream/web';

/**
 * Detects that nothing can read a body any more, because other code has dropped its response. Some platforms lack the class,
 * such as Cloudflare Workers with a compatibility date before May 2025.
 */
const droppedBodies =
  typeof FinalizationRegistry === 'undefined' ? undefined : new FinalizationRegistry<() => void>((abort) => abort());

/**
 * Calls `onComplete` when the body of a response has been read to its end. If the client disconnects before, or if the body
 * fails or nothing can read it any more, calls `onAbort` instead. A response without a body is complete at once. So is one
 * whose body cannot be watched, because other code reads it.
 *
 * @param request The request, whose signal aborts when the client disconnects, on platforms that report it.
 * @param onAbort It must not refer to the returned response, nor to what may refer to it, such as a context of Hono.
 * @returns The response to send: the same one, or one with the same status and headers and a body that is watched.
 */
export function watchResponseEnd(
  response: Response,
  request: Request,
  onComplete: () => void,
  onAbort: () => void,
): Response {
  const signal: AbortSignal | undefined = request.signal;
  if (signal?.aborted) onAbort();
  else if (!willBeRead(response, request)) onComplete();
  else return new Response(watchBody(response.body!, signal, onComplete, onAbort), response);
  return response;
}

/** Whether the platform reads a body. It sends none to a HEAD request, and cannot read one that other code reads. */
function willBeRead({ body, bodyUsed }: Response, { method }: Request): boolean {
  return method !== 'HEAD' && body !== null && !body.locked && !bodyUsed;
}

function watchBody(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
  onComplete: () => void,
  onAbort: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const [end, abort] = createEnd(onAbort);
  const finish = (onEnd: () => void) => {
    signal?.removeEventListener('abort', abort);
    end(onEnd);
  };
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) controller.enqueue(value);
        else {
          controller.close();
          finish(onComplete);
        }
      } catch (error) {
        finish(onAbort);
        throw error;
      }
    },
    cancel(reason) {
      finish(onAbort);
      return reader.cancel(reason);
    },
  };
  signal?.addEventListener('abort', abort);
  droppedBodies?.register(source, abort, abort);
  // It reads nothing ahead. Otherwise a part that is still to come would keep an unread stream alive.
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** Returns functions of which only the first call has an effect. They refer to nothing but `onAbort`. */
function createEnd(onAbort: () => void): [end: (onEnd: () => void) => void, abort: () => void] {
  let hasEnded = false;
  const end = (onEnd: () => void) => {
    if (hasEnded) return;
    hasEnded = true;
    droppedBodies?.unregister(abort);
    onEnd();
  };
  const abort = () => end(onAbort);
  return [end, abort];
}
