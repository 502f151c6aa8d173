import { type Decision, type Limits, speaksBefore } from '@rollgate/core';
import type { Framework } from './framework.js';
import type { ResetUnit } from './options.js';
import { policyField, rateLimitField } from './policies.js';
import { wholeSeconds } from './whole-seconds.js';

/** Sets one header field of a framework's response. */
export type SetField<Response> = (response: Response, name: string, value: string) => void;
/** What a header field of a framework's response was set to. */
export type GetField<Response> = (response: Response, name: string) => unknown;

/** Which fields tell a decision. */
export const HEADERS = ['x-ratelimit', 'draft-11', 'all', 'none'] as const;
export type Headers = (typeof HEADERS)[number];

const FIELDS = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
  policy: 'RateLimit-Policy',
  rateLimit: 'RateLimit',
  retryAfter: 'Retry-After',
  cacheControl: 'Cache-Control',
  expose: 'Access-Control-Expose-Headers',
};
type FieldNames = Readonly<typeof FIELDS>;

/** In lower case for a framework that would put them so itself, once for each field of each answer. */
function fieldNames(inLowerCase: boolean): FieldNames {
  if (!inLowerCase) return FIELDS;
  return Object.fromEntries(Object.entries(FIELDS).map(([field, name]) => [field, name.toLowerCase()])) as FieldNames;
}

/** On a response, the decision that its X-RateLimit fields tell: of several limiters, the one that leaves least. */
const told = Symbol('the decision told');

/** Writes the fields that tell a client what was decided. */
export class DecisionFields<Response> {
  readonly #setField: SetField<Response>;
  readonly #getField: GetField<Response>;
  readonly #names: FieldNames;
  readonly #usual: boolean;
  readonly #draft: boolean;
  readonly #resetUnit: ResetUnit;
  readonly #exposed: readonly string[];

  constructor(
    {
      setField,
      getField,
      lowerCaseFields,
    }: Pick<Framework<never, Response>, 'setField' | 'getField' | 'lowerCaseFields'>,
    headers: Headers,
    resetUnit: ResetUnit,
    exposesHeaders: boolean,
  ) {
    this.#setField = setField;
    this.#getField = getField;
    this.#names = fieldNames(lowerCaseFields);
    this.#usual = headers === 'x-ratelimit' || headers === 'all';
    this.#draft = headers === 'draft-11' || headers === 'all';
    this.#resetUnit = resetUnit;
    this.#exposed = !exposesHeaders
      ? []
      : [
          ...(this.#usual ? [FIELDS.limit, FIELDS.remaining, FIELDS.reset] : []),
          ...(this.#draft ? [FIELDS.policy, FIELDS.rateLimit] : []),
          FIELDS.retryAfter,
        ];
  }

  /** Tells a decision, `limits` being those that made it, and when it refuses, when to come again. */
  write(response: Response, decision: Decision, limits: Limits): void {
    // Policies that know nothing have nothing to tell but when to come again.
    const knows = decision.degraded !== 'allow' && decision.degraded !== 'deny';
    if (this.#usual && knows) this.#writeUsual(response, decision);
    if (this.#draft && knows) {
      this.#appendPolicy(response, policyField(limits));
      this.#append(response, this.#names.rateLimit, rateLimitField(decision));
    }
    if (!decision.allowed) this.#writeRefusal(response, decision);
    if (this.#exposed.length > 0) this.#expose(response);
  }

  /** The limit that speaks for the whole, in the fields that most clients know. */
  #writeUsual(response: Response, decision: Decision): void {
    const before = (response as { [told]?: Decision })[told];
    if (before !== undefined && !speaksBefore(decision, before)) return;
    (response as { [told]?: Decision })[told] = decision;
    const setField = this.#setField;
    const names = this.#names;
    setField(response, names.limit, String(decision.limit));
    setField(response, names.remaining, String(decision.remaining));
    const sinceMs = this.#resetUnit === 'epoch' ? Date.now() : 0;
    setField(response, names.reset, String(wholeSeconds(sinceMs + decision.resetMs)));
  }

  /**
   * Tells when to come again (RFC 9110, section 10.2.3), unless never, and that the answer is for this moment only.
   */
  #writeRefusal(response: Response, { retryAfterMs }: Decision): void {
    const seconds = retryAfterSeconds(retryAfterMs);
    if (seconds !== undefined) this.#setField(response, this.#names.retryAfter, String(seconds));
    this.#setField(response, this.#names.cacheControl, 'no-store');
  }

  /** To what is there, of other limiters or of somebody else. */
  #append(response: Response, name: string, value: string): void {
    const before = this.#getField(response, name);
    this.#setField(response, name, before === undefined || before === '' ? value : `${before}, ${value}`);
  }

  /** Not twice, for a limiter that decides twice about a request. */
  #appendPolicy(response: Response, value: string): void {
    const before = String(this.#getField(response, this.#names.policy) ?? '');
    if (before !== value && !before.endsWith(`, ${value}`)) this.#append(response, this.#names.policy, value);
  }

  /** Names that others have exposed already are not repeated. */
  #expose(response: Response): void {
    const before = String(this.#getField(response, this.#names.expose) ?? '')
      .toLowerCase()
      .split(/[\s,]+/);
    const missing = this.#exposed.filter((name) => !before.includes(name.toLowerCase()));
    if (missing.length > 0) this.#append(response, this.#names.expose, missing.join(', '));
  }
}

/** At least 1, for 0 would tell the client to come again at once; `undefined` for never. */
export function retryAfterSeconds(retryAfterMs: number): number | undefined {
  return retryAfterMs === Infinity ? undefined : Math.max(1, wholeSeconds(retryAfterMs));
}
