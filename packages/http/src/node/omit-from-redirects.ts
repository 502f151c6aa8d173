import type { ServerResponse } from 'node:http';
import { isRedirect } from '../headers/redirects.js';
import type { HeaderEditor, NodeResponse } from './adapter.js';

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
