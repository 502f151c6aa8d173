import type { Limit } from '@rollgate/core';
import { type Costs, costAt, hashKey, type Rule, reservesUnits } from '@rollgate/core/store';
import { canRecordAhead, encodeLimit, QUEUES_PART, steadyPeriodOf } from '../operations/algorithm-registry.js';
import type { OperationEncoding } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';

/** How far ahead a turn is granted by default: a fiftieth of the window, but from 25 to 250 ms. */
const [LEAST_HORIZON_MICROS, MOST_HORIZON_MICROS] = [25_000, 250_000];
/** The least with several limits. A ticket that goes to the queue of another one takes no call for this if its turn there is so near. */
const LEAST_HORIZON_OF_SEVERAL_MICROS = 50_000;
/** The most turns that one operation grants. */
const MAX_TURNS = 100;
/** What determines how far ahead turns are granted. */
export interface HorizonSettings {
  /** The option `horizon`, in microseconds. */
  readonly horizonMicros: number | undefined;
  /** Whether the log of a rolling window can contain hits that are ahead of now. */
  readonly canDateLogs: boolean;
}

/** The tickets with the same limits, the same keys and the same queues. A script that knows them can grant their turns. */
export class TicketGroup {
  /** The keys of the rules, and then those of the queues. */
  readonly keys: readonly string[];
  /** Identifies the group in all processes. */
  readonly id: string;
  readonly horizonMicros: number;
  /** Whether a wait is only advice, because slots or reserved units may come back at any time. */
  readonly isEstimate: boolean;
  /** The numbers of the settings of the queued rules. */
  readonly #settings: readonly number[];
  readonly #queues: string;
  readonly #maxTurns: number;

  /**
   * @param ruleKeys The keys of the rules.
   * @param costs A ticket is in the queue of each rule with a cost above 0 that rejects.
   */
  constructor(
    readonly encodedPlan: EncodedPlan,
    readonly ruleKeys: readonly string[],
    costs: Costs,
    horizon: HorizonSettings,
  ) {
    const { rules } = encodedPlan.plan;
    const queued = [...rules.keys()].filter((index) => isQueued(rules, costs, index));
    const limits = rules.filter((_, index) => costAt(costs, index) > 0).map(({ limit }) => limit);
    this.keys = [...ruleKeys, ...queueKeysOf(rules, ruleKeys, costs)];
    // The periods of a calendar change, and a group does not.
    const settings = rules.map(({ limit }) => encodeLimit(limit, 0));
    this.id = hashKey(JSON.stringify([settings, ruleKeys, queued])).slice(2, 14);
    this.horizonMicros = horizonOf(limits, horizon);
    this.isEstimate = limits.some(({ leaseMicros }) => leaseMicros);
    this.#settings = queued.map((index) => toNumber(JSON.stringify(settings[index])));
    const periods = queued.map((index) => steadyPeriodOf(rules[index]!.limit));
    // Lua counts from 1.
    this.#queues = queued
      .map((index, place) => ` queue ${index + 1} ${periods[place]} ${this.#settings[place]}`)
      .join('');
    // A receipt finds a reservation by the stamp of its operation, so each operation makes one of them.
    this.#maxTurns = limits.some(reservesUnits) ? 1 : MAX_TURNS;
  }

  /** Whether the call takes units at all. */
  get hasQueues(): boolean {
    return this.keys.length > this.ruleKeys.length;
  }

  /** Encodes an operation of `lua/queues/ticket-operations.lua`. */
  encode(kind: string, { nowMicros, owner, contact, leaseMs }: Caller, rest: readonly unknown[]): OperationEncoding {
    const { encodedPlan } = this;
    const common = [nowMicros ?? false, owner, this.id, contact, leaseMs, this.horizonMicros, this.#maxTurns];
    const queues = this.#queues;
    return {
      kind,
      parts: encodedPlan.parts | QUEUES_PART,
      get plan() {
        return encodedPlan.text + queues;
      },
      input: JSON.stringify([...common, ...rest]),
    };
  }

  /** How long the first ticket of a queue waits. A limit with other settings may let it start earlier. */
  waitOf({ wait, settings }: { readonly wait: number; readonly settings: number }): number {
    return settings === 0 || this.#settings.includes(settings) ? wait : 0;
  }

  /** The costs of a ticket as the scripts read them. */
  costsText(costs: Costs): string {
    return this.ruleKeys.map((_, index) => costAt(costs, index)).join(' ');
  }
}

/** Returns a number from 1. Those of different texts differ, unless by accident. */
function toNumber(text: string): number {
  let number = 0;
  for (let index = 0; index < text.length; index++) number = (31 * number + text.charCodeAt(index)) % 1e9;
  return number + 1;
}

/** The sender of an operation. */
export interface Caller {
  /** The injected clock's time. */
  readonly nowMicros: number | undefined;
  readonly owner: string;
  /** How the owner gets messages, as `lua/queues/tickets.lua` describes it. */
  readonly contact: number;
  readonly leaseMs: number;
}

/** The keys of the queues: one for each rule that rejects and of which the call takes units. */
export function queueKeysOf(rules: readonly Rule[], keys: readonly string[], costs: Costs): string[] {
  return keys.filter((_, index) => isQueued(rules, costs, index)).map((key) => `${key}/q`);
}

function isQueued(rules: readonly Rule[], costs: Costs, index: number): boolean {
  return costAt(costs, index) > 0 && rules[index]!.limit.enforced !== false;
}

function horizonOf(limits: readonly Limit[], { horizonMicros, canDateLogs }: HorizonSettings): number {
  if (!limits.every((limit) => canRecordAhead(limit, canDateLogs))) return 0;
  const window = Math.min(...limits.map(({ windowMicros }) => windowMicros));
  const least = limits.length > 1 ? LEAST_HORIZON_OF_SEVERAL_MICROS : LEAST_HORIZON_MICROS;
  const usual = Math.max(least, Math.min(window / 50, MOST_HORIZON_MICROS));
  return Math.floor(Math.min(horizonMicros ?? usual, window));
}
