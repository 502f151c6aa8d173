import { validateOptionNames } from '@rollgate/core/store';
import type { Dispatcher } from 'undici';
import { OutgoingCalls } from '../calls/outgoing-calls.js';
import type { CallOptions } from '../options/fetch-options.js';
import { CALL_OPTIONS, resolveOptions } from '../options/resolve-options.js';
import { LimitedDispatch } from './limited-dispatch.js';

/** An interceptor for `compose` of a dispatcher. */
export interface RateLimitInterceptor {
  (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch;
  /** Fails all calls that wait, and all later ones. Calls that have been sent go on. */
  close(): void;
}

/**
 * Creates an interceptor of undici, from version 7 on, that obeys the limits of an API like `createFetch`. Compose it with an `Agent`
 * and pass that to `setGlobalDispatcher`, so that all requests of undici obey.
 *
 * It repeats a rejected call only if its response has at most 64 kB, because it holds the response back until it knows.
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
export function createInterceptor(options: CallOptions = {}): RateLimitInterceptor {
  validateOptionNames('createInterceptor', options, CALL_OPTIONS);
  const resolved = resolveOptions(options);
  const calls = new OutgoingCalls(resolved, options.signal);
  const interceptor =
    (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch =>
    (request, handler) => {
      // Without an origin, the dispatcher knows it, and only it. A tunnel is not a call.
      if (request.origin === undefined || request.method === 'CONNECT') return dispatch(request, handler);
      new LimitedDispatch(calls, resolved, dispatch, request, handler).begin();
      return true;
    };
  return Object.assign(interceptor, { close: () => calls.close() });
}
