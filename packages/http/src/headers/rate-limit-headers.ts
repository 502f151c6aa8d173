import type { Cost, Decision, LimitDecision } from '@rollgate/core';
import { hasQuota, isReportedBefore, type ParsedLimits, toRetryAfterSeconds } from '@rollgate/core/store';
import type { HeaderWriter, ResetUnit } from '../host/host.js';
import { limitsByName } from '../limits/limits-by-name.js';

/**
 * The names as they are sent, and in lowercase for a framework that would convert each name of each response. V8 finds a
 * property faster by a name from the source than by one that `toLowerCase` has returned.
 */
const HEADER_NAMES = {
  limit: ['X-RateLimit-Limit', 'x-ratelimit-limit'],
  remaining: ['X-RateLimit-Remaining', 'x-ratelimit-remaining'],
  reset: ['X-RateLimit-Reset', 'x-ratelimit-reset'],
  policy: ['RateLimit-Policy', 'ratelimit-policy'],
  rateLimit: ['RateLimit', 'ratelimit'],
  retryAfter: ['Retry-After', 'retry-after'],
  cacheControl: ['Cache-Control', 'cache-control'],
  expose: ['Access-Control-Expose-Headers', 'access-control-expose-headers'],
} as const;

/** The names of the headers that a limiter writes. */
type HeaderNames = Readonly<Record<keyof typeof HEADER_NAMES, string>>;

/** Returns the names in the form that a host needs. */
function selectNames(isLowercase: boolean): HeaderNames {
  const names = Object.entries(HEADER_NAMES).map(([header, [name, lowercase]]) => [
    header,
    isLowercase ? lowercase : name,
  ]);
  return Object.fromEntries(names);
}

/** Which headers describe the decision. */
export const HEADERS = ['x-ratelimit', 'draft-11', 'all', 'none'] as const;
/** A value of the option `headers`. */
export type Headers = (typeof HEADERS)[number];

/** What the headers describe: the outcome of an allowed or a rejected request. */
export interface DescribedOutcome {
  readonly decision: Decision;
  /** The limits that made the decision. */
  readonly limits: ParsedLimits;
  /** The units that the request takes of them. */
  readonly cost: Cost;
  /** Whether the decision holds slots. */
  readonly hasLeases?: boolean;
}

/** The validated options that determine the headers. */
export interface HeaderOptions {
  readonly headers: Headers;
  readonly resetUnit: ResetUnit;
  readonly exposeHeaders: boolean;
}

/** The figures of a limit that `X-RateLimit-*` describe. */
type Figures = Pick<Decision, 'limit' | 'remaining' | 'resetMs'>;

/** The responses whose `X-RateLimit-*` describe slots. Any other limiter replaces those. */
const responsesWithSlots = new WeakSet<object>();

/** Writes the headers that describe a decision. */
export class RateLimitHeaders<Target> {
  readonly #writer: HeaderWriter<Target>;
  readonly #names: HeaderNames;
  readonly #hasXRateLimit: boolean;
  readonly #hasDraft: boolean;
  readonly #resetUnit: ResetUnit;
  /** Empty unless the option `exposeHeaders` is set. */
  readonly #exposedNames: readonly string[];
  /** The headers that redirections must not carry. Empty unless the option `headers` selects a draft. */
  readonly namesOfDraft: readonly string[];

  constructor(writer: HeaderWriter<Target>, { headers, resetUnit, exposeHeaders }: HeaderOptions) {
    this.#writer = writer;
    this.#names = selectNames(writer.lowercaseHeaders);
    this.#hasXRateLimit = headers === 'x-ratelimit' || headers === 'all';
    this.#hasDraft = headers === 'draft-11' || headers === 'all';
    this.#resetUnit = resetUnit;
    const { limit, remaining, reset, policy, rateLimit, retryAfter } = selectNames(false);
    this.namesOfDraft = this.#hasDraft ? [policy, rateLimit] : [];
    const written = [...(this.#hasXRateLimit ? [limit, remaining, reset] : []), ...this.namesOfDraft];
    this.#exposedNames = exposeHeaders ? [...written, retryAfter] : [];
  }

  /**
   * Writes the headers of an outcome.
   *
   * @param isRedirect Whether the response is a redirection. Where that is known later, the host removes `namesOfDraft` then.
   * @param isEarly Whether {@link expose} adds the exposed names later, when there is a response.
   */
  write(target: Target, outcome: DescribedOutcome, isRedirect = false, isEarly = false): void {
    const { decision } = outcome;
    // The policies 'allow' and 'deny' decide without the limits, so there are no figures to report.
    const hasFigures = decision.degraded === false || decision.degraded === 'fallback';
    if (this.#hasXRateLimit && hasFigures) this.#writeXRateLimit(target, outcome);
    if (this.#hasDraft && hasFigures && !isRedirect) {
      this.#append(target, this.#names.policy, toPolicyValue(outcome.limits, decision));
      this.#append(target, this.#names.rateLimit, toRateLimitValue(decision));
    }
    if (!decision.allowed) this.#writeRejection(target, decision);
    if (this.#exposedNames.length > 0 && !isEarly) this.expose(target);
  }

  /** Whether the option `exposeHeaders` is set. */
  get areExposed(): boolean {
    return this.#exposedNames.length > 0;
  }

  /** Adds the names of the headers to those that the response exposes already. */
  expose(target: Target): void {
    const before = String(this.#writer.getHeader(target, this.#names.expose) ?? '')
      .toLowerCase()
      .split(/[\s,]+/);
    const missing = this.#exposedNames.filter((name) => !before.includes(name.toLowerCase()));
    this.#append(target, this.#names.expose, missing.join(', '));
  }

  #writeXRateLimit(target: Target, outcome: DescribedOutcome): void {
    const { decision, hasLeases } = outcome;
    const names = this.#names;
    const figures: Figures = hasLeases ? withoutSlots(outcome) : decision;
    const { limit, remaining, resetMs } = figures;
    const reset = Math.ceil((this.#resetUnit === 'epoch' ? Date.now() + resetMs : resetMs) / 1000);
    if (decision.allowed) {
      if (limit === Infinity) return; // Of a block, or without a limit that rejects.
      const before = this.#writer.getHeader(target, names.remaining);
      // The time of the next slot is unknown, unlike that of the next unit.
      const isOfSlots = hasLeases && figures === decision && decision.nextUnitMs === undefined;
      if (before !== undefined && (isOfSlots || this.#keepsEarlier(target, Number(before), remaining, reset))) return;
      if (isOfSlots) responsesWithSlots.add(target as object);
    }
    const set = this.#writer.getSetHeader(target);
    set.call(target, names.limit, `${limit === Infinity ? 0 : limit}`);
    set.call(target, names.remaining, `${remaining}`);
    if (reset !== Infinity) set.call(target, names.reset, `${reset}`); // A block without an end has none.
  }

  /**
   * Whether the figures of an earlier limiter stay: those of a rejection, and those that a decision on all limits would report.
   * They are read from the headers, because a property on each response would cost ten times as much.
   */
  #keepsEarlier(target: Target, earlier: number, remaining: number, reset: number): boolean {
    const { getHeader } = this.#writer;
    if (responsesWithSlots.delete(target as object)) return false;
    if (getHeader(target, this.#names.retryAfter) !== undefined) return true;
    if (earlier !== remaining) return earlier < remaining;
    return Number(getHeader(target, this.#names.reset) ?? Infinity) >= reset;
  }

  /** Writes `Retry-After` (RFC 9110, section 10.2.3) unless no retry can succeed, and forbids caching of the response. */
  #writeRejection(target: Target, { retryAfterMs }: Decision): void {
    const set = this.#writer.getSetHeader(target);
    const seconds = toRetryAfterSeconds(retryAfterMs);
    if (seconds !== undefined) set.call(target, this.#names.retryAfter, `${seconds}`);
    set.call(target, this.#names.cacheControl, 'no-store');
  }

  /** Appends a value, if there is one, to that of another limiter or other code. */
  #append(target: Target, name: string, value: string): void {
    if (value === '') return;
    const { getHeader, getSetHeader } = this.#writer;
    const before = getHeader(target, name);
    getSetHeader(target).call(target, name, before === undefined || before === '' ? value : `${before}, ${value}`);
  }
}

/**
 * Returns the figures of the limit that the decision would report without slots. A client with few free slots need not slow
 * down, because they become free when its own requests end. Without another limit, the slots are reported.
 */
function withoutSlots({ decision, limits, cost }: DescribedOutcome): Figures {
  let reported: LimitDecision | undefined;
  for (const [name, limit] of Object.entries(limitsByName(limits))) {
    if (limit.holdsSlots || !hasQuota(limit) || limit.enforced === false) continue;
    if (typeof cost === 'object' && cost[name] === 0) continue;
    const figures = decision.limits[name]!;
    if (reported === undefined || isReportedBefore(figures, reported)) reported = figures;
  }
  return reported ?? decision;
}

/**
 * Whether a response is a redirection, which carries no headers of a draft. Its client would wait for a unit before it follows
 * the redirect (draft-ietf-httpapi-ratelimit-headers-11, section 6). The draft means every status 3xx, so 304, too. A cache
 * would otherwise store the figures with the response that a 304 validates (RFC 9111, section 3.2).
 */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** Rounds up, so that a client that waits this long is not rejected again. */
function ceilSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999;

const clampInteger = (value: number): number => Math.min(value, MAX_INTEGER);

const policyValues = new WeakMap<object, string>();

/**
 * Returns the value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11, section 3): each limit's name, its
 * quota, and its window in seconds. A limit on work in flight has the unit of its quota instead of a window. A limit's name
 * contains no character that a structured field would have to escape. A limit without a quota, or with `enforce: false`, has no policy.
 */
function toPolicies(limits: ParsedLimits): string {
  let value = policyValues.get(limits);
  if (value === undefined) {
    value = Object.entries(limitsByName(limits))
      .filter(([, limit]) => hasQuota(limit) && limit.enforced !== false)
      .map(([name, limit]) => {
        const period = limit.holdsSlots ? 'qu="concurrent-requests"' : `w=${ceilSeconds(limit.windowMicros / 1000)}`;
        return `"${name}";q=${clampInteger(limit.limit)};${period}`;
      })
      .join(', ');
    policyValues.set(limits, value);
  }
  return value;
}

/** Returns the value of `RateLimit-Policy` for this decision. A block that rejects is a quota of 0. */
export function toPolicyValue(limits: ParsedLimits, { violated, limits: results }: Decision): string {
  let value = toPolicies(limits);
  for (const name of violated) if (!hasQuota(results[name]!)) value += `${value && ', '}"${name}";q=0`;
  return value;
}

/**
 * Returns the value of `RateLimit` (section 4): each limit's remaining units, and the seconds until a unit more is free. There
 * are none if the full quota is free, or if the time is unknown. A rejection has only the violated limits, and no time beyond
 * `Retry-After` (section 6), which a `minDifference` makes shorter.
 */
export function toRateLimitValue(decision: Decision): string {
  const { allowed, limits, violated } = decision;
  let value = '';
  for (const name of allowed ? Object.keys(limits) : violated) {
    const { remaining, nextUnitMs = 0, retryAfterMs, enforced } = limits[name]!;
    if (remaining === Infinity || enforced === false) continue; // It has no quota, or rejects nobody.
    value += `${value === '' ? '' : ', '}"${name}";r=${clampInteger(remaining)}`;
    if (nextUnitMs > 0 && nextUnitMs !== Infinity)
      value += `;t=${ceilSeconds(allowed ? nextUnitMs : Math.min(nextUnitMs, retryAfterMs))}`;
  }
  return value;
}
