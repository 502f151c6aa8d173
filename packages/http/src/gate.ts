import { type Awaitable, type Decision, isThenable, type RateLimiter, toGiveBack, validate } from '@rollgate/core';
import { createClientKey } from './client-key.js';
import { noAddress, toError } from './errors.js';
import type { Framework } from './framework.js';
import { type FieldNames, fieldNames, writeRateLimitFields, writeRefusalFields } from './header-fields.js';
import { holdRequest } from './hold.js';
import { type HttpOptions, type Settings, toSettings } from './options.js';
import { refusalMessage } from './refusal.js';

/** Thrown, and caught, where a request turns out to have nobody left who waits for it. */
const CLIENT_LEFT = Symbol('the client has left');

/**
 * The way of a request through an adapter: whom it counts for and what it costs, the decision, the fields that tell it,
 * and the waiting for its turn.
 *
 * Nothing is awaited that does not make it necessary: with a store in memory, and functions that answer at once, the
 * request has gone on when `run` returns.
 */
export class Gate<Request, Response> {
  readonly #framework: Framework<Request, Response>;
  readonly #settings: Settings<Request>;
  readonly #names: FieldNames;
  readonly #keyOf: (request: Request) => Awaitable<unknown>;

  /** @throws TypeError, RangeError naming the option that is wrong. */
  constructor(framework: Framework<Request, Response>, options: HttpOptions<Request>) {
    this.#framework = framework;
    this.#settings = toSettings(framework.name, options, framework.ownOptions, framework.resetUnit);
    this.#names = fieldNames(framework.lowerCaseFields);
    const clientKey = createClientKey(this.#settings.ipv6Prefix);
    this.#keyOf =
      this.#settings.key ??
      ((request) => {
        const address = framework.addressOf(request);
        if (address) return clientKey(address);
        if (framework.hasLeft(request)) throw CLIENT_LEFT;
        throw noAddress();
      });
  }

  /** The limiter behind the gate. */
  get limiter(): RateLimiter {
    return this.#settings.limiter;
  }

  /** The status of a refusal. */
  get statusCode(): number {
    return this.#settings.statusCode;
  }

  /** The JSON that a refusal is to be, when the user gave one. */
  get messageJson(): string | undefined {
    return this.#settings.messageJson;
  }

  /**
   * Decides one request and goes on with the decision, `undefined` when it is to pass uncounted; or with the error,
   * once, when it could not be decided. It goes nowhere when nobody waits for an answer any more.
   */
  run(
    request: Request,
    response: Response,
    goOn: (decision: Decision | undefined) => void,
    fail: (error: Error) => void,
  ): void {
    let decision: Awaitable<Decision | undefined>;
    try {
      decision = this.#decide(request);
    } catch (thrown) {
      failWith(fail, thrown);
      return;
    }
    if (isThenable(decision)) this.#goOnLater(decision, response, goOn, fail);
    else goOn(decision);
  }

  /** Writes the fields that tell the decision, and for a refusal those that tell when to come again. */
  writeFields(response: Response, decision: Decision): void {
    const { sendsFields, resetUnit } = this.#settings;
    const { setField } = this.#framework;
    // Policies that know nothing have nothing to tell but when to come again.
    const knows = decision.degraded !== 'allow' && decision.degraded !== 'deny';
    if (sendsFields && knows) writeRateLimitFields(response, setField, this.#names, decision, resetUnit);
    if (!decision.allowed) writeRefusalFields(response, setField, this.#names, decision);
  }

  /**
   * Passes an accepted request on when its turn has come: at once, unless its limit is a queue. It goes nowhere when by
   * then nobody waits for an answer any more.
   */
  passOn(response: Response, decision: Decision, goOn: () => void): void {
    if (decision.delayMs > 0) {
      const { isAnswered, nodeResponse } = this.#framework;
      holdRequest(this.limiter, nodeResponse(response), decision, () => isAnswered(response), goOn);
    } else goOn();
  }

  /** The text for people: the user's own, when it is a text. */
  messageFor(decision: Decision): string {
    return this.#settings.messageText ?? refusalMessage(decision);
  }

  #goOnLater(
    decision: PromiseLike<Decision | undefined>,
    response: Response,
    goOn: (decision: Decision | undefined) => void,
    fail: (error: Error) => void,
  ): void {
    Promise.resolve(decision)
      .then((decided) => {
        if (!this.#framework.isAnswered(response)) goOn(decided);
        // Meanwhile somebody else, a timeout perhaps, has answered: a place in a queue is free again, what counts stays.
        else if (decided !== undefined && decided.delayMs > 0) toGiveBack(this.limiter, decided)();
      })
      .catch((thrown) => failWith(fail, thrown));
  }

  #decide(request: Request): Awaitable<Decision | undefined> {
    const { skip } = this.#settings;
    if (skip === undefined) return this.#decideCounted(request);
    return andThen(skip(request), (skips) =>
      validate.boolean('skip(request)', skips) ? undefined : this.#decideCounted(request),
    );
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

function failWith(fail: (error: Error) => void, thrown: unknown): void {
  if (thrown !== CLIENT_LEFT) fail(toError(thrown));
}

/** Goes on at once when the value is there, and else when it comes. */
function andThen<Value, Result>(value: Awaitable<Value>, next: (value: Value) => Awaitable<Result>): Awaitable<Result> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}
