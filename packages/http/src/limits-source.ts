import {
  type Awaitable,
  type Duration,
  isThenable,
  type Limits,
  ROLLING_WINDOW_OPTIONS,
  type RollingWindow,
  type RollingWindowOptions,
  rollingWindow,
} from '@rollgate/core';
import type { ForRequest, LimitOptions, WindowOptions } from './options.js';

/** What limits a request: always the same, or what a function tells. */
export type LimitsSource<Request> =
  | { readonly fixed: Limits; readonly of?: undefined }
  | { readonly fixed?: undefined; readonly of: (request: Request) => Awaitable<Limits> };

/** A user's plans are few; should they not be, all are made anew. */
const MOST_REMEMBERED = 1000;

/** @throws TypeError, RangeError naming the option that is wrong. */
export function toLimitsSource<Request>(options: LimitOptions<Request>): LimitsSource<Request> {
  const given = ROLLING_WINDOW_OPTIONS.filter((name) => options[name] !== undefined);
  const { limits } = options;
  if (limits === undefined) return windowSource(options as WindowOptions<Request>);
  if (given.length > 0) {
    throw new TypeError(
      `Expected either \`limits\` or the numbers of one rolling window, got \`limits\` and \`${given.join('`, `')}\``,
    );
  }
  return typeof limits === 'function' ? { of: limits as (request: Request) => Awaitable<Limits> } : { fixed: limits };
}

function windowSource<Request>(options: WindowOptions<Request>): LimitsSource<Request> {
  const { limit, window, minDifference, countRejected } = options;
  const rest = { minDifference, countRejected };
  const make = (numbers: Pick<RollingWindowOptions, 'limit' | 'window'>) => rollingWindow({ ...numbers, ...rest });
  if (typeof limit !== 'function' && typeof window !== 'function') return { fixed: make({ limit, window }) };
  // What is a value is checked now, and not when the first request comes.
  make({ limit: typeof limit === 'function' ? 1 : limit, window: typeof window === 'function' ? 1 : window });

  const remembered = new Map<string, RollingWindow>();
  const windowOf = (units: number, length: Duration): RollingWindow => {
    const name = `${typeof units} ${units} ${typeof length} ${length}`;
    let made = remembered.get(name);
    if (made === undefined) {
      made = make({ limit: units, window: length });
      if (remembered.size === MOST_REMEMBERED) remembered.clear();
      remembered.set(name, made);
    }
    return made;
  };
  return {
    of(request) {
      const units = valueFor(limit, request);
      const length = valueFor(window, request);
      if (!isThenable(units) && !isThenable(length)) return windowOf(units, length);
      return Promise.all([units, length]).then(([later, laterLength]) => windowOf(later, laterLength));
    },
  };
}

function valueFor<Request, Value>(given: ForRequest<Request, Value>, request: Request): Awaitable<Value> {
  return typeof given === 'function' ? (given as (request: Request) => Awaitable<Value>)(request) : given;
}
