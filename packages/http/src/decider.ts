import type { Awaitable, Decision, Limits } from '@rollgate/core';
import { validate } from '@rollgate/core/store';
import { createClientKey } from './client-key.js';
import { noAddress } from './errors.js';
import type { Framework } from './framework.js';
import { andThen, goOnWith } from './in-time.js';
import { noLimits } from './limits-source.js';
import type { Settings } from './settings.js';

/** Thrown, and caught, where a request turns out to have nobody left who waits for it. */
export const CLIENT_LEFT = Symbol('the client has left');

/** Whom a request counts for, what it costs, by which limits; and so what is decided about it. */
export class Decider<Request> {
  readonly #framework: Framework<Request, never>;
  readonly #settings: Settings<Request, never>;
  readonly #clientKey: (address: string) => string;
  /** What limited a request, when that differs from request to request. */
  readonly #limitsOf = new WeakMap<Decision, Limits>();

  constructor(framework: Framework<Request, never>, settings: Settings<Request, never>) {
    this.#framework = framework;
    this.#settings = settings;
    this.#clientKey = createClientKey(settings.ipv6Prefix);
  }

  /** The limits that made the decision. */
  limitsOf(decision: Decision): Limits {
    return this.#settings.limits.fixed ?? this.#limitsOf.get(decision)!;
  }

  /**
   * The decision; `undefined` for a request that is to pass uncounted.
   *
   * @throws What a function of the user's throws, and {@link CLIENT_LEFT}; or rejects with it.
   */
  decide(request: Request): Awaitable<Decision | undefined> {
    const { skip, isAllowed, timeoutMs } = this.#settings;
    if (isAllowed !== undefined) {
      const address = this.#framework.addressOf(request);
      if (address && isAllowed(address)) return undefined;
    }
    if (skip === undefined) return this.#decideCounted(request);
    return goOnWith('skip', timeoutMs, skip(request), (skips) =>
      validate.boolean('skip(request)', skips) ? undefined : this.#decideCounted(request),
    );
  }

  #decideCounted(request: Request): Awaitable<Decision> {
    const { key, cost, limits, limiter, timeoutMs, mistakes } = this.#settings;
    if (key === undefined && cost === 1 && limits.of === undefined) return limiter.decide(this.#addressKey(request));
    return goOnWith('key', timeoutMs, key === undefined ? this.#addressKey(request) : key(request), (counted) => {
      if (key !== undefined) mistakes.lookAtKey(counted);
      if (cost === 1 && limits.of === undefined) return limiter.decide(counted as string);
      return goOnWith('cost', timeoutMs, typeof cost === 'function' ? cost(request) : cost, (units) => {
        const options = { cost: validate.positiveInteger('cost', units) };
        if (limits.of === undefined) return limiter.decide(counted as string, options);
        return goOnWith(limits.name, timeoutMs, limits.of(request), (own) =>
          this.#decideBy(own, counted as string, units),
        );
      });
    });
  }

  #decideBy(limits: Limits, key: string, cost: number): Awaitable<Decision> {
    if (limits === undefined) throw noLimits(limits);
    return andThen(this.#settings.limiter.decide(key, { cost, limits }), (decision) => {
      this.#limitsOf.set(decision, limits);
      return decision;
    });
  }

  #addressKey(request: Request): string {
    const address = this.#framework.addressOf(request);
    if (address) return this.#clientKey(address);
    if (this.#framework.hasLeft(request)) throw CLIENT_LEFT;
    throw noAddress();
  }
}
