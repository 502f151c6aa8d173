/**
 * Calls `onEnd` once when the body of a response has been read to its end, with `true`, or when the client disconnects
 * before, with `false`. A response without a body has ended at once.
 *
 * @param signal Aborts when the client disconnects, on platforms that report it.
 * @returns The response to send: the same one, or one with the same status and headers and a body that is watched.
 */
export function watchResponseEnd(
  response: Response,
  signal: AbortSignal | undefined,
  onEnd: (isComplete: boolean) => void,
): Response {
  let hasEnded = false;
  const end = (isComplete: boolean) => {
    if (hasEnded) return;
    hasEnded = true;
    signal?.removeEventListener('abort', onAbort);
    onEnd(isComplete);
  };
  const onAbort = () => end(false);
  if (signal?.aborted) end(false);
  else if (response.body === null) end(true);
  if (hasEnded) return response;
  signal?.addEventListener('abort', onAbort);
  return new Response(watchBody(response.body!, end), response);
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
