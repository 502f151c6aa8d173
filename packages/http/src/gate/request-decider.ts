import type { Awaitable, Cost, Decision, Limits } from '@rollgate/core';
import { mapAwaitable, validateBoolean, validateString } from '@rollgate/core/store';
import type { RequestReader } from '../base/host.js';
import { missingAddressError } from '../base/to-error.js';
import { mapWithTimeout } from '../base/with-timeout.js';
import { createClientKey } from '../client/client-key.js';
import { validateCost } from '../options/cost-option.js';
import { invalidLimitsError } from '../options/limits-option.js';
import type { ResolvedOptions } from '../options/resolve-options.js';

/** Thrown and caught internally when the client of a request has already disconnected. */
export const CLIENT_DISCONNECTED = Symbol('the client has disconnected');

/** Decides a request: evaluates `allowList`, `skip`, `key`, `cost` and `limits` for it, then calls the limiter. */
export class RequestDecider<Request> {
  readonly #reader: RequestReader<Request>;
  readonly #options: ResolvedOptions<Request, never>;
  readonly #toClientKey: (address: string) => string;
  /** The limits that made a decision, when they differ between requests. */
  readonly #limitsOf = new WeakMap<Decision, Limits>();

  constructor(reader: RequestReader<Request>, options: ResolvedOptions<Request, never>) {
    this.#reader = reader;
    this.#options = options;
    this.#toClientKey = createClientKey(options.ipv6Prefix);
  }

  /** Returns the limits that made the decision. */
  getLimits(decision: Decision): Limits {
    return this.#options.limits.fixed ?? this.#limitsOf.get(decision)!;
  }

  /**
   * Decides a request.
   *
   * @returns The decision; `undefined` for a request that `allowList` or `skip` exempts.
   * @throws The error of an option function, or {@link CLIENT_DISCONNECTED}. A promise rejects with them.
   */
  decide(request: Request): Awaitable<Decision | undefined> {
    const { skip, isOnAllowList, timeoutMs } = this.#options;
    if (isOnAllowList !== undefined) {
      const address = this.#getAddress(request);
      if (address && isOnAllowList(address)) return undefined;
    }
    if (skip === undefined) return this.#decideCounted(request);
    return mapWithTimeout('skip', timeoutMs, skip(request), (isSkipped) =>
      validateBoolean('skip(request)', isSkipped) ? undefined : this.#decideCounted(request),
    );
  }

  #decideCounted(request: Request): Awaitable<Decision> {
    const { key, cost, limits, limiter, timeoutMs, usageChecks } = this.#options;
    const hasFixedLimits = limits.forRequest === undefined;
    if (key === undefined && cost === 1 && hasFixedLimits) return limiter.decide(this.#getAddressKey(request));
    const requestKey = key === undefined ? this.#getAddressKey(request) : key(request);
    return mapWithTimeout('key', timeoutMs, requestKey, (resolvedKey) => {
      if (key !== undefined) usageChecks.inspectKey(resolvedKey);
      if (cost === 1 && hasFixedLimits) return limiter.decide(resolvedKey as string);
      const requestCost = typeof cost === 'function' ? cost(request) : cost;
      return mapWithTimeout('cost', timeoutMs, requestCost, (units) => {
        const options = { cost: validateCost(units, limits.fixed) };
        if (limits.forRequest === undefined) return limiter.decide(resolvedKey as string, options);
        return mapWithTimeout(limits.optionName, timeoutMs, limits.forRequest(request), (requestLimits) =>
          this.#decideWithLimits(requestLimits, resolvedKey as string, options.cost),
        );
      });
    });
  }

  #decideWithLimits(limits: Limits, key: string, cost: Cost): Awaitable<Decision> {
    if (limits === undefined) throw invalidLimitsError(limits);
    return mapAwaitable(this.#options.limiter.decide(key, { cost, limits }), (decision) => {
      this.#limitsOf.set(decision, limits);
      return decision;
    });
  }

  /** Only the option `address` may return something else, for example a promise. */
  #getAddress(request: Request): string | undefined {
    const address = this.#reader.getClientAddress(request);
    return address && validateString('address(request)', address);
  }

  #getAddressKey(request: Request): string {
    const address = this.#getAddress(request);
    if (address) return this.#toClientKey(address);
    if (this.#reader.isDisconnected(request)) throw CLIENT_DISCONNECTED;
    throw missingAddressError(this.#reader);
  }
}
