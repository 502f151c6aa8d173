import type { Decision, Limits } from '@rollgate/core';
import { hasQuota, isLimit } from '@rollgate/core/store';
import type { HeaderWriter, ResetUnit } from '../base/host.js';
import { ceilSeconds, toRetryAfterSeconds } from '../base/seconds.js';
import { toPolicyValue, toRateLimitValue } from './draft-headers.js';
import { DRAFT_NAMES, type DraftNames } from './draft-names.js';
import { type HeaderNames, selectNames } from './header-names.js';
import type { Headers } from './header-options.js';
import { createPartitionValue, type Partition } from './partition-option.js';
import { compareShares, findScarcestLimit } from './scarcest-limit.js';

/** What the headers describe: the outcome of an allowed or a rejected request. */
export interface DescribedOutcome {
  readonly decision: Decision;
  /** The limits that made the decision. */
  readonly limits: Limits;
  /** Whether the decision holds slots. */
  readonly hasLeases?: boolean;
}

/** The validated options that determine the headers. */
export interface HeaderOptions {
  readonly headers: Headers;
  readonly resetUnit: ResetUnit;
  readonly exposeHeaders: boolean;
  readonly partition: Partition | undefined;
}

/** The responses whose `X-RateLimit-*` describe slots. Any other limiter replaces those. */
const responsesWithSlots = new WeakSet<object>();

/** Writes the headers that describe a decision. */
export class RateLimitHeaders<Target> {
  readonly #writer: HeaderWriter<Target>;
  readonly #names: HeaderNames;
  readonly #hasXRateLimit: boolean;
  /** `undefined` without the headers of a draft. */
  readonly #draft: DraftNames | undefined;
  readonly #toPartitionValue: ((limits: Limits) => string) | undefined;
  readonly #resetUnit: ResetUnit;
  /** Empty unless the option `exposeHeaders` is set. */
  readonly #exposedNames: readonly string[];
  /** The headers that redirections must not carry. Empty unless the option `headers` selects a draft. */
  readonly namesOfDraft: readonly string[];

  constructor(writer: HeaderWriter<Target>, options: HeaderOptions) {
    const { headers, resetUnit, exposeHeaders, partition: dimensions } = options;
    this.#writer = writer;
    this.#toPartitionValue = dimensions && createPartitionValue(dimensions);
    this.#names = selectNames(writer.lowercaseHeaders);
    this.#hasXRateLimit = headers === 'x-ratelimit' || headers === 'all';
    this.#draft = DRAFT_NAMES[headers === 'all' ? 'draft-11' : (headers as keyof typeof DRAFT_NAMES)];
    this.#resetUnit = resetUnit;
    const { limit, remaining, reset, policy, rateLimit, partition, retryAfter } = selectNames(false);
    const xRateLimit = this.#hasXRateLimit ? [limit, remaining, reset] : [];
    const written = [...xRateLimit, ...(this.#draft ? [policy, rateLimit] : []), ...(dimensions ? [partition] : [])];
    this.#exposedNames = exposeHeaders ? [...written, retryAfter] : [];
    // All of them, because another limiter of the response may have written those that this one does not.
    this.namesOfDraft = this.#draft ? [policy, rateLimit, partition] : [];
  }

  /**
   * Writes the headers of an outcome.
   *
   * @param isRedirect Whether the response is a redirection. Where that is known later, the host removes `namesOfDraft` then.
   * @param isEarly Whether {@link expose} adds the exposed names later, when there is a response.
   */
  write(target: Target, outcome: DescribedOutcome, isRedirect = false, isEarly = false): void {
    const { decision, limits } = outcome;
    // The policies 'allow' and 'deny' decide without the limits, so there are no figures to report.
    const hasFigures = decision.degraded !== 'allow' && decision.degraded !== 'deny';
    if (this.#hasXRateLimit && hasFigures) this.#writeXRateLimit(target, outcome);
    if (this.#draft !== undefined && hasFigures && !isRedirect) {
      this.#append(target, this.#names.policy, toPolicyValue(limits, decision));
      this.#append(target, this.#names.rateLimit, toRateLimitValue(decision, this.#draft));
      this.#append(target, this.#names.partition, this.#toPartitionValue?.(limits));
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
    if (missing.length > 0) this.#append(target, this.#names.expose, missing.join(', '));
  }

  #writeXRateLimit(target: Target, { decision, limits, hasLeases }: DescribedOutcome): void {
    const { setHeader, getHeader, getHeadersObject } = this.#writer;
    const names = this.#names;
    let figures: Pick<Decision, 'limit' | 'remaining' | 'resetMs'> = decision;
    if (decision.allowed) {
      // The decision on one limit has that limit's figures.
      if (!isLimit(limits)) figures = findScarcestLimit(decision, limits);
      if (!hasQuota(figures)) return;
      // The time of the next slot is unknown, unlike that of the next unit.
      const isOfSlots = hasLeases && figures === decision && decision.nextUnitMs === undefined;
      const before = getHeader(target, names.remaining);
      if (before !== undefined && (isOfSlots || this.#keepsEarlier(target, before, figures))) return;
      if (isOfSlots) responsesWithSlots.add(target as object);
    }
    const limit = String(hasQuota(figures) ? figures.limit : 0);
    const remaining = String(figures.remaining);
    const sinceMs = this.#resetUnit === 'epoch' ? Date.now() : 0;
    // A block without an end has no reset.
    const reset = figures.resetMs === Infinity ? undefined : String(ceilSeconds(sinceMs + figures.resetMs));
    const headers = getHeadersObject?.(target);
    if (headers === undefined) {
      setHeader(target, names.limit, limit);
      setHeader(target, names.remaining, remaining);
      if (reset !== undefined) setHeader(target, names.reset, reset);
    } else {
      headers[names.limit] = limit;
      headers[names.remaining] = remaining;
      if (reset !== undefined) headers[names.reset] = reset;
    }
  }

  /**
   * Whether the figures of an earlier limiter stay: those of a rejection, and those of a limit with at most the same share
   * left. They are read from the headers, because a property on each response would cost ten times as much. Other code may
   * have set only the remaining units.
   */
  #keepsEarlier(target: Target, remaining: unknown, figures: Pick<Decision, 'limit' | 'remaining'>): boolean {
    const { getHeader } = this.#writer;
    if (responsesWithSlots.delete(target as object)) return false;
    if (getHeader(target, this.#names.retryAfter) !== undefined) return true;
    const limit = Number(getHeader(target, this.#names.limit) ?? figures.limit);
    return compareShares({ remaining: Number(remaining), limit }, figures) <= 0;
  }

  /** Writes `Retry-After` (RFC 9110, section 10.2.3) unless no retry can succeed, and forbids caching of the response. */
  #writeRejection(target: Target, { retryAfterMs }: Decision): void {
    const seconds = toRetryAfterSeconds(retryAfterMs);
    if (seconds !== undefined) this.#writer.setHeader(target, this.#names.retryAfter, String(seconds));
    this.#writer.setHeader(target, this.#names.cacheControl, 'no-store');
  }

  /** Appends a value, if there is one, to that of another limiter or other code. */
  #append(target: Target, name: string, value: string | undefined): void {
    if (!value) return;
    const before = this.#writer.getHeader(target, name);
    this.#writer.setHeader(target, name, before === undefined || before === '' ? value : `${before}, ${value}`);
  }
}
