import type { Awaitable, Decision, Limits, RateLimiter } from '@rollgate/core';
import { isThenable, refundInBackground } from '@rollgate/core/store';
import { endStarted } from './answer.js';
import { CLIENT_LEFT, Decider } from './decider.js';
import { toError } from './errors.js';
import { publishRequest } from './events.js';
import type { Framework } from './framework.js';
import { DecisionFields } from './header-fields.js';
import { holdRequest } from './hold.js';
import { goOnWith, inTime } from './in-time.js';
import type { HttpOptions } from './options.js';
import { refundWhenAnswered } from './refunds.js';
import { jsonRefusal, problemRefusal, type Rejection, refusalMessage } from './refusal.js';
import { type Settings, toSaid, toSettings } from './settings.js';

/** Sends a request on, or with an error to the framework's error handling; once. */
export type Next = (error?: Error) => void;

/** What an adapter does with what is decided. */
export interface Adapter<Request, Response> {
  /** Notes the decision where the user looks for it. */
  note(request: Request, decision: Decision): void;
  /** Answers a refused request; its fields are set. */
  refuse(request: Request, response: Response, next: Next, decision: Decision): void;
}

/**
 * The way of a request through an adapter: whom it counts for and what it costs, the decision, the fields that tell it,
 * the waiting for its turn, and what it is given back.
 *
 * Nothing is awaited that does not make it necessary: with a store in memory, and functions that answer at once, the
 * request has gone on when `run` returns.
 */
export class Gate<Request, Response> {
  readonly #framework: Framework<Request, Response>;
  readonly #adapter: Adapter<Request, Response>;
  readonly #settings: Settings<Request, Response>;
  readonly #fields: DecisionFields<Response>;
  readonly #decider: Decider<Request>;

  /** @throws TypeError, RangeError naming the option that is wrong. */
  constructor(
    framework: Framework<Request, Response>,
    options: HttpOptions<Request, Limits, Response>,
    adapter: Adapter<Request, Response>,
  ) {
    this.#framework = framework;
    this.#adapter = adapter;
    const settings = toSettings(framework.name, options, framework.ownOptions, framework.resetUnit);
    this.#settings = settings;
    this.#fields = new DecisionFields(framework, settings.headers, settings.resetUnit, settings.exposeHeaders);
    this.#decider = new Decider<Request>(framework, settings);
  }

  /** The limiter behind the gate. */
  get limiter(): RateLimiter {
    return this.#settings.limiter;
  }

  /** The status of a refusal. */
  get statusCode(): number {
    return this.#settings.statusCode;
  }

  /**
   * Decides one request and sends it on, or lets the adapter refuse it; to the error handling, once, when it could not be
   * decided. It goes nowhere when somebody else has answered meanwhile; nor does one that is held, when its client has left.
   */
  run(request: Request, response: Response, next: Next): void {
    let decision: Awaitable<Decision | undefined>;
    try {
      const { mistakes, key, isAllowed } = this.#settings;
      mistakes.lookAt(this.#framework, request, key === undefined || isAllowed !== undefined);
      decision = this.#decider.decide(request);
    } catch (thrown) {
      this.#fail(response, next, thrown);
      return;
    }
    if (isThenable(decision)) this.#settleLater(decision, request, response, next);
    else this.#settle(decision, request, response, next);
  }

  /**
   * Takes back what tells of a refusal, when the user's code lets the request go on after all or fails; not when it hands
   * on an error that is a refusal itself.
   *
   * @returns Whether it did.
   */
  withdraw(response: Response, error?: unknown): boolean {
    if (this.#hasStarted(response) || isRefusal(error, this.statusCode)) return false;
    this.#fields.withdrawRefusal(response);
    return true;
  }

  /**
   * Ends a rejected request's response that has started already: it can no longer carry a status or headers.
   *
   * @returns Whether it had started.
   */
  endIfStarted(response: Response): boolean {
    if (!this.#hasStarted(response)) return false;
    endStarted(this.#framework.nodeResponse(response));
    return true;
  }

  /**
   * What the refusal is to say, as soon as that is known.
   *
   * @throws What the user's function throws, or a TypeError when it returns neither a text nor an object.
   */
  createRejection(request: Request, decision: Decision): Awaitable<Rejection> {
    const { message } = this.#settings;
    if (message.of === undefined) return this.#refusal(message, decision);
    const answer = message.of(request, decision);
    return goOnWith('message', this.#settings.timeoutMs, answer, (said) => this.#refusal(toSaid(said), decision));
  }

  #refusal(message: ReturnType<typeof toSaid>, decision: Decision): Rejection {
    const { problem, statusCode } = this.#settings;
    if (message.error !== undefined) return { error: message.error };
    const text = message.text ?? refusalMessage(decision);
    if (problem) return problemRefusal(statusCode, decision, text, message.members);
    return message.json === undefined ? { text } : jsonRefusal(message.json);
  }

  #settleLater(decision: PromiseLike<Decision | undefined>, request: Request, response: Response, next: Next): void {
    Promise.resolve(decision)
      .then((decided) => {
        if (!this.#framework.isAnswered(response)) this.#settle(decided, request, response, next);
        // Meanwhile somebody else, a timeout perhaps, has answered: a place in a queue is free again, what counts stays.
        else if (decided?.allowed) {
          if (decided.delayMs > 0) refundInBackground(this.limiter, decided);
          else this.#watch(decided, request, response);
        }
      })
      .catch((thrown) => this.#failLater(response, next, thrown));
  }

  /** What cannot be decided goes to the error handling; in a dry run it passes, and the process is warned. */
  #fail(response: Response, next: Next, thrown: unknown): void {
    if (thrown === CLIENT_LEFT) return;
    const { logStarted } = this.#framework;
    if (!this.#settings.dryRun) {
      const error = toError(thrown);
      if (logStarted !== undefined && this.endIfStarted(response)) logStarted(response, error);
      else next(error);
    } else {
      this.#settings.mistakes.failed('ROLLGATE_DRY_RUN_FAILED', thrown);
      next();
    }
  }

  /** The same, unless somebody else has answered: then nobody waits for it. */
  #failLater(response: Response, next: Next, thrown: unknown): void {
    if (!this.#framework.isAnswered(response)) this.#fail(response, next, thrown);
  }

  #settle(decision: Decision | undefined, request: Request, response: Response, next: Next): void {
    if (decision === undefined) {
      next();
      return;
    }
    const { limiter, dryRun, onLimited } = this.#settings;
    this.#adapter.note(request, decision);
    publishRequest(limiter, request, decision, dryRun);
    if (decision.allowed) {
      if (!dryRun) this.#writeFields(response, decision);
      this.#passOn(decision, request, response, next);
    } else if (onLimited === undefined) this.#refuse(decision, request, response, next);
    else this.#refuseAfter(onLimited, decision, request, response, next);
  }

  /** Tells the user of the refusal first: when that fails, nothing tells of one. */
  #refuseAfter(
    onLimited: NonNullable<Settings<Request, Response>['onLimited']>,
    decision: Decision,
    request: Request,
    response: Response,
    next: Next,
  ): void {
    const refuse = () => {
      if (!this.#framework.isAnswered(response)) this.#refuse(decision, request, response, next);
    };
    try {
      const told = onLimited(request, decision);
      if (!isThenable(told)) refuse();
      else {
        inTime('onLimited', told, this.#settings.timeoutMs)
          .then(refuse)
          .catch((thrown) => this.#failLater(response, next, thrown));
      }
    } catch (thrown) {
      this.#fail(response, next, thrown);
    }
  }

  #refuse(decision: Decision, request: Request, response: Response, next: Next): void {
    if (this.#settings.dryRun) next();
    else if (!this.endIfStarted(response)) {
      this.#writeFields(response, decision);
      this.#adapter.refuse(request, response, next, decision);
    }
  }

  #hasStarted(response: Response): boolean {
    return this.#framework.nodeResponse(response).headersSent;
  }

  #writeFields(response: Response, decision: Decision): void {
    if (this.#hasStarted(response)) return;
    this.#fields.write(response, decision, this.#decider.limitsOf(decision));
  }

  /** Passes an accepted request on when its turn has come: at once, unless its limit is a queue. */
  #passOn(decision: Decision, request: Request, response: Response, next: Next): void {
    const { limiter, dryRun } = this.#settings;
    const { isAnswered, nodeResponse } = this.#framework;
    if (decision.delayMs === 0 || dryRun) {
      this.#watch(decision, request, response);
      next();
      return;
    }
    const isOver = () => isAnswered(response);
    holdRequest(limiter, nodeResponse(response), decision, isOver, () => {
      this.#watch(decision, request, response);
      next();
    });
  }

  /** Waits for the answer, if what the request took depends on it. */
  #watch(decision: Decision, request: Request, response: Response): void {
    const { limiter, refunds } = this.#settings;
    if (refunds === undefined) return;
    refundWhenAnswered(limiter, refunds, this.#framework.nodeResponse(response), request, response, decision);
  }
}

/** Whether an error of the user's says, by its status, that the client is to come again later. */
function isRefusal(error: unknown, statusCode: number): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { status, statusCode: own = status } = error as { status?: unknown; statusCode?: unknown };
  return own === statusCode || own === 429 || own === 503;
}
