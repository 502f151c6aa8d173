import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse, ServerHttp2Stream } from 'node:http2';
import type { NodeResponse } from './adapter.js';
import { onEvent } from './shared-listener.js';

/** What a response of either version of HTTP is. */
type FullResponse = ServerResponse | Http2ServerResponse;

/** The code of an HTTP/2 stream that closed without an error (RFC 9113, section 7). */
const NGHTTP2_NO_ERROR = 0;

/**
 * Calls `listener` once when the client disconnects or the response closes, and at once if that has already happened.
 *
 * @returns A function that stops watching; `undefined` if the client has already disconnected.
 */
export function onDisconnect(given: NodeResponse, listener: () => void): (() => void) | undefined {
  const response = given as FullResponse;
  // Neither emitter is enough alone. A pipelined HTTP/1 response behind others gets no event of its socket, and a response
  // to an HTTP/2 HEAD request gets no event of its stream.
  const stream = isHttp2(response) ? response.stream : undefined;
  const emitters = [response, stream ?? response.req.socket];
  if (stream?.aborted || emitters.some(({ destroyed }: { destroyed?: boolean }) => destroyed)) {
    listener();
    return undefined;
  }
  const removers = emitters.map((emitter) => onEvent(emitter, 'close', onGone));
  if (stream !== undefined) removers.push(onReset(stream, onGone));
  function onGone() {
    stopWatching();
    listener();
  }
  function stopWatching() {
    for (const remove of removers) remove();
  }
  return stopWatching;
}

/**
 * Calls `listener` when a client resets an HTTP/2 stream. Node may never close such a stream while a write is pending. It emits
 * `aborted` for it, or only `end` if the response has ended and the client gave no error as the reason.
 *
 * @returns A function that stops watching.
 */
function onReset(stream: ServerHttp2Stream, listener: () => void): () => void {
  let check: NodeJS.Immediate | undefined;
  let isSent = false;
  // A complete response that the app writes to the stream itself also closes it before it finishes.
  function checkSoon() {
    clearImmediate(check);
    check = setImmediate(() => void (stream.closed && !isSent && !stream.writableFinished && listener()));
  }
  if (stream.closed) checkSoon();
  const removers = [
    onEvent(stream, 'aborted', listener),
    onEvent(stream, 'end', () => {
      // Once the end of the response is on its way, `finish` follows, but only when a slow client has read enough.
      isSent = stream.state.localClose === 1;
      if (stream.closed) checkSoon();
    }),
    () => clearImmediate(check),
  ];
  // Node emits nothing for the stream while the app has paused the upload. It also keeps the connection of a client that leaves.
  if (stream.session !== undefined) removers.push(onEvent(stream.session, 'goaway', checkSoon));
  return () => {
    for (const remove of removers) remove();
  };
}

/**
 * Ends the response if it has started, so that its client does not wait forever. If the end of the body is uncertain, it
 * destroys the connection. An HTTP/1 client would otherwise read the next response as the rest of a `Content-Length`, and
 * `hasHeader` does not know the headers that `writeHead` sent.
 *
 * @returns Whether the response had started.
 */
export function endIfStarted(given: NodeResponse): boolean {
  const response = given as FullResponse;
  if (!response.headersSent) return false;
  if (response.writableEnded) return true;
  if (isHttp2(response) ? !response.hasHeader('content-length') : isBodyEndCertain(response)) response.end();
  else response.destroy();
  return true;
}

/** Whether the response has no body, or its last chunk or the end of the connection marks the end of the body. */
function isBodyEndCertain(response: ServerResponse): boolean {
  const hasNoBody = response.req.method === 'HEAD' || [204, 304].includes(response.statusCode);
  return hasNoBody || response.chunkedEncoding || !response.shouldKeepAlive;
}

/**
 * Calls `listener` once, with `true` when the operating system has the whole response, or with `false` when the client
 * disconnects before. Calls it at once if that has already happened.
 */
export function onResponseFinished(given: NodeResponse, listener: (isComplete: boolean) => void): void {
  const response = given as FullResponse;
  const stream = isHttp2(response) ? response.stream : undefined;
  const emitter = stream ?? (response as ServerResponse);
  // The stream of a HEAD request finishes before there is a response, so its end counts.
  const endsWithStream = stream !== undefined && response.req.method === 'HEAD';
  if (emitter.writableFinished && !endsWithStream) {
    listener(!stream?.aborted);
    return;
  }
  let removeFinish = () => {};
  const stopWatching = onDisconnect(response, () => {
    removeFinish();
    listener(endsWithStream && response.headersSent && stream.rstCode === NGHTTP2_NO_ERROR);
  });
  if (stopWatching === undefined || endsWithStream) return;
  removeFinish = onEvent(emitter, 'finish', () => {
    removeFinish();
    stopWatching();
    // A response also finishes when its connection closes and drops the rest, and a stream when it is reset.
    listener(stream === undefined ? !response.req.socket.destroyed : !stream.aborted);
  });
}

function isHttp2(response: FullResponse): response is Http2ServerResponse {
  return response.req.httpVersionMajor === 2;
}
