import type { Cost, Decision, Limits, NameOf, RateLimiter } from '@rollgate/core';
import { formatValue, hasMethods, invalidOption, optionError, validateOptionNames } from '@rollgate/core/store';
import { pickNames } from '../limits/limits-by-name.js';

/** What one limiter did with a request: its decision, or `undefined` for an exempt request. */
export interface Decided {
  readonly limiter: RateLimiter;
  readonly decision: Decision | undefined;
}

/**
 * On a request that continues, what its limiters did, the last one first. An object that inherits from the request inherits it, too. A
 * property costs less than an entry of a `WeakMap`, which each garbage collection has to visit.
 */
export const decidedBy = Symbol('Rollgate decided');

/** A request of which the gate remembers what its limiters did, for {@link settle}. */
export interface DecidedRequest {
  [decidedBy]?: readonly Decided[];
}

/** What limiters did with requests that have hidden classes of their own, where a property costs more than an entry here. */
export const decidedApart = new WeakMap<object, readonly Decided[]>();

/**
 * Puts what a limiter did before what the others did, in place of what it did earlier. An app may check one request for each
 * message of a connection.
 */
export function putFirst(last: Decided, all: readonly Decided[]): readonly Decided[] {
  return [last, ...all.filter(({ limiter }) => limiter !== last.limiter)];
}

/** Koa and Hono have several objects for one request. Their decisions are on the one that the others have as `req`. */
function findDecided(request: object): readonly Decided[] {
  const own = allDecided(request);
  const { req } = request as { readonly req?: object };
  return own.length > 0 || !req ? own : allDecided(req);
}

/** Adapters of several hosts may have limited the request, so that its decisions are in both places. */
function allDecided(request: object): readonly Decided[] {
  const all = [...((request as DecidedRequest)[decidedBy] ?? [])];
  for (let object: object = request; object !== null; object = Object.getPrototypeOf(object))
    all.push(...(decidedApart.get(object) ?? []));
  return all;
}

/** The limiters whose limits differ between requests. */
const limitersOfPlans = new WeakSet<RateLimiter>();

/** Lets {@link settle} ignore the names that the limits of a request lack, because other requests have them. */
export function expectOtherNames(limiter: RateLimiter): void {
  limitersOfPlans.add(limiter);
}

/** What a request really cost. */
export interface SettleRequestOptions<Given extends Limits = Limits> {
  /** The units for all limits, or a record of units by limit name. Limits that it omits keep what they have. */
  cost: NoInfer<Cost<NameOf<Given>>>;
  /**
   * The limiter to settle, or an object with the property `limiter`, such as a middleware. The others keep their counts.
   *
   * @defaultValue all limiters that have counted the request
   */
  limiter?:
    | RateLimiter<Given>
    | {
        /** Its limiter. */
        readonly limiter: RateLimiter<Given>;
      }
    | undefined;
}

/**
 * Replaces the cost that the limiters of a request have recorded with its actual cost. If that is lower, the difference is
 * refunded. If it is higher, the difference is recorded now, even if the limit has no room for it.
 *
 * Without `limiter`, each limiter takes the names that it has. A limiter settles its last check of a request, once.
 * Settling a request that is exempt, or that the limiter has not counted, does nothing.
 *
 * @param request The request that the app knows, such as that of Express. For Koa, `ctx`, `ctx.request` or `ctx.req`. For
 * Hono, `c` or `c.req`, but not the standard request `c.req.raw`.
 * @throws TypeError, RangeError for an invalid option, or a name that no limit of the request has. `StoreError` if a store
 * fails and `onStoreError` is `'throw'`. The promise rejects with it.
 *
 * @example
 * ```ts
 * import { rateLimit, rollingWindow, settle } from '@rollgate/express';
 * import express from 'express';
 *
 * const app = express();
 * const tokens = rateLimit({ limits: { tokens: rollingWindow({ limit: 10_000, window: '1m' }) }, cost: 2_000 });
 * app.post('/complete', tokens, async (request, response) => {
 *   const reply = { text: 'hello', tokens: 1_250 };
 *   await settle(request, { cost: { tokens: reply.tokens } });
 *   response.send(reply.text);
 * });
 * ```
 */
export async function settle<Given extends Limits = Limits>(
  request: object,
  options: SettleRequestOptions<Given>,
): Promise<void> {
  validateOptionNames('settle', options, ['cost', 'limiter']);
  const cost: Cost = options.cost;
  const limiterToSettle = options.limiter === undefined ? undefined : resolveLimiter(options.limiter);
  const decided = findDecided(request);
  const all = limiterToSettle === undefined ? decided : decided.filter(({ limiter }) => limiter === limiterToSettle);
  const isRecord = typeof cost === 'object' && cost !== null;
  if (isRecord) throwIfUnknown(Object.keys(cost), all);
  await Promise.all(
    all.map(({ limiter, decision }) => {
      if (decision === undefined) return undefined;
      return limiter.settle(decision, { cost: pickNames(cost, decision.limits) });
    }),
  );
}

/** @throws TypeError if it neither is nor has a limiter. */
function resolveLimiter(option: unknown): unknown {
  const limiter = (option as { readonly limiter?: unknown } | null)?.limiter ?? option;
  if (hasMethods(limiter, ['settle'])) return limiter;
  throw invalidOption('limiter', 'a limiter, or a middleware or hook that has one', option);
}

/**
 * A limiter may have any names if its limits differ between requests. The same holds if it decided without its limits, because
 * the request was exempt or the store failed.
 */
function throwIfUnknown(names: readonly string[], all: readonly Decided[]): void {
  const known = all.flatMap(({ decision }) => (hasLimits(decision) ? Object.keys(decision.limits) : []));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined || all.length === 0) return;
  if (!all.every(({ limiter, decision }) => hasLimits(decision) && !limitersOfPlans.has(limiter))) return;
  throw optionError(
    `Expected the limits in \`cost\` to be among \`${known.join('`, `')}\`, got ${formatValue(unknown)}`,
  );
}

function hasLimits(decision: Decision | undefined): decision is Decision {
  return decision !== undefined && decision.degraded !== 'allow' && decision.degraded !== 'deny';
}
