import type { Decision, RateLimiter } from '@rollgate/core';
import { validate } from '@rollgate/core';
import { type Awaitable, isThenable } from './awaitable.js';
import { createClientKey } from './client-key.js';
import { type SetField, writeRateLimitFields, writeRefusalFields } from './header-fields.js';
import { type HttpOptions, type ResetUnit, type Settings, toSettings } from './options.js';
import { refusalMessage } from './refusal.js';

/** What differs from framework to framework. */
export interface Framework<Request, Response> {
  /** What errors call the adapter. */
  readonly name: string;
  /** The names of the options that only this adapter has. */
  readonly ownOptions: readonly string[];
  /** What `X-RateLimit-Reset` means to the framework's users. */
  readonly resetUnit: ResetUnit;
  /** The client's address, resolved through the proxies that the framework trusts. */
  readonly addressOf: (request: Request) => string | undefined;
  readonly setField: SetField<Response>;
}

/**
 * The way of a request through an adapter: whom it counts for and what it costs, the decision, the fields that tell it.
 *
 * Nothing is awaited that does not make it necessary: with a store in memory, and functions that answer at once, the
 * decision is there when `decide` returns.
 */
export class Gate<Request, Response> {
  readonly #framework: Framework<Request, Response>;
  readonly #settings: Settings<Request>;
  readonly #keyOf: (request: Request) => Awaitable<unknown>;

  /** @throws TypeError, RangeError naming the option that is wrong. */
  constructor(framework: Framework<Request, Response>, options: HttpOptions<Request>) {
    this.#framework = framework;
    this.#settings = toSettings(framework.name, options, framework.ownOptions, framework.resetUnit);
    const { addressOf } = framework;
    const clientKey = createClientKey(this.#settings.ipv6Prefix);
    this.#keyOf = this.#settings.key ?? ((request) => clientKey(addressOf(request)));
  }

  get limiter(): RateLimiter {
    return this.#settings.limiter;
  }

  get statusCode(): number {
    return this.#settings.statusCode;
  }

  get message(): string | object | undefined {
    return this.#settings.message;
  }

  /** Decides one request; `undefined` when it is to pass uncounted. */
  decide(request: Request): Awaitable<Decision | undefined> {
    const { skip } = this.#settings;
    if (skip === undefined) return this.#decideCounted(request);
    return andThen(skip(request), (skips) =>
      validate.boolean('skip(request)', skips) ? undefined : this.#decideCounted(request),
    );
  }

  /** Writes the fields that tell the decision, and for a refusal those that tell when to come again. */
  writeFields(response: Response, decision: Decision): void {
    const { sendsFields, resetUnit } = this.#settings;
    const { setField } = this.#framework;
    if (sendsFields) writeRateLimitFields(response, setField, decision, resetUnit);
    if (!decision.allowed) writeRefusalFields(response, setField, decision);
  }

  /** The text for people: the user's own, when it is a text. */
  messageFor(decision: Decision): string {
    const { message } = this.#settings;
    return typeof message === 'string' ? message : refusalMessage(decision);
  }

  #decideCounted(request: Request): Awaitable<Decision> {
    const { cost, limiter } = this.#settings;
    return andThen(this.#keyOf(request), (key) => {
      if (cost === 1) return limiter.decide(key as string);
      if (typeof cost === 'number') return limiter.decide(key as string, { cost });
      return andThen(cost(request), (units) => limiter.decide(key as string, { cost: units }));
    });
  }
}

/** Goes on at once when the value is there, and else when it comes. */
function andThen<Value, Result>(value: Awaitable<Value>, next: (value: Value) => Awaitable<Result>): Awaitable<Result> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}
