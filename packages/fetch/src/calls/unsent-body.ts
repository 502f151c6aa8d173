import { finished, isErrored, Readable } from 'node:stream';
import { onAbort } from '@rollgate/core/store';
import { wrapStream } from './wrap-stream.js';

/** The methods of a Node stream or an async iterator, of which a body may have some. */
interface NodeBody {
  on?: (event: 'error', listener: (error: Error) => void) => void;
  destroy?: (error?: Error) => void;
  return?: () => unknown;
}

/**
 * Lets a web stream read its source before it is sent, as `fetch` does. Its source may be a Node stream, whose `error` event would
 * end the process if nothing read it. Other bodies stay as they are. A pipe through a `TransformStream` would take more CPU.
 */
export function startBody<Body>(body: Body): Body | ReadableStream {
  // `fetch` rejects a stream that is read elsewhere.
  if (!(body instanceof ReadableStream) || body.locked || Readable.isDisturbed(body as never)) return body;
  const { stream, reader, fail } = wrapStream(body);
  reader.closed.catch(fail);
  return stream;
}

/**
 * Calls the listener if a stream fails before it is sent. Without a listener, the `error` event of a Node stream would end the
 * process.
 */
export function onBodyError(body: unknown, listener: (error: Error) => void): void {
  // `node:stream` takes web streams, too, which its types do not know.
  // A web stream may fail with any reason, such as `undefined`.
  if (body instanceof ReadableStream)
    finished(body as never, (error) => isErrored(body as never) && listener(error as Error));
  const { on } = (body ?? {}) as NodeBody;
  if (typeof on === 'function') on.call(body, 'error', listener);
}

/** Frees what a body holds that is not sent, such as an open file. */
export function cancelBody(body: unknown, reason: unknown): void {
  if (body instanceof ReadableStream) {
    if (!body.locked) body.cancel(reason).catch(() => {});
    return;
  }
  const { destroy, return: end } = (body ?? {}) as NodeBody;
  onBodyError(body, () => {});
  if (typeof destroy === 'function') destroy.call(body, reason instanceof Error ? reason : undefined);
  else if (typeof end === 'function') new Promise((resolve) => resolve(end.call(body))).catch(() => {});
}

/** Waits with a signal that aborts with that of the call. It also aborts if a stream fails, with the error of `fetch`. */
export async function untilBodyFails<Result>(
  body: unknown,
  signal: AbortSignal | undefined,
  wait: (signal: AbortSignal | undefined) => Promise<Result>,
): Promise<Result> {
  if (body === undefined) return wait(signal);
  const ending = new AbortController();
  onBodyError(body, (cause) => ending.abort(new TypeError('fetch failed', { cause })));
  if (signal?.aborted) ending.abort(signal.reason);
  const ignoreSignal = signal && onAbort(signal, () => ending.abort(signal.reason));
  try {
    return await wait(ending.signal);
  } finally {
    ignoreSignal?.();
  }
}
