import {
  type Awaitable,
  type Duration,
  type Limits,
  type RollingWindow,
  type RollingWindowOptions,
  rollingWindow,
} from '@rollgate/core';
import { isThenable, ROLLING_WINDOW_OPTIONS, validate, withCode } from '@rollgate/core/store';
import { andThen } from './in-time.js';
import type { ForRequest, LimitOptions, WindowOptions } from './options.js';

/** What limits a request: always the same, or what a function tells. */
export type LimitsSource<Request> =
  | { readonly fixed: Limits; readonly like: Limits; readonly of?: undefined }
  | {
      readonly fixed?: undefined;
      /** Limits of the names and kinds that it tells, when they are always the same. */
      readonly like: Limits | undefined;
      /** The options that are functions. */
      readonly name: string;
      readonly of: (request: Request) => Awaitable<Limits>;
    };

/** For what are no limits. */
export const noLimits = (given: unknown): TypeError =>
  validate.invalidOption('limits', 'a limit such as `rollingWindow({ … })`, or a record of at least one', given);

/** A user's plans are few; should they not be, all are made anew. */
const MOST_REMEMBERED = 1000;

/** @throws TypeError, RangeError naming the option that is wrong. */
export function toLimitsSource<Request>(options: LimitOptions<Request>): LimitsSource<Request> {
  const given = ROLLING_WINDOW_OPTIONS.filter((name) => options[name] !== undefined);
  const { limits } = options;
  if (limits === undefined) return windowSource(options as WindowOptions<Request>);
  if (given.length > 0) {
    throw withCode(
      'ERR_ROLLGATE_INVALID_OPTION',
      new TypeError(
        `Expected either \`limits\` or the numbers of one rolling window, got \`limits\` and \`${given.join('`, `')}\``,
      ),
    );
  }
  if (typeof limits === 'function') {
    return { like: undefined, name: 'limits', of: limits as (request: Request) => Awaitable<Limits> };
  }
  if (limits === null) throw noLimits(limits);
  return { fixed: limits, like: limits };
}

function windowSource<Request>(options: WindowOptions<Request>): LimitsSource<Request> {
  const { limit, window, minDifference, countRejected } = options;
  const rest = { minDifference, countRejected };
  const make = (numbers: Pick<RollingWindowOptions, 'limit' | 'window'>) => rollingWindow({ ...numbers, ...rest });
  if (typeof limit !== 'function' && typeof window !== 'function') {
    const fixed = make({ limit, window });
    return { fixed, like: fixed };
  }
  // What is a value is checked now, and not when the first request comes.
  const like = make({
    limit: typeof limit === 'function' ? 1 : limit,
    window: typeof window === 'function' ? '1s' : window,
  });

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
    like,
    name: Object.entries({ limit, window })
      .filter(([, value]) => typeof value === 'function')
      .map(([name]) => name)
      .join('` or `'),
    of(request) {
      const units = valueFor(limit, request);
      if (!isThenable(units)) return andThen(valueFor(window, request), (length) => windowOf(units, length));
      // In a function: what `window` throws must not leave the promise of `limit` with nobody who listens.
      const length = new Promise<Duration>((resolve) => resolve(valueFor(window, request)));
      return Promise.all([units, length]).then(([later, laterLength]) => windowOf(later, laterLength));
    },
  };
}

function valueFor<Request, Value>(given: ForRequest<Request, Value>, request: Request): Awaitable<Value> {
  return typeof given === 'function' ? (given as (request: Request) => Awaitable<Value>)(request) : given;
}
