import type { Decision, Limits } from '@rollgate/core';
import type { GetHeader, HeaderWriter, ResetUnit, SetHeader } from '../base/host.js';
import { ceilSeconds, toRetryAfterSeconds } from '../base/seconds.js';
import { toPolicyValue, toRateLimitValue } from './draft-headers.js';
import type { Headers } from './header-options.js';

const HEADER_NAMES = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
  policy: 'RateLimit-Policy',
  rateLimit: 'RateLimit',
  retryAfter: 'Retry-After',
  cacheControl: 'Cache-Control',
  expose: 'Access-Control-Expose-Headers',
} as const;
type Header = keyof typeof HEADER_NAMES;

/**
 * For a framework that would convert each name of each response. V8 finds a property faster by a name from the source than
 * by one that `toLowerCase` has returned.
 */
const LOWERCASE_NAMES: { readonly [Name in Header]: Lowercase<(typeof HEADER_NAMES)[Name]> } = {
  limit: 'x-ratelimit-limit',
  remaining: 'x-ratelimit-remaining',
  reset: 'x-ratelimit-reset',
  policy: 'ratelimit-policy',
  rateLimit: 'ratelimit',
  retryAfter: 'retry-after',
  cacheControl: 'cache-control',
  expose: 'access-control-expose-headers',
};

/** Writes the headers that describe a decision. */
export class RateLimitHeaders<Response> {
  readonly #setHeader: SetHeader<Response>;
  readonly #getHeader: GetHeader<Response>;
  readonly #getHeadersObject: HeaderWriter<Response>['getHeadersObject'];
  readonly #names: Readonly<Record<Header, string>>;
  readonly #hasXRateLimit: boolean;
  readonly #hasDraft: boolean;
  readonly #resetUnit: ResetUnit;
  readonly #exposedNames: readonly string[];

  constructor(
    { setHeader, getHeader, getHeadersObject, lowercaseHeaders }: HeaderWriter<Response>,
    headers: Headers,
    resetUnit: ResetUnit,
    exposeHeaders: boolean,
  ) {
    this.#setHeader = setHeader;
    this.#getHeader = getHeader;
    this.#getHeadersObject = getHeadersObject;
    this.#names = lowercaseHeaders ? LOWERCASE_NAMES : HEADER_NAMES;
    this.#hasXRateLimit = headers === 'x-ratelimit' || headers === 'all';
    this.#hasDraft = headers === 'draft-11' || headers === 'all';
    this.#resetUnit = resetUnit;
    this.#exposedNames = !exposeHeaders
      ? []
      : [
          ...(this.#hasXRateLimit ? [HEADER_NAMES.limit, HEADER_NAMES.remaining, HEADER_NAMES.reset] : []),
          ...(this.#hasDraft ? [HEADER_NAMES.policy, HEADER_NAMES.rateLimit] : []),
          HEADER_NAMES.retryAfter,
        ];
  }

  /**
   * Writes the headers of a decision. {@link expose} completes them.
   *
   * @param limits The limits that made the decision.
   */
  write(response: Response, decision: Decision, limits: Limits): void {
    // The policies 'allow' and 'deny' decide without the limits, so there are no figures to report.
    const hasFigures = decision.degraded !== 'allow' && decision.degraded !== 'deny';
    if (this.#hasXRateLimit && hasFigures) this.#writeXRateLimit(response, decision);
    if (this.#hasDraft && hasFigures) {
      this.#append(response, this.#names.policy, toPolicyValue(limits));
      this.#append(response, this.#names.rateLimit, toRateLimitValue(decision));
    }
    if (!decision.allowed) this.#writeRejection(response, decision);
  }

  /** If the limiter exposes its headers, adds the names that other code has not exposed already. */
  expose(response: Response): void {
    if (this.#exposedNames.length === 0) return;
    const before = String(this.#getHeader(response, this.#names.expose) ?? '')
      .toLowerCase()
      .split(/[\s,]+/);
    const missing = this.#exposedNames.filter((name) => !before.includes(name.toLowerCase()));
    if (missing.length > 0) this.#append(response, this.#names.expose, missing.join(', '));
  }

  #writeXRateLimit(response: Response, decision: Decision): void {
    // Of several limiters, the one with the least remaining is reported. The header itself keeps the smallest value so
    // far, because a property on each response would cost ten times as much.
    if (decision.allowed) {
      const before = this.#getHeader(response, this.#names.remaining);
      if (before !== undefined && Number(before) <= decision.remaining) return;
    }
    const names = this.#names;
    const limit = String(decision.limit);
    const remaining = String(decision.remaining);
    const sinceMs = this.#resetUnit === 'epoch' ? Date.now() : 0;
    const reset = String(ceilSeconds(sinceMs + decision.resetMs));
    const headers = this.#getHeadersObject?.(response);
    if (headers === undefined) {
      const setHeader = this.#setHeader;
      setHeader(response, names.limit, limit);
      setHeader(response, names.remaining, remaining);
      setHeader(response, names.reset, reset);
    } else {
      headers[names.limit] = limit;
      headers[names.remaining] = remaining;
      headers[names.reset] = reset;
    }
  }

  /** Writes `Retry-After` (RFC 9110, section 10.2.3) unless no retry can succeed, and forbids caching of the response. */
  #writeRejection(response: Response, { retryAfterMs }: Decision): void {
    const seconds = toRetryAfterSeconds(retryAfterMs);
    if (seconds !== undefined) this.#setHeader(response, this.#names.retryAfter, String(seconds));
    this.#setHeader(response, this.#names.cacheControl, 'no-store');
  }

  /** Appends to the value that another limiter or other code has set. */
  #append(response: Response, name: string, value: string): void {
    const before = this.#getHeader(response, name);
    this.#setHeader(response, name, before === undefined || before === '' ? value : `${before}, ${value}`);
  }
}
