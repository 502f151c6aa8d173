import type { Costs, Keys, Plan } from '@rollgate/core/store';
import type { CheckInput } from './operations.js';
import { type EncodedPlan, encodePlan } from './plan-encoding.js';
import type { ClusterSlot } from './redis-keys.js';

/** Turns the arguments of a store's methods into those of operations. Encodes each plan once. */
export class CheckInputs {
  /** `undefined` without a Cluster. */
  readonly #clusterSlot: ClusterSlot | undefined;
  readonly #encodedPlans = new WeakMap<Plan, EncodedPlan>();
  /** The last one used. Most stores have one plan, and looking it up takes 100 instructions. */
  #lastPlan: EncodedPlan | undefined;
  /** The keys that {@link firstKey} built for the operation that follows. */
  #builtKeys: { readonly plan: Plan; readonly keys: Keys; readonly redisKeys: string[] } | undefined;

  constructor(clusterSlot: ClusterSlot | undefined) {
    this.#clusterSlot = clusterSlot;
  }

  create(plan: Plan, keys: Keys, costs: Costs): CheckInput {
    const encodedPlan = this.#encode(plan);
    const built = this.#builtKeys === undefined ? undefined : this.#takeBuilt(plan, keys);
    return { encodedPlan, keys: built ?? encodedPlan.buildKeys(keys), costs };
  }

  /** The first Redis key of an operation. If {@link create} for the same arguments follows, it uses the same keys. */
  firstKey(plan: Plan, keys: Keys): string {
    const redisKeys = this.#encode(plan).buildKeys(keys);
    this.#builtKeys = { plan, keys, redisKeys };
    return redisKeys[0]!;
  }

  #takeBuilt(plan: Plan, keys: Keys): string[] | undefined {
    const built = this.#builtKeys!;
    this.#builtKeys = undefined;
    return built.plan === plan && built.keys === keys ? built.redisKeys : undefined;
  }

  #encode(plan: Plan): EncodedPlan {
    return this.#lastPlan?.plan === plan ? this.#lastPlan : this.#find(plan);
  }

  /** Separate, so that V8 can inline the usual case. */
  #find(plan: Plan): EncodedPlan {
    let encodedPlan = this.#encodedPlans.get(plan);
    if (encodedPlan === undefined) {
      encodedPlan = encodePlan(plan, this.#clusterSlot);
      this.#encodedPlans.set(plan, encodedPlan);
    }
    this.#lastPlan = encodedPlan;
    return encodedPlan;
  }
}
