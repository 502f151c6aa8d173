import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
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

/** Calls `end` once: when the whole answer was handed to the system, or when the client has left before. */
export function whenAnswered(response: NodeResponse, end: (isWhole: boolean) => void): void {
  // The response of HTTP/2 says that it has finished also when its stream was reset.
  const sender: EventEmitter = isHttp2(response) ? response.stream : response;
  const stop = whenGone(response, () => {
    sender.off('finish', finished);
    end(false);
  });
  function finished() {
    stop?.();
    end(true);
  }
  if (stop !== undefined) sender.once('finish', finished);
}

function isHttp2(response: NodeResponse): response is Http2ServerResponse {
  return response.req.httpVersionMajor === 2;
}
