import {
  type Awaitable,
  type Duration,
  type Limits,
  type RollingWindow,
  type RollingWindowOptions,
  rollingWindow,
} from '@rollgate/core';
import { invalidOption, isThenable, mapAwaitable, ROLLING_WINDOW_OPTIONS, withCode } from '@rollgate/core/store';
import type { ForRequest, LimitOptions, WindowOptions } from './options.js';

/** The limits of every request, or a function that returns those of one request. */
export type ResolvedLimits<Request> =
  | { readonly fixed: Limits; readonly sample: Limits; readonly forRequest?: undefined }
  | {
      readonly fixed?: undefined;
      /** Limits with the names and algorithms that `forRequest` returns, if those are always the same. */
      readonly sample: Limits | undefined;
      /** The options that are functions, for errors. */
      readonly optionName: string;
      readonly forRequest: (request: Request) => Awaitable<Limits>;
    };

/** Returns the error for a value of `limits` that contains no limits. */
export const invalidLimitsError = (value: unknown): TypeError =>
  invalidOption('limits', 'a limit such as `rollingWindow({ … })`, or a record of at least one', value);

/** An app has few plans, so few different windows. With more of them than this, the cache starts over. */
const MAX_CACHED_WINDOWS = 1000;

/** @throws TypeError, RangeError with the name of the invalid option. */
export function resolveLimits<Request>(options: LimitOptions<Request>): ResolvedLimits<Request> {
  const windowOptions = ROLLING_WINDOW_OPTIONS.filter((name) => options[name] !== undefined);
  const { limits } = options;
  if (limits === undefined) return resolveWindow(options as WindowOptions<Request>);
  if (windowOptions.length > 0) {
    throw withCode(
      'ERR_ROLLGATE_INVALID_OPTION',
      new TypeError(
        `Expected either \`limits\` or the settings of one rolling window, got \`limits\` and \`${windowOptions.join('`, `')}\`. Remove one of them`,
      ),
    );
  }
  if (typeof limits === 'function') {
    return { sample: undefined, optionName: 'limits', forRequest: limits as (request: Request) => Awaitable<Limits> };
  }
  if (limits === null) throw invalidLimitsError(limits);
  return { fixed: limits, sample: limits };
}

type CreateWindow = (settings: Pick<RollingWindowOptions, 'limit' | 'window'>) => RollingWindow;

function resolveWindow<Request>(options: WindowOptions<Request>): ResolvedLimits<Request> {
  const { limit, window, minDifference, countRejected } = options;
  const createWindow: CreateWindow = (settings) => rollingWindow({ ...settings, minDifference, countRejected });
  if (typeof limit !== 'function' && typeof window !== 'function') {
    const fixed = createWindow({ limit, window });
    return { fixed, sample: fixed };
  }
  // Validates the options that are values now instead of at the first request.
  const sample = createWindow({
    limit: typeof limit === 'function' ? 1 : limit,
    window: typeof window === 'function' ? '1s' : window,
  });
  const optionName = Object.entries({ limit, window })
    .filter(([, value]) => typeof value === 'function')
    .map(([name]) => name)
    .join('` or `');
  const getWindow = cacheWindows(createWindow);
  return {
    sample,
    optionName,
    forRequest(request) {
      const units = resolveForRequest(limit, request);
      if (!isThenable(units)) {
        return mapAwaitable(resolveForRequest(window, request), (duration) => getWindow(units, duration));
      }
      // Inside a promise, because an error of `window` would otherwise leave a rejection of `limit` unhandled.
      const duration = new Promise<Duration>((resolve) => resolve(resolveForRequest(window, request)));
      return Promise.all([units, duration]).then(([resolvedUnits, resolvedDuration]) =>
        getWindow(resolvedUnits, resolvedDuration),
      );
    },
  };
}

function cacheWindows(createWindow: CreateWindow): (limit: number, window: Duration) => RollingWindow {
  const cache = new Map<string, RollingWindow>();
  return function getWindow(limit, window) {
    const id = `${typeof limit} ${limit} ${typeof window} ${window}`;
    let cached = cache.get(id);
    if (cached === undefined) {
      cached = createWindow({ limit, window });
      if (cache.size === MAX_CACHED_WINDOWS) cache.clear();
      cache.set(id, cached);
    }
    return cached;
  };
}

function resolveForRequest<Request, Value>(option: ForRequest<Request, Value>, request: Request): Awaitable<Value> {
  return typeof option === 'function' ? (option as (request: Request) => Awaitable<Value>)(request) : option;
}
