import type { Cost, Decision, RateLimiter } from '@rollgate/core';
import { formatValue } from '@rollgate/core/store';
import { optionError } from '../base/option-error.js';

/** What one limiter did with a request: its decision, or `undefined` for an exempt request. */
interface Decided {
  readonly limiter: RateLimiter;
  readonly decision: Decision | undefined;
  /** The limiter that ran before it. */
  readonly previous: Decided | undefined;
}

/** On a request, what the last limiter did. A property costs less than an entry of a `WeakMap`. */
const DECIDED = Symbol('Rollgate decisions');

type DecidedRequest = { [DECIDED]?: Decided | undefined };

/** Remembers what a limiter did with a request that continues, for {@link settle}. */
export function rememberDecision(request: object, limiter: RateLimiter, decision: Decision | undefined): void {
  const decided = request as DecidedRequest;
  decided[DECIDED] = { limiter, decision, previous: decided[DECIDED] };
}

const decidedRequests = new WeakMap<object, Decided>();

/** The same for a host that gives each request its own hidden class. A property would copy it, which costs far more. */
export function rememberInMap(request: object, limiter: RateLimiter, decision: Decision | undefined): void {
  decidedRequests.set(request, { limiter, decision, previous: decidedRequests.get(request) });
}

/** An object that inherits from a request has its decisions, as it has its properties. */
function findInMap(request: object): Decided | undefined {
  for (let object: object | null = request; object !== null; object = Object.getPrototypeOf(object)) {
    const decided = decidedRequests.get(object);
    if (decided !== undefined) return decided;
  }
  return undefined;
}

/** Koa and Hono have several objects for one request. Their decisions are on the one that the others have as `req`. */
function findDecided(request: object): Decided[] {
  const own = allDecided(request);
  const { req } = request as { readonly req?: object };
  return own.length > 0 || !req ? own : allDecided(req);
}

/** Adapters of several hosts may limit one request, such as those of Express and Node. */
function allDecided(request: object): Decided[] {
  const all: Decided[] = [];
  for (const last of [(request as DecidedRequest)[DECIDED], findInMap(request)]) {
    for (let decided = last; decided !== undefined; decided = decided.previous) all.push(decided);
  }
  return all;
}

/** What a request really cost. */
export interface SettleRequestOptions {
  /** The units for all limits, or a record of units by limit name. Limits that it omits keep what they have. */
  cost: Cost;
}

/**
 * Replaces the cost that the limiters of a request have recorded with its actual cost. If that is lower, the difference is
 * refunded. If it is higher, the difference is recorded now, even if the limit has no room for it.
 *
 * Each limiter takes the names that it has. A request can be settled once. Settling a request that is exempt, or that
 * no limiter has counted, does nothing.
 *
 * @param request The request that the app knows, such as that of Express. For Koa, `ctx`, `ctx.request` or `ctx.req`. For
 * Hono, `c` or `c.req`, but not the standard request `c.req.raw`. In NestJS over a WebSocket, it is the GraphQL context of an
 * operation.
 * @throws TypeError, RangeError for an invalid cost, or a name that no limit of the request has. `StoreError` if a store
 * fails and `onStoreError` is `'throw'`. The promise rejects with it.
 */
export async function settle(request: object, { cost }: SettleRequestOptions): Promise<void> {
  const all = findDecided(request);
  const isRecord = typeof cost === 'object' && cost !== null;
  if (isRecord) throwIfUnknown(Object.keys(cost), all);
  await Promise.all(
    all.map(({ limiter, decision }) => {
      if (decision === undefined) return undefined;
      const own = isRecord ? pick(cost, Object.keys(decision.limits)) : cost;
      return limiter.settle(decision, { cost: own });
    }),
  );
}

function pick(cost: Exclude<Cost, number>, names: readonly string[]): Cost {
  return Object.fromEntries(Object.entries(cost).filter(([name]) => names.includes(name)));
}

/** A limiter that decided without its limits, because the request was exempt or the store failed, may have any names. */
function throwIfUnknown(names: readonly string[], all: readonly Decided[]): void {
  const known = all.flatMap(({ decision }) => (hasLimits(decision) ? Object.keys(decision.limits) : []));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined || !all.every(({ decision }) => hasLimits(decision)) || all.length === 0) return;
  throw optionError(
    `Expected the limits in \`cost\` to be among \`${known.join('`, `')}\`, got ${formatValue(unknown)}`,
  );
}

function hasLimits(decision: Decision | undefined): decision is Decision {
  return decision !== undefined && decision.degraded !== 'allow' && decision.degraded !== 'deny';
}
