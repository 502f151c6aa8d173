import type { Oracle } from './algorithms/oracle.js';
import type { LimitSpec } from './algorithms.js';

/** One limit of a check, the id of its state, and what the action costs it. */
export interface LimitOnKey {
  readonly name: string;
  readonly cost: number;
  readonly oracle: Oracle;
  readonly stateId: string;
  /** Of what closes a key, the limit with the option `blockFor`. */
  readonly blocksFor?: LimitOnKey;
  /** Whether the limit rejects. */
  readonly isEnforced: boolean;
}

/** The life of one key of one limit and algorithm, from its first record until it is reset or expires. */
export interface Life<One extends LimitOnKey> {
  readonly id: number;
  readonly state: unknown;
  /** The limit that recorded last and so determines when the state expires. */
  readonly recorder: One;
}

/** What a check recorded for one limit. Without a cost, it recorded nothing. */
export type Recorded<One extends LimitOnKey = LimitOnKey> = One & {
  /** The id of the life. A lease may move to a later one. */
  life: number | undefined;
  receipt: unknown;
  /** For slots, the number that is not released. */
  cost: number;
  /** The time of the check. */
  readonly at: number;
  /** Whether a release has spent what was reserved. */
  isReleased?: boolean;
};

/** The states of all keys, by the ids of {@link stateIdOf}. */
export class ModelStates<One extends LimitOnKey> {
  #lives = new Map<string, Life<One>>();
  #lifeCount = 0;

  copy(): ModelStates<One> {
    const copy = new ModelStates<One>();
    copy.#lives = new Map(this.#lives);
    copy.#lifeCount = this.#lifeCount;
    return copy;
  }

  /** The newest life of the key, even if it has expired. */
  lifeOf(stateId: string): Life<One> | undefined {
    return this.#lives.get(stateId);
  }

  /** The state of the key at a time. */
  read({ oracle, stateId }: LimitOnKey, at: number): unknown {
    return this.isLive(stateId, at) ? this.#lives.get(stateId)!.state : oracle.empty;
  }

  isLive(stateId: string, at: number): boolean {
    const life = this.#lives.get(stateId);
    return life !== undefined && life.recorder.oracle.expires(life.state) > at;
  }

  /** Drops the state of a wrong clock for good, so that it does not count when time reaches it. */
  dropImplausible({ oracle, stateId }: LimitOnKey, now: number): void {
    const life = this.#lives.get(stateId);
    if (life !== undefined && oracle.isImplausible(life.state, now)) this.#lives.delete(stateId);
  }

  /** Changes the state of the key in its present life, or in a new one. Returns the id of the life. */
  change(recorder: One, state: unknown, now: number): number {
    const { stateId } = recorder;
    const id = this.isLive(stateId, now) ? this.#lives.get(stateId)!.id : this.#lifeCount++;
    this.#lives.set(stateId, { id, state, recorder });
    return id;
  }

  /** Changes what is left of the key's newest life. */
  replace(stateId: string, state: unknown): void {
    this.#lives.set(stateId, { ...this.#lives.get(stateId)!, state });
  }

  /** Whether no later life of the key has begun. */
  isNewestLife({ life, stateId }: Recorded): boolean {
    return life !== undefined && this.#lives.get(stateId)?.id === life;
  }

  /** Whether the key is in the life in which this was recorded. */
  isInItsLife(recorded: Recorded, now: number): boolean {
    return this.isNewestLife(recorded) && this.isLive(recorded.stateId, now);
  }

  delete(stateId: string): void {
    this.#lives.delete(stateId);
  }
}

/** Whether the limit gives out slots. */
export function hasSlots({ oracle }: Pick<LimitOnKey, 'oracle'>): boolean {
  return oracle.retryAfterMicros !== undefined;
}

export function reservesUnits({ oracle, cost }: Pick<LimitOnKey, 'oracle' | 'cost'>): boolean {
  return oracle.reserving !== undefined && cost > 0;
}

/** Whether a settlement reports numbers, even in a later life of the key. */
export function reports({ oracle }: Pick<LimitOnKey, 'oracle'>): boolean {
  return oracle.reserving?.report !== undefined;
}

/** Whether the check has taken leases. */
export function hasLease(one: Pick<LimitOnKey, 'oracle' | 'cost'>): boolean {
  return hasSlots(one) || reservesUnits(one);
}

/** The id of the state of a key. Each algorithm of a limit has its own. */
export function stateIdOf(
  name: string,
  { algorithm }: Pick<LimitSpec, 'algorithm'>,
  keys: Readonly<Record<string, string>>,
): string {
  return `${algorithm} ${name.length} ${name} ${keys[name]}`;
}
