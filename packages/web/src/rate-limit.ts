import type { Limits, RateLimiter } from '@rollgate/core';
import {
  type Awaitable,
  type HasLimits,
  type LimitSource,
  type RateLimitResult,
  type WebHost,
  WebLimiter,
} from '@rollgate/http';
import { type RateLimitOptions, toCallOptions, type WebCall } from './options.js';

// biome-ignore lint/suspicious/noExplicitAny: platforms pass further arguments, which are not the limiter's concern.
type Rest = any[];

/** What a platform passes in addition to the request. It may be left out if `Info` may be `undefined`. */
type PlatformArguments<Info> = undefined extends Info ? [info?: Info, ...rest: Rest] : [info: Info, ...rest: Rest];

/**
 * A handler of requests by the Fetch standard, with the arguments that its platform passes. On Bun, it returns `undefined`
 * after it has upgraded the connection.
 *
 * @typeParam Info What the platform passes as the second argument.
 * @typeParam Req The platform's kind of request, such as `NextRequest`.
 * @typeParam Res The platform's kind of response, or `undefined`.
 */
export type Handler<Info, Req extends Request = Request, Res extends Response | undefined = Response> = (
  request: Req,
  info: Info,
  ...rest: Rest
) => Awaitable<Res>;

/** Wraps a handler, or checks requests one by one. */
export interface RateLimitMiddleware<
  // biome-ignore lint/suspicious/noExplicitAny: see `RateLimitOptions`.
  Info = any,
  Given extends Limits = Limits,
  HasLimits extends boolean = boolean,
> {
  /** Returns a handler that responds to rejected requests, and adds headers to the responses to all others. */
  <Req extends Request = Request, Res extends Response | undefined = Response>(
    handler: Handler<Info, Req, Res>,
  ): (request: Req, ...platform: PlatformArguments<Info>) => Promise<Response | Exclude<Res, Response>>;
  /**
   * Checks a request. With a queue, it resolves at the request's start.
   *
   * @throws The error of an option function. An `AbortError` if the client has disconnected. The promise rejects with it.
   */
  check(request: Request, ...platform: PlatformArguments<Info>): Promise<RateLimitResult>;
  /** The limiter, to peek or reset a key. */
  readonly limiter: RateLimiter<Given, HasLimits>;
}

const WEB: WebHost<WebCall> = {
  name: 'rateLimit',
  ownOptions: ['address'],
  resetUnit: 'delta',
  getRequest: ({ request }) => request,
  getOriginalRequest: ({ request }) => request,
  getRequestHeader: ({ request }, name) => request.headers.get(name),
  isDisconnected: ({ request }) => request.signal?.aborted ?? false,
  keepAlive: ({ info, rest }, promise) => [info, ...rest].find(hasWaitUntil)?.waitUntil(promise),
};

/**
 * Creates a limiter for handlers that turn a `Request` into a `Response`. Deno, Bun and Cloudflare Workers call such
 * handlers, and so do Next.js and SvelteKit.
 *
 * The responses carry the `X-RateLimit-*` headers. A rejected request gets a 429 response with an exact `Retry-After`. With
 * a queue such as `leakyBucket`, it delays a request until its start.
 *
 * @throws TypeError, RangeError with the name of the invalid option.
 * @example
 * ```ts
 * import { rateLimit } from '@rollgate/web';
 *
 * const limit = rateLimit({ limit: 1, window: '1m', key: (request) => request.headers.get('authorization') ?? 'anonymous' });
 * const handler = limit(() => new Response('hello'));
 * (await handler(new Request('http://localhost/'), {})).status; // => 200
 * (await handler(new Request('http://localhost/'), {})).status; // => 429
 * ```
 */
export function rateLimit<
  // biome-ignore lint/suspicious/noExplicitAny: see `RateLimitOptions`.
  Info = any,
  Given extends Limits = Limits,
  Source = unknown,
>(options: RateLimitOptions<Info, Given> & LimitSource<Source>): RateLimitMiddleware<Info, Given, HasLimits<Source>> {
  const limiter = new WebLimiter(WEB, toCallOptions((options ?? {}) as RateLimitOptions));

  const wrap =
    (handler: Handler<Info | undefined, Request, Response | undefined>) =>
    async (request: Request, info?: Info, ...rest: Rest): Promise<Response | undefined> => {
      const result = await limiter.check({ request, info, rest });
      if (!result.allowed) return result.response();
      let response: Response | undefined;
      try {
        response = await handler(request, info, ...rest);
      } catch (error) {
        result.fail();
        throw error;
      }
      return result.withHeaders(response);
    };

  const check = async (request: Request, info?: Info, ...rest: Rest) => limiter.check({ request, info, rest });
  return Object.assign(wrap, { check, limiter: limiter.limiter }) as never;
}

interface EventContext {
  waitUntil(promise: Promise<unknown>): void;
}

/** Whether an argument is the context of Cloudflare and others, whose `waitUntil` keeps the code running. */
function hasWaitUntil(argument: unknown): argument is EventContext {
  return typeof (argument as Partial<EventContext> | null | undefined)?.waitUntil === 'function';
}
