import type { ClosingLimit } from '../limits/capabilities.js';
import { type Mode, records, type State, type Verdict } from '../limits/limit.js';
import { selectLimits } from '../plan/create-plan.js';
import type { Plan, Rule } from '../plan/plan.js';
import { parseDuration } from '../validation/duration.js';
import { withCode } from '../validation/error-codes.js';
import type { BlockingLimit } from './blocking-limit.js';

// The numbers of the state.
/** When the key opens. */
const END = 0;
/** The longest block of this life of the key. A key that is closed for more than twice as long has the end of a wrong clock. */
const LONGEST = 1;

/** The end and the length of a block without an end. The numbers of a state are finite, and no time is as late. */
const FOREVER = Number.MAX_SAFE_INTEGER;

/**
 * A limit without a quota. It allows everything until `block` of the limiter closes a key for a time. While a key is
 * closed, it rejects with `reason: 'blocked'` and the exact wait. The longest of several blocks decides, and `reset`
 * opens the key.
 *
 * Neither a check nor a charge changes a block. Its `limit` is `Infinity`, and so is `remaining` while the key is open.
 *
 * @example
 * ```ts
 * import { block, RateLimiter, rollingWindow } from '@rollgate/core';
 *
 * const limiter = new RateLimiter({
 *   limits: { attempts: rollingWindow({ limit: 5, window: '1m' }), blocked: block() },
 * });
 * await limiter.block({ blocked: 'ann' }, '1h');
 * const decision = await limiter.check('ann');
 * decision.reason; // => 'blocked'
 * decision.violated; // => ['blocked']
 * await limiter.reset({ blocked: 'ann' });
 * (await limiter.check('ann')).allowed; // => true
 * ```
 */
export function block(): Block {
  return new Block(0);
}

/** See {@link block}. Immutable. */
export class Block implements BlockingLimit, ClosingLimit {
  readonly algorithm = 'block';
  /** `Infinity`, because a block has no quota. */
  readonly limit: number = Infinity;
  readonly countRejected = false;
  readonly stateSize = 2;
  /** For how long a record closes the key. 0 for the limit of a check, which closes none. */
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly testsOnly: boolean;

  constructor(lengthMicros: number) {
    this.windowMicros = this.keepMicros = lengthMicros;
    this.testsOnly = lengthMicros === 0;
    Object.freeze(this);
  }

  /** Returns the limit whose record closes a key for so long. */
  lasting(duration: unknown): Block {
    return new Block(duration === Infinity ? FOREVER : parseDuration('duration', duration, ', or Infinity') * 1000);
  }

  toBlockingPlan(plan: Plan, key: unknown, duration: unknown): Plan {
    const closed = this.lasting(duration);
    const close = ({ rules, fallback, ...rest }: Plan): Plan => ({
      ...rest,
      rules: rules.flatMap((rule) => closeRule(rule, closed, key)),
      fallback: fallback && close(fallback),
    });
    return close(selectLimits(plan, key));
  }

  create({ numbers, start }: State): void {
    numbers[start + END] = -Infinity;
    numbers[start + LONGEST] = 0;
  }

  expiresMicros({ numbers, start }: State): number {
    return toTime(numbers[start + END]!);
  }

  isPlausible({ numbers, start }: State, nowMicros: number): boolean {
    return numbers[start + END]! - nowMicros <= 2 * numbers[start + LONGEST]!; // Always, without an end.
  }

  describe({ numbers, start }: State): unknown {
    return { endMicros: numbers[start + END], longestMicros: numbers[start + LONGEST] };
  }

  apply({ numbers, start }: State, nowMicros: number, _cost: number, verdict: Verdict, mode: Mode): void {
    verdict.waitMicros = Math.max(0, toTime(numbers[start + END]!) - nowMicros);
    verdict.reason = 'blocked';
    verdict.delayMicros = 0;
    verdict.atMicros = nowMicros;
    if (records(mode, verdict.waitMicros)) {
      const length = this.windowMicros;
      numbers[start + END] = Math.max(numbers[start + END]!, length === FOREVER ? FOREVER : nowMicros + length);
      numbers[start + LONGEST] = Math.max(numbers[start + LONGEST]!, length);
    }
    const endMicros = toTime(numbers[start + END]!);
    const leftMicros = Math.max(0, endMicros - nowMicros);
    verdict.remaining = leftMicros > 0 ? 0 : Infinity;
    verdict.resetMicros = verdict.nextUnitMicros = leftMicros;
    verdict.expiresMicros = endMicros;
  }

  /** Does nothing, because only a reset opens a key. */
  refund(): void {}
}

function toTime(end: number): number {
  return end === FOREVER ? Infinity : end;
}

/** Returns the rule with the limit that closes its key. Of one key for all limits, only the blocks use it. */
function closeRule(rule: Rule, closed: Block, key: unknown): Rule[] {
  if (rule.limit.algorithm === closed.algorithm) return [{ ...rule, limit: closed }];
  if (typeof key !== 'object') return [];
  const message = `Expected \`key\` to name only limits of \`block()\`, got \`${rule.name}\``;
  throw withCode('ERR_ROLLGATE_INVALID_KEY', new TypeError(message));
}
