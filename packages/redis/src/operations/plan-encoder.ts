import type { Limit } from '@rollgate/core';
import { getOrInsert, isPlainWindow, type Plan } from '@rollgate/core/store';
import { partOfScript, type ScriptParts, scriptNameOf, toRuleText } from './algorithm-registry.js';
import { type ClusterSlot, createKeyBuilder, type KeyBuilder } from './redis-keys.js';

/** A plan in the form that the scripts read, and its Redis keys. */
export interface EncodedPlan {
  readonly plan: Plan;
  /** The rules as the scripts read them. Plans with equal rules have equal texts. {@link encodePeriods} replaces it. */
  text: string;
  /** The limit and the window of the only rule, if that is all that a script needs to know about it. */
  readonly plainWindow: readonly [limit: string, windowMicros: string] | undefined;
  /** Whether the only rule never rejects, so that it tests before it records. */
  readonly isUnenforced: boolean;
  /** The optional parts of the script that the plan needs. */
  readonly parts: ScriptParts;
  /** Whether a denial may be kept. A limit that counts rejected attempts changes it, and the end of a lease may end it at any time. */
  readonly isCacheable: boolean;
  readonly buildKeys: KeyBuilder;
}

/** Encodes plans, each of them once. */
export class PlanEncoder {
  readonly #encoded = new WeakMap<Plan, EncodedPlan>();

  constructor(
    /** `undefined` without a Cluster. */
    private readonly clusterSlot: ClusterSlot | undefined,
  ) {}

  /**
   * @param clockMicros The injected clock's time, near which the first check will be.
   * @throws TypeError if no script implements the algorithm of one of the limits.
   */
  encode(plan: Plan, clockMicros?: number): EncodedPlan {
    return (
      this.#encoded.get(plan) ??
      getOrInsert(this.#encoded, plan, () => encodePlan(plan, this.clusterSlot, clockMicros ?? Date.now() * 1000))
    );
  }
}

/** Encodes the periods of this time, because the script has found none that contains it. */
export function encodePeriods(encoded: EncodedPlan, nowMicros: number): void {
  encoded.text = toText(encoded.plan, nowMicros);
}

/** Encodes the same keys with other settings of the limits that have these names. */
export function encodeWith(encoded: EncodedPlan, limits: Readonly<Record<string, Limit>>): EncodedPlan {
  const rules = encoded.plan.rules.map((rule) =>
    Object.hasOwn(limits, rule.name) ? { ...rule, limit: limits[rule.name]! } : rule,
  );
  const plan = { ...encoded.plan, rules };
  return { ...encoded, plan, text: toText(plan, Date.now() * 1000) };
}

function toText({ rules }: Plan, nowMicros: number): string {
  return rules.map(({ limit }) => toRuleText(limit, nowMicros)).join(' ');
}

function encodePlan(plan: Plan, clusterSlot: ClusterSlot | undefined, nowMicros: number): EncodedPlan {
  const { rules } = plan;
  const only = rules.length === 1 ? rules[0]!.limit : undefined;
  return {
    plan,
    text: toText(plan, nowMicros),
    plainWindow: only && isPlainWindow(only) ? [String(only.limit), String(only.windowMicros)] : undefined,
    isUnenforced: only?.enforced === false,
    parts: rules.reduce((parts, { limit }) => parts | partOfScript(scriptNameOf(limit)), 0),
    isCacheable: rules.every(({ limit }) => !limit.countRejected && !limit.leaseMicros),
    buildKeys: createKeyBuilder(plan, clusterSlot),
  };
}
