import type { Awaitable, Cost, Decision, Key, Limits } from '@rollgate/core';
import { invalidLimits, mapAwaitable, type ParsedLimits, toParsedLimits, validateBoolean } from '@rollgate/core/store';
import { createAddressKey, readAddress } from '../client/client-address.js';
import { markKey } from '../client/request-key.js';
import { mapWithTimeout } from '../errors/with-timeout.js';
import type { RequestReader } from '../host/host.js';
import { limitsByName, pickNames } from '../limits/limits-by-name.js';
import { type ResolvedHttpOptions, validateCost } from '../options/resolve-options.js';

/** What a decision is about. It is complete once the decision is made. */
export interface Checked {
  /** The limits that decide. */
  limits: ParsedLimits;
  /** The units that the request takes of them. */
  cost: Cost;
  /** What the request counts for. `undefined` unless {@link RequestChecker.check} has made the decision. */
  key: Key | undefined;
}

/** Checks requests: evaluates the options `allowList`, `skip`, `key`, `cost` and `limits`, then calls the limiter. */
export class RequestChecker<Request> {
  readonly #reader: RequestReader<Request>;
  readonly #options: ResolvedHttpOptions<Request, never>;
  /** The fixed limits, and a cost of 1 for each of them. */
  readonly usual: Readonly<Checked>;
  /** Returns the key of a request by its client's address. */
  readonly addressKey: (request: Request) => string;
  /** Whether no option decides which requests count, what for, how much, or by which limits. */
  readonly countsByAddress: boolean;

  constructor(reader: RequestReader<Request>, options: ResolvedHttpOptions<Request, never>) {
    const { key, cost, limits, allowList, skip, onLimited, onExceeded } = options;
    this.#reader = reader;
    this.#options = options;
    this.addressKey = createAddressKey(reader, options.ipv6Prefix);
    this.countsByAddress =
      ![key, allowList, skip, onLimited, onExceeded].some(Boolean) && cost === 1 && limits.fixed !== undefined;
    this.usual = { limits: limits.fixed!, cost: 1, key: undefined };
  }

  /**
   * Checks a request.
   *
   * @param checked A copy of `usual`, to describe what the decision is about.
   * @returns The decision; `undefined` for a request that `allowList` or `skip` exempts.
   * @throws The error of an option function, or `CLIENT_DISCONNECTED`. A promise rejects with them.
   */
  check(request: Request, checked: Checked): Awaitable<Decision | undefined> {
    const { allowList: isOnAllowList, skip, timeout } = this.#options;
    if (isOnAllowList !== undefined) {
      const address = readAddress(this.#reader, request);
      if (address && isOnAllowList(address)) return undefined;
    }
    if (skip === undefined) return this.#count(request, checked);
    return mapWithTimeout('skip', timeout, skip(request), (isSkipped) =>
      validateBoolean('skip(request)', isSkipped) ? undefined : this.#count(request, checked),
    );
  }

  #count(request: Request, checked: Checked): Awaitable<Decision> {
    const { key, timeout, usageChecks, onExceeded } = this.#options;
    const requestKey =
      key === undefined ? this.addressKey(request) : key(request, () => this.#inspectedAddressKey(request));
    return mapWithTimeout('key', timeout, requestKey, (resolvedKey) => {
      if (key !== undefined && usageChecks.isInspecting) usageChecks.inspectKey(resolvedKey);
      const countedKey =
        key === undefined ? (resolvedKey as string) : markKey(resolvedKey, () => this.#inspectedAddressKey(request));
      checked.key = countedKey;
      const decided = this.#charge(request, countedKey, checked);
      if (onExceeded === undefined) return decided;
      return mapAwaitable(decided, (decision) => {
        if (decision.exceeded.length > 0) this.#report(request, decision, countedKey);
        return decision;
      });
    });
  }

  /** Calls `onExceeded`. Its failure is only a warning, because the request may hold slots, and nothing rejects it. */
  async #report(request: Request, decision: Decision, key: Key): Promise<void> {
    const { onExceeded, usageChecks } = this.#options;
    try {
      await onExceeded!(request, decision, key);
    } catch (thrown) {
      usageChecks.reportFailure('ROLLGATE_ON_EXCEEDED_FAILED', thrown);
    }
  }

  /** Takes the cost of a request from its limits. */
  #charge(request: Request, key: Key, checked: Checked): Awaitable<Decision> {
    const { cost, limits, limiter, timeout } = this.#options;
    if (cost === 1 && limits.fixed !== undefined) return limiter.decide(key as string);
    const requestCost = typeof cost === 'function' ? cost(request) : cost;
    return mapWithTimeout('cost', timeout, requestCost, (units) => {
      const validCost = validateCost(units, limits.fixed);
      if (limits.fixed !== undefined) return this.#decide(limits.fixed, key, validCost, checked);
      return mapWithTimeout(limits.optionName, timeout, limits.forRequest(request), (requestLimits) =>
        this.#decide(requestLimits, key, validCost, checked),
      );
    });
  }

  /** The gate inspects the addresses of requests only if it knows that they are used. */
  #inspectedAddressKey(request: Request): string {
    const { usageChecks } = this.#options;
    if (usageChecks.isInspecting) usageChecks.inspectAddress(this.#reader, request);
    return this.addressKey(request);
  }

  #decide(given: Limits, key: Key, cost: Cost, checked: Checked): Awaitable<Decision> {
    const limits = toParsedLimits(given);
    if (typeof limits !== 'object' || limits === null) throw invalidLimits(limits);
    const { limiter, limits: resolved } = this.#options;
    // A plan may lack limits of other plans, while `key` and `cost` return those for all plans.
    const byName = resolved.sample === undefined ? limitsByName(limits) : undefined;
    const ownKey = byName === undefined ? key : pickNames(key, byName);
    const ownCost = byName === undefined ? cost : pickNames(cost, byName);
    const options = limits === resolved.fixed ? { cost: ownCost } : { cost: ownCost, limits };
    checked.limits = limits;
    checked.cost = ownCost;
    return limiter.decide(ownKey, options);
  }
}
