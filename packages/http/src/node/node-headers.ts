import type { ServerResponse } from 'node:http';
import { isRedirect } from '../headers/rate-limit-headers.js';
import type { HeaderEditor, NodeResponse } from './adapter.js';

/** The headers of Node's response object. */
export const NODE_HEADERS: HeaderEditor<NodeResponse> = {
  lowercaseHeaders: false,
  getSetHeader: (response) => response.setHeader,
  getHeader: (response, name) => response.getHeader(name),
  removeHeader: (response, name) => response.removeHeader(name),
};

/** On a response, the value of `Cache-Control` from before the rejection. */
const previousCacheControl = Symbol('previous Cache-Control');

type WithPrevious = { [previousCacheControl]?: unknown };

/** Call it before the headers of a rejection are written, because these replace `Cache-Control`. */
export function rememberCacheControl<Response>({ getHeader }: HeaderEditor<Response>, response: Response): void {
  const before = getHeader(response, 'cache-control'); // No framework has to convert lowercase.
  if (before !== undefined) (response as WithPrevious)[previousCacheControl] = before;
}

/** Removes the headers of a rejection, because the request continues after all or has failed. */
export function withdrawRejection<Response>(headers: HeaderEditor<Response>, response: Response): void {
  const before = (response as WithPrevious)[previousCacheControl];
  headers.removeHeader(response, 'Retry-After');
  if (before === undefined) headers.removeHeader(response, 'Cache-Control');
  else headers.getSetHeader(response).call(response, 'Cache-Control', String(before));
}

/** On a function that takes the place of `writeHead`, so that many limiters of one response add one function. */
const omits = Symbol('Rollgate: omits headers from redirects');

type WriteHead = ServerResponse['writeHead'] & { [omits]?: true };

/**
 * Removes headers when the response starts, if it is a redirection by then. The limiter writes headers before the app's
 * handler chooses the status, and Node emits no event when it does. Everything that starts a response calls `writeHead`.
 *
 * @param target Where the framework keeps the headers. It may have copied them to Node's response.
 */
export function omitFromRedirects<Target>(
  response: NodeResponse,
  { removeHeader }: HeaderEditor<Target>,
  target: Target,
  names: readonly string[],
): void {
  const started = response as unknown as { writeHead: WriteHead };
  const { writeHead } = started;
  if (writeHead[omits]) return;
  const omitting = function (this: ServerResponse, ...given: Parameters<WriteHead>) {
    if (isRedirect(given[0]) && !this.headersSent) {
      for (const name of names) {
        removeHeader(target, name);
        this.removeHeader(name);
      }
    }
    return writeHead.apply(this, given);
  } as WriteHead;
  omitting[omits] = true;
  started.writeHead = omitting;
}
