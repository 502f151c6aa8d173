import { isConstant, isLimit } from '../limits/limit.js';
import { getOrInsert } from '../util/get-or-insert.js';
import { withCode } from '../validation/error-codes.js';
import { invalidLimits, LIMIT } from '../validation/errors.js';
import { formatValue, invalidOption, optionError, validateOptionNames } from '../validation/validate.js';
import { toPlan } from './constant-limits.js';
import type { Limits, ParsedLimits } from './keys-and-limits.js';
import { toParsedLimits } from './parse-limits.js';
import { isLimitName, type Keys, type Plan, type Rule, unknownLimitMessage } from './plan.js';

/** What a list of limits should be. */
const NAMED_LIMITS = 'a record that names each limit, such as `{ burst: rollingWindow({ … }) }`';

/** What the keys of some limits should be. */
const SOME_KEYS = 'a string or a number, or a record with one for at least one limit';

/** What the keys of all limits should be. */
const KEYS = 'a string or a number, or a record with one per limit';

/** What a key should be instead of a large integer, which shares its number with others: 2^53 + 1 is 2^53. */
const SAFE_KEY = 'a string or a bigint in place of an integer that is not safe';

/**
 * Creates the plan that decides by these limits.
 *
 * @throws TypeError if `limits` is neither a limit nor a record of at least one.
 */
export function createPlan(prefix: string, limits: unknown): Plan {
  if (isLimit(limits)) return createPlan(prefix, { default: limits });
  if (Array.isArray(limits) && limits.length > 0) throw invalidOption('limits', NAMED_LIMITS, limits);
  if (typeof limits !== 'object' || limits === null || Object.keys(limits).length === 0) {
    throw invalidLimits(limits);
  }
  return toPlan(
    prefix,
    Object.entries(limits).flatMap(([name, limit]) => createRules(prefix, name, limit)),
  );
}

/** Returns the rule of the limit, and that of its block if it has one. */
function createRules(prefix: string, name: string, limit: unknown): Rule[] {
  if (!isLimitName(name)) {
    const message = `Expected each name in \`limits\` to start with a letter or digit and to have at most 64 letters, digits, '_', '.' or '-', got ${formatValue(name)}`;
    throw optionError(message);
  }
  if (!isLimit(limit)) throw invalidOption(`limits.${name}`, LIMIT, limit);
  const violated = limit.usageOf || limit.enforced === false ? undefined : Object.freeze([name]);
  return [limit, isConstant(limit) ? undefined : limit.blockFor]
    .filter(isLimit)
    .map((limit) => ({ name, limit, namespace: `${prefix}:${name}:${limit.algorithm}`, violated }));
}

/**
 * Returns the plan of the limits for which `key` has a key. It is `plan` itself if these are all.
 *
 * @throws TypeError if a record of keys is empty or names an unknown limit.
 */
export function selectLimits(plan: Plan, key: unknown): Plan {
  if (typeof key !== 'object' || key === null) return plan;
  validateNames(
    plan.rules.map(({ name }) => name),
    key,
  );
  const select = ({ rules }: Plan) => rules.filter(({ name }) => Object.hasOwn(key, name));
  const rules = select(plan);
  if (rules.length === plan.rules.length) return plan;
  if (rules.length === 0) throw invalidKey('key', SOME_KEYS, key);
  const { prefix, fallback } = plan;
  return toPlan(prefix, rules, fallback && toPlan(prefix, select(fallback)));
}

/**
 * Returns the keys in the order of the plan's rules.
 *
 * @throws TypeError if a key is neither a string nor a number, is an integer that is not safe, is empty or missing, or names an unknown
 * limit.
 */
export function resolveKeys(plan: Plan, key: unknown): Keys {
  return typeof key === 'object' && key !== null ? resolveKeyRecord(plan, key) : resolveKey('key', KEYS, key);
}

function resolveKey(name: string, expected: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw invalidKey(name, SAFE_KEY, value);
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value);
  throw invalidKey(name, value === '' ? 'a string of at least one character' : expected, value);
}

function resolveKeyRecord(plan: Plan, key: object): Keys {
  const names = plan.rules.map(({ name }) => name);
  if (!names.some((name) => Object.hasOwn(key, name)) && isNoRecord(key)) throw invalidKey('key', KEYS, key);
  validateNames(names, key);
  const keys = plan.rules.map(({ name }) => {
    const value = Object.hasOwn(key, name) ? (key as Record<string, unknown>)[name] : undefined;
    return resolveKey(`key.${name}`, 'a string or a number', value);
  });
  // Equal keys count as one key, so that `wait` puts all their callers into one queue.
  return keys.every((value) => value === keys[0]) ? keys[0]! : keys;
}

/** Whether the object is empty or an instance of a class, such as the ID of a document. */
function isNoRecord(key: object): boolean {
  const prototype = Object.getPrototypeOf(key);
  return Object.keys(key).length === 0 || (prototype !== null && Object.getPrototypeOf(prototype) !== null);
}

/** @throws TypeError if a record of keys has another name than these. */
export function validateNames(names: readonly string[], key: object): void {
  for (const name of Object.keys(key)) {
    if (names.includes(name)) continue;
    throw withCode('ERR_ROLLGATE_INVALID_KEY', new TypeError(unknownLimitMessage('key', name, names)));
  }
}

/** Empty keys are rejected, because all clients without an identity would share one limit. */
function invalidKey(name: string, expected: string, value: unknown): TypeError {
  return withCode('ERR_ROLLGATE_INVALID_KEY', invalidOption(name, expected, value));
}

/** The message for a call without limits to a limiter that has none. */
const MISSING_LIMITS =
  'Expected `limits` with this call, got none. The limits of this limiter are `null` or a function. Pass those of the client, such as `peek(key, { limits })`';

const CHECK_OPTIONS = ['cost', 'limits'] as const;

/** The plan of a limiter's limits, and those of limits that callers pass. */
export class Plans {
  readonly #create: (limits: ParsedLimits) => Plan;
  readonly #own: Plan | undefined;
  /** An application passes few limits and uses each often. */
  readonly #passed = new WeakMap<object, Plan>();

  /**
   * @param complete Adds what else decides by limits to their plan.
   * @throws TypeError if `limits` is neither a limit, a record of at least one, nor `null`.
   */
  constructor(prefix: string, limits: Limits | null, complete: (plan: Plan, limits: ParsedLimits) => Plan) {
    this.#create = (given) => complete(createPlan(prefix, given), given);
    this.#own = limits === null ? undefined : this.#create(toParsedLimits(limits));
  }

  /**
   * The plan of the limiter's own limits.
   *
   * @throws TypeError if it has none.
   */
  get own(): Plan {
    if (this.#own !== undefined) return this.#own;
    throw withCode('ERR_ROLLGATE_MISSING_LIMITS', new TypeError(MISSING_LIMITS));
  }

  /**
   * Returns the plan of the limits in the options of a call, or the limiter's own one without any.
   *
   * @throws TypeError if the options of a check have another name, or if `limits` is invalid.
   */
  of(options: { readonly limits?: Limits | undefined } | undefined): Plan {
    if (options === undefined) return this.own;
    let areKnown = typeof options === 'object' && options !== null;
    // Without a list of the names, which would take longer than the decision.
    for (const name in options) areKnown &&= name === 'cost' || name === 'limits';
    if (!areKnown) validateOptionNames('check', options, CHECK_OPTIONS);
    const { limits } = options;
    if (limits === undefined) return this.own;
    const parsed = toParsedLimits(limits);
    return getOrInsert(this.#passed, parsed, () => this.#create(parsed));
  }
}
