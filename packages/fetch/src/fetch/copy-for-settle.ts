import { finished, isReadable } from 'node:stream';

/** `node:stream` takes web streams, too, which its types do not know. */
type NodeStream = NodeJS.ReadableStream;

/** What a `Response` that is created here would have otherwise. */
const VALUES = ['url', 'redirected', 'type', 'status', 'statusText', 'ok'] as const;

/** A copy of a response, for as long as `settle` needs it. */
export interface SettleCopy {
  readonly response: Response;
  /** Whether the caller has canceled the body of the original, which ends the copy, too. */
  readonly isCanceled: () => boolean;
  /** Ends the copy. It would keep the connection open, and collect all that the caller reads. */
  readonly end: (reason?: unknown) => void;
}

/** Copies a response for `settle`. The copy of `clone` would make a caller wait that cancels the body. */
export function copyForSettle(original: Response): SettleCopy {
  const { body: source } = original;
  const copy = original.clone();
  if (source === null) return { response: copy, isCanceled: () => false, end: () => {} };
  const { body, end } = endable(copy.body!);
  let isCanceled = false;
  finished(original.body as unknown as NodeStream, () => {
    // The caller's branch closes before its source does only if it is canceled.
    isCanceled = isReadable(source as unknown as NodeStream) === true;
    if (isCanceled) end(new DOMException('The caller has canceled the body', 'AbortError'));
  });
  // A server may send a status that no constructor takes, such as 999, or such a text.
  const init = { headers: copy.headers, status: original.status > 599 ? 200 : original.status };
  const values = VALUES.map((name) => [name, { value: original[name] }] as const);
  const response = Object.defineProperties(new Response(body, init), Object.fromEntries(values));
  return { response, isCanceled: () => isCanceled, end };
}

/** Returns a stream with the chunks of another one, which can end while it is being read. */
function endable(stream: ReadableStream<Uint8Array>): Pick<SettleCopy, 'end'> & { body: ReadableStream<Uint8Array> } {
  const reader = stream.getReader();
  let fail: (reason: unknown) => void = () => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        fail = (reason) => controller.error(reason);
      },
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const end = (reason?: unknown) => {
    fail(reason);
    reader.cancel(reason).catch(() => {});
  };
  return { body, end };
}
