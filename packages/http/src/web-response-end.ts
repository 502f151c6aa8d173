/**
 * Calls `onEnd` once when the body of a response has been read to its end, with `true`, or when the client disconnects
 * before, with `false`. A response without a body has ended at once. So has one whose body cannot be watched, because
 * other code reads it.
 *
 * @param request The request, whose signal aborts when the client disconnects, on platforms that report it.
 * @returns The response to send: the same one, or one with the same status and headers and a body that is watched.
 */
export function watchResponseEnd(response: Response, request: Request, onEnd: (isComplete: boolean) => void): Response {
  const signal: AbortSignal | undefined = request.signal;
  let hasEnded = false;
  const end = (isComplete: boolean) => {
    if (hasEnded) return;
    hasEnded = true;
    signal?.removeEventListener('abort', onAbort);
    onEnd(isComplete);
  };
  const onAbort = () => end(false);
  if (signal?.aborted) end(false);
  else if (!willBeRead(response, request)) end(true);
  if (hasEnded) return response;
  signal?.addEventListener('abort', onAbort);
  return new Response(watchBody(response.body!, end), response);
}

/** Whether the platform reads a body. It sends none to a HEAD request, and cannot read one that other code reads. */
function willBeRead({ body, bodyUsed }: Response, { method }: Request): boolean {
  return method !== 'HEAD' && body !== null && !body.locked && !bodyUsed;
}

function watchBody(body: ReadableStream<Uint8Array>, end: (isComplete: boolean) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) controller.enqueue(value);
        else {
          controller.close();
          end(true);
        }
      } catch (error) {
        end(false);
        throw error;
      }
    },
    cancel(reason) {
      end(false);
      return reader.cancel(reason);
    },
  });
}
