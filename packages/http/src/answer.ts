import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import { onClose } from './close-listeners.js';

/** Node's own response, which every framework has somewhere. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/**
 * Calls `gone` when nobody waits for the answer any more, also at once.
 *
 * @returns What stops watching; `undefined` when nobody waits already.
 */
export function whenGone(response: NodeResponse, gone: () => void): (() => void) | undefined {
  // A response of HTTP/1 that is behind others in a pipeline learns nothing of its socket, nor does one of HTTP/2 to a
  // HEAD request of its stream.
  const watched = [response, isHttp2(response) ? response.stream : response.req.socket];
  if (watched.some(({ destroyed }: { destroyed?: boolean }) => destroyed)) {
    gone();
    return undefined;
  }
  const stops = watched.map((emitter) =>
    onClose(emitter, () => {
      stop();
      gone();
    }),
  );
  function stop() {
    for (const one of stops) one();
  }
  return stop;
}

/**
 * Ends a response that has started, so that its client does not wait forever. A response of HTTP/1 with a `Content-Length` would
 * take the next response for its rest. `hasHeader` does not know the headers that `writeHead` sent, so the connection is
 * destroyed unless the end of the body is certain.
 */
export function endStarted(response: NodeResponse): void {
  if (response.writableEnded) return;
  if (isHttp2(response) ? !response.hasHeader('content-length') : endsByItself(response)) response.end();
  else response.destroy();
}

/** Whether the response has no body, or the client learns its end from a last chunk or from the end of the connection. */
function endsByItself(response: ServerResponse): boolean {
  const hasNoBody = response.req.method === 'HEAD' || [204, 304].includes(response.statusCode);
  return hasNoBody || response.chunkedEncoding || !response.shouldKeepAlive;
}

/** Calls `end` once: when the whole answer was handed to the system, also before now, or when the client has left before. */
export function whenAnswered(response: NodeResponse, end: (isWhole: boolean) => void): void {
  if (isHttp2(response)) {
    whenStreamAnswered(response, end);
    return;
  }
  if (response.writableFinished) {
    end(true);
    return;
  }
  const stop = whenGone(response, () => {
    response.off('finish', finished);
    end(false);
  });
  function finished() {
    stop?.();
    // It says that it has finished also when its connection is closed and drops what was left to send.
    end(!response.req.socket.destroyed);
  }
  if (stop !== undefined) response.once('finish', finished);
}

/** Over HTTP/2 a stream has finished also when it was reset, and to a HEAD request before there is an answer. */
function whenStreamAnswered(response: Http2ServerResponse, end: (isWhole: boolean) => void): void {
  const { stream } = response;
  const isHead = response.req.method === 'HEAD';
  if (!isHead && stream.writableFinished) {
    end(!stream.aborted);
    return;
  }
  const stop = whenGone(response, () => {
    stream.off('finish', finished);
    end(isHead && response.headersSent && stream.rstCode === constants.NGHTTP2_NO_ERROR);
  });
  function finished() {
    stop?.();
    end(!stream.aborted);
  }
  if (stop !== undefined && !isHead) stream.once('finish', finished);
}

function isHttp2(response: NodeResponse): response is Http2ServerResponse {
  return response.req.httpVersionMajor === 2;
}
