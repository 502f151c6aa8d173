import type { Decision, Limits } from '@rollgate/core';
import type { Framework, GetHeader, SetHeader } from './framework.js';
import type { Headers, ResetUnit } from './header-options.js';
import { policyField, rateLimitField } from './policies.js';
import { wholeSeconds } from './whole-seconds.js';

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

/** On a response, what `Cache-Control` was before it was refused. */
const kept = Symbol('the Cache-Control kept');

/** Writes the fields that tell a client what was decided. */
export class DecisionFields<Response> {
  readonly #setField: SetHeader<Response>;
  readonly #getField: GetHeader<Response>;
  readonly #removeField: (response: Response, name: string) => void;
  readonly #names: FieldNames;
  readonly #usual: boolean;
  readonly #draft: boolean;
  readonly #resetUnit: ResetUnit;
  readonly #exposed: readonly string[];

  constructor(
    {
      setField,
      getField,
      removeField,
      lowerCaseFields,
    }: Pick<Framework<never, Response>, 'setField' | 'getField' | 'removeField' | 'lowerCaseFields'>,
    headers: Headers,
    resetUnit: ResetUnit,
    exposesHeaders: boolean,
  ) {
    this.#setField = setField;
    this.#getField = getField;
    this.#removeField = removeField;
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
      this.#append(response, this.#names.policy, policyField(limits));
      this.#append(response, this.#names.rateLimit, rateLimitField(decision));
    }
    if (!decision.allowed) this.#writeRefusal(response, decision);
    if (this.#exposed.length > 0) this.#expose(response);
  }

  /** The limit that speaks for the whole, in the fields that most clients know. */
  #writeUsual(response: Response, decision: Decision): void {
    // Of several limiters the one that leaves least is told. What they have told stands in the field: a property of its own
    // on each response would cost ten times as much.
    const before = this.#getField(response, this.#names.remaining);
    if (before !== undefined && decision.allowed && Number(before) <= decision.remaining) return;
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
    const before = this.#getField(response, this.#names.cacheControl);
    if (before !== undefined) (response as { [kept]?: unknown })[kept] = before;
    this.#setField(response, this.#names.cacheControl, 'no-store');
  }

  /** Takes back what tells a refusal: the request goes on after all, or has failed. */
  withdrawRefusal(response: Response): void {
    const before = (response as { [kept]?: unknown })[kept];
    this.#removeField(response, this.#names.retryAfter);
    if (before === undefined) this.#removeField(response, this.#names.cacheControl);
    else this.#setField(response, this.#names.cacheControl, String(before));
  }

  /** To what is there, of other limiters or of somebody else. */
  #append(response: Response, name: string, value: string): void {
    const before = this.#getField(response, name);
    this.#setField(response, name, before === undefined || before === '' ? value : `${before}, ${value}`);
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
