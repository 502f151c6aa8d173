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
  readonly #exposed: string | undefined;

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
    const exposed = [
      ...(this.#usual ? [FIELDS.limit, FIELDS.remaining, FIELDS.reset] : []),
      ...(this.#draft ? [FIELDS.policy, FIELDS.rateLimit] : []),
      FIELDS.retryAfter,
    ];
    this.#exposed = exposesHeaders ? exposed.join(', ') : undefined;
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
    if (this.#exposed !== undefined) this.#append(response, this.#names.expose, this.#exposed);
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
    if (before === undefined || before === '') this.#setField(response, name, value);
    else if (!isListed(String(before), value)) this.#setField(response, name, `${before}, ${value}`);
  }
}

/** Whether all that is to be said stands there already: names of fields that were exposed before. */
const isListed = (list: string, value: string) => list === value || list.endsWith(`, ${value}`);

/** At least 1, for 0 would tell the client to come again at once; `undefined` for never. */
export function retryAfterSeconds(retryAfterMs: number): number | undefined {
  return retryAfterMs === Infinity ? undefined : Math.max(1, wholeSeconds(retryAfterMs));
}
