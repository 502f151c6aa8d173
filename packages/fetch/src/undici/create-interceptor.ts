import { invalidOption, validateOptionNames } from '@rollgate/core/store';
import type { Dispatcher } from 'undici';
import { OutgoingCalls } from '../calls/outgoing-calls.js';
import type { CallOptions } from '../options/fetch-options.js';
import { CALL_OPTIONS, resolveFetchOptions } from '../options/resolve-options.js';
import { copyOf, requestOf } from './call-of-dispatch.js';
import { LimitedDispatch } from './limited-dispatch.js';

/** The options of `createInterceptor`. */
export interface InterceptorOptions extends CallOptions {
  /**
   * The origin of requests that have none, such as `'https://api.github.com'`. Set it for a `Client` or a `Pool`, because their
   * requests have none.
   */
  origin?: string | URL | undefined;
}

/** An interceptor for `compose` of a dispatcher. */
export interface RateLimitInterceptor {
  (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch;
  /**
   * Ends all waits, and fails all later calls. A call that waits fails, or gets its last rejection if it has one. Calls that have
   * been sent go on. Await the promise before you close the connection of the store. It resolves when the store has what the
   * responses so far have reported.
   */
  close(): Promise<void>;
}

/**
 * Creates an interceptor of undici, from version 7 on, that obeys the limits of an API like `createFetch`. Compose it with an `Agent`
 * and pass that to `setGlobalDispatcher`, so that all requests of undici obey.
 *
 * To compose a `Client` or a `Pool`, set the option `origin`. The interceptor holds a rejection back until it knows whether it repeats
 * the call. So it repeats only calls whose response has at most 64 kB and ends within 5 seconds.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { github } from '@rollgate/fetch';
 * import { createInterceptor } from '@rollgate/fetch/undici';
 * import { Agent } from 'undici';
 *
 * const agent = new Agent().compose(createInterceptor({ bucket: () => 'my-app', dialects: [github()] }));
 * await agent.close();
 * ```
 */
export function createInterceptor(options: InterceptorOptions = {}): RateLimitInterceptor {
  validateOptionNames('createInterceptor', options, [...CALL_OPTIONS, 'origin']);
  const { origin } = options;
  if (origin !== undefined && !URL.canParse(String(origin)))
    throw invalidOption('origin', "an origin such as 'https://api.example.com'", origin);
  const resolved = resolveFetchOptions(options);
  const calls = new OutgoingCalls(resolved, options.signal);
  const interceptor =
    (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch =>
    (request, handler) => {
      // A tunnel is not a call.
      if (request.method === 'CONNECT') return dispatch(request, handler);
      const sent = copyOf(request);
      const call = requestOf(sent, sent.origin ?? origin ?? missingOrigin());
      new LimitedDispatch(calls, resolved, dispatch, sent, call, handler).begin();
      return true;
    };
  return Object.assign(interceptor, { close: () => calls.close() });
}

function missingOrigin(): never {
  throw invalidOption('origin', 'the origin of the Client or Pool, because its requests have none', undefined);
}
