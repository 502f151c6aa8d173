import { finished, isErrored, isReadable } from 'node:stream';
import { wrapStream } from '../calls/wrap-stream.js';

/** `node:stream` takes web streams, too, which its types do not know. */
type NodeStream = NodeJS.ReadableStream;

/** What a `Response` that is created here would have otherwise. */
const VALUES = ['url', 'redirected', 'type', 'status', 'statusText', 'ok'] as const;

/** A copy of a response, for as long as `settle` needs it. */
export interface SettleCopy {
  readonly response: Response;
  /** Whether reading has come to an early end of the body, because its connection broke or the caller has canceled it. */
  readonly isBroken: () => boolean;
  /** Ends the copy. It would keep the connection open, and collect all that the caller reads. */
  readonly end: (reason?: unknown) => void;
}

/** Copies a response for `settle`. The copy of `clone` would make a caller wait that cancels the body. */
export function copyForSettle(original: Response): SettleCopy {
  const { body: source } = original;
  const copy = original.clone();
  if (source === null) return { response: copy, isBroken: () => false, end: () => {} };
  const { stream, reader, fail } = wrapStream(copy.body!, { highWaterMark: 0 });
  const end = (reason?: unknown) => {
    fail(reason);
    reader.cancel(reason).catch(() => {});
  };
  finished(original.body as unknown as NodeStream, () => {
    // The caller's branch closes before its source does only if it is canceled.
    if (isReadable(source as unknown as NodeStream) === true)
      end(new DOMException('The caller has canceled the body', 'AbortError'));
  });
  // A server may send a status that no constructor takes, such as 999, or such a text.
  const init = { headers: copy.headers, status: original.status > 599 ? 200 : original.status };
  const values = VALUES.map((name) => [name, { value: original[name] }] as const);
  const response = Object.defineProperties(new Response(stream, init), Object.fromEntries(values));
  return { response, isBroken: () => isErrored(stream as unknown as NodeStream), end };
}
