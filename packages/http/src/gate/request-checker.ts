import type { Awaitable, Cost, Decision, Key, Limits } from '@rollgate/core';
import { mapAwaitable, validateBoolean } from '@rollgate/core/store';
import type { RequestReader } from '../base/host.js';
import { limitsByName, pickNames } from '../base/limits-by-name.js';
import { mapWithTimeout } from '../base/with-timeout.js';
import { createAddressKey, readAddress } from '../client/client-address.js';
import { rememberCost, rememberPartialCost } from '../headers/request-costs.js';
import { validateCost } from '../options/cost-option.js';
import { invalidLimitsError } from '../options/limits-option.js';
import type { ResolvedOptions } from '../options/resolve-options.js';

/** Checks requests: evaluates the options `allowList`, `skip`, `key`, `cost` and `limits`, then calls the limiter. */
export class RequestChecker<Request> {
  readonly #reader: RequestReader<Request>;
  readonly #options: ResolvedOptions<Request, never>;
  readonly #addressKey: (request: Request) => string;
  /** Whether no option changes what a request counts for, how much, or by which limits. */
  readonly #countsByAddress: boolean;
  readonly #rememberCost: typeof rememberCost;
  /** The limits that made a decision, when they differ between requests. */
  readonly #limitsOf = new WeakMap<Decision, Limits>();

  constructor(reader: RequestReader<Request>, options: ResolvedOptions<Request, never>) {
    this.#reader = reader;
    this.#options = options;
    this.#addressKey = createAddressKey(reader, options.ipv6Prefix);
    this.#rememberCost = options.headers === 'draft-12' ? rememberCost : rememberPartialCost;
    this.#countsByAddress = options.key === undefined && options.cost === 1 && options.limits.fixed !== undefined;
  }

  /**
   * Checks a request.
   *
   * @returns The decision; `undefined` for a request that `allowList` or `skip` exempts.
   * @throws The error of an option function, or `CLIENT_DISCONNECTED`. A promise rejects with them.
   */
  check(request: Request): Awaitable<Decision | undefined> {
    const { allowList: isOnAllowList, skip, timeout } = this.#options;
    if (isOnAllowList !== undefined) {
      const address = readAddress(this.#reader, request);
      if (address && isOnAllowList(address)) return undefined;
    }
    if (skip === undefined) return this.#count(request);
    return mapWithTimeout('skip', timeout, skip(request), (isSkipped) =>
      validateBoolean('skip(request)', isSkipped) ? undefined : this.#count(request),
    );
  }

  /** Returns the limits that made a decision, for a limiter whose limits differ between requests. */
  limitsOf(decision: Decision): Limits {
    return this.#limitsOf.get(decision)!;
  }

  #count(request: Request): Awaitable<Decision> {
    return this.#countsByAddress
      ? this.#options.limiter.decide(this.#addressKey(request))
      : this.#countByOptions(request);
  }

  /** Separate from its caller, because the variables that functions share cost memory, even if they are not used. */
  #countByOptions(request: Request): Awaitable<Decision> {
    const { key, cost, limits, limiter, timeout, usageChecks } = this.#options;
    const hasFixedLimits = limits.fixed !== undefined;
    const requestKey =
      key === undefined ? this.#addressKey(request) : key(request, () => this.#inspectedAddressKey(request));
    return mapWithTimeout('key', timeout, requestKey, (resolvedKey) => {
      if (key !== undefined && usageChecks.isInspecting) usageChecks.inspectKey(resolvedKey);
      if (cost === 1 && hasFixedLimits) return limiter.decide(resolvedKey as string);
      const requestCost = typeof cost === 'function' ? cost(request) : cost;
      return mapWithTimeout('cost', timeout, requestCost, (units) => {
        const options = { cost: validateCost(units, limits.fixed) };
        if (hasFixedLimits) {
          const decision = limiter.decide(resolvedKey as string, options);
          return mapAwaitable(decision, (made) => this.#rememberCost(made, options.cost));
        }
        return mapWithTimeout(limits.optionName, timeout, limits.forRequest(request), (requestLimits) =>
          this.#countWithLimits(requestLimits, resolvedKey, options.cost),
        );
      });
    });
  }

  /** The gate inspects the addresses of requests only if it knows that they are used. */
  #inspectedAddressKey(request: Request): string {
    const { usageChecks } = this.#options;
    if (usageChecks.isInspecting) usageChecks.inspectAddress(this.#reader, request);
    return this.#addressKey(request);
  }

  #countWithLimits(limits: Limits, key: Key, cost: Cost): Awaitable<Decision> {
    if (typeof limits !== 'object' || limits === null) throw invalidLimitsError(limits);
    const { limiter, limits: resolved } = this.#options;
    // A plan may lack limits of other plans, while `key` and `cost` return those for all plans.
    const byName = resolved.sample === undefined ? limitsByName(limits) : undefined;
    const ownKey = byName === undefined ? key : pickNames(key, byName);
    const ownCost = byName === undefined ? cost : pickNames(cost, byName);
    return mapAwaitable(limiter.decide(ownKey, { cost: ownCost, limits }), (decision) => {
      this.#limitsOf.set(decision, limits);
      return this.#rememberCost(decision, ownCost);
    });
  }
}
