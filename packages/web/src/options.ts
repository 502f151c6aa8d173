import type { Limits, NameOf } from '@rollgate/core';
import type { Awaitable, HttpOptions, RequestKey } from '@rollgate/http';

/** A call of a handler: the request, and what the platform passes in addition. */
export interface WebCall {
  readonly request: Request;
  readonly info: unknown;
  readonly rest: readonly unknown[];
}

/**
 * The options of `rateLimit`: the settings of one rolling window or `limits`, and the options of all adapters.
 *
 * @typeParam Info The second argument of the platform's handlers, such as Deno's `info`, Bun's server or a Worker's `env`.
 */
export type RateLimitOptions<
  // biome-ignore lint/suspicious/noExplicitAny: each platform passes something else, and `unknown` would need annotations.
  Info = any,
  Given extends Limits = Limits,
> = OmitEach<HttpOptions<Request, Given, Response>, 'key'> & {
  /**
   * Returns the client's address. Each platform has its own way to get it, so choose your platform's function, such as
   * `denoAddress`. Required with `allowList`, and unless `key` identifies clients another
   * way.
   */
  address?: ((request: Request, info: Info) => string | undefined) | undefined;
  /**
   * Returns the key that a request counts for, such as the ID of its user, or one key for each limit. By default, and where it
   * returns `undefined` or `null`, the key is the client's address, with IPv6 addresses cut to their first `ipv6Prefix` bits. Such
   * an address never equals a key that the function returns. `clientKey()` returns the address, to combine it with something else.
   * A request without an address fails then, and so does one without the option `address`.
   */
  key?: ((request: Request, info: Info, clientKey: () => string) => Awaitable<RequestKey<NameOf<Given>>>) | undefined;
};

/** `Omit` for each member of a union. */
type OmitEach<Union, Name extends PropertyKey> = Union extends unknown ? Omit<Union, Name> : never;

/** Converts functions of the request to functions of the call. All options that are functions take the request, except one. */
export function toCallOptions(options: RateLimitOptions): HttpOptions<WebCall, Limits, Response> {
  const converted = Object.entries(options).map(([name, option]) => {
    if (typeof option !== 'function' || name === 'fallbackLimits') return [name, option];
    const ofRequest = option as (request: Request, ...rest: unknown[]) => unknown;
    return name === 'key' || name === 'address'
      ? [name, ({ request, info }: WebCall, clientKey?: unknown) => ofRequest(request, info, clientKey)]
      : [name, ({ request }: WebCall, ...rest: unknown[]) => ofRequest(request, ...rest)];
  });
  return Object.fromEntries(converted);
}
