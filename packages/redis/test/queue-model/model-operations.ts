import { type Limit, leakyBucket, rollingWindow } from '@rollgate/core';
import type { Operation, TicketOperation } from '../../src/operations/operations.js';
import { type EncodedPlan, PlanEncoder } from '../../src/operations/plan-encoder.js';
import { RedisReceipt } from '../../src/operations/receipt.js';
import { type Caller, TicketGroup } from '../../src/waiting/ticket-group.js';
import { readTurn, type TicketItem } from '../../src/waiting/ticket-items.js';
import { TICK, tickOf } from './model-state.js';
import { intervalOf, limitOf, processOf, type Scope } from './scope.js';

/** The process of the plain checks. */
const CHECKER = 99;

/** What a script has recorded for a turn: its stamp, and the time of each hit in microseconds. */
export interface RecordedTurn {
  readonly stamp: number;
  readonly hits: readonly number[];
}

function toLimit(scope: Scope, rule: number): Limit {
  const [limit, interval] = [limitOf(scope, rule), intervalOf(scope, rule)];
  if (interval > 0) return leakyBucket({ capacity: limit, interval: `${interval * 10}ms` });
  return rollingWindow({ limit, window: `${(scope.windows?.[rule] ?? scope.window) * 10}ms` });
}

/** What the processes of a scope send. */
export class ModelOperations {
  /** The keys of the limits, and then those of their queues. */
  readonly allKeys: readonly string[];
  readonly keys: readonly string[];
  readonly #scope: Scope;
  readonly #encodedPlan: EncodedPlan;
  readonly #groups: readonly TicketGroup[];
  readonly #checks: TicketGroup;

  constructor(scope: Scope) {
    this.#scope = scope;
    const rules = scope.costs[0]!.map((_, index) => ({
      ...{ name: `limit${index}`, namespace: '' },
      limit: toLimit(scope, index),
    }));
    this.#encodedPlan = new PlanEncoder(undefined).encode({ prefix: 'model', rules, leasing: undefined } as never);
    this.keys = this.#encodedPlan.buildKeys('k');
    const horizon = { horizonMicros: scope.horizon * TICK, canDateLogs: true };
    const group = (costs: readonly number[]) => new TicketGroup(this.#encodedPlan, this.keys, costs, horizon);
    this.#groups = scope.costs.map(group);
    this.#checks = group(rules.map(() => 1));
    this.allKeys = this.#checks.keys;
  }

  groupOf(index: number): TicketGroup {
    return this.#groups[index]!;
  }

  /** The costs of a caller as the scripts read them. */
  costs(index: number): string {
    return this.#scope.costs[index]!.join(' ');
  }

  ticket(index: number, kind: string, rest: readonly unknown[]): TicketOperation {
    const group = this.groupOf(index);
    const encoding = group.encode(kind, this.#caller(processOf(this.#scope, index)), rest);
    return { kind: 'ticket', encodedPlan: this.#encodedPlan, keys: group.keys, encoding, resolve() {}, reject() {} };
  }

  /** A settlement with a cost of 0, and what wakes the queues. */
  refunding(index: number, turn: RecordedTurn): Operation[] {
    return [this.refund(index, turn), this.ticket(index, 'wake', [])];
  }

  refund(index: number, { stamp, hits: times }: RecordedTurn): Operation {
    const costs = this.#scope.costs[index]!;
    const hits = this.keys.map((key, rule) => ({ key, index: rule, atMicros: times[rule]!, cost: costs[rule]! }));
    const charged = hits.filter(({ cost }) => cost > 0).map((hit) => ({ ...hit, settledCost: 0 }));
    const receipt = new RedisReceipt(stamp, stamp, this.#encodedPlan, hits);
    return {
      kind: 'settle',
      ...{ keys: charged.map(({ key }) => key), number: false, receipt, hits: charged, clockMicros: undefined },
      resolve() {},
      reject() {},
    };
  }

  /** Reads the turn of a caller as its process does. */
  read(index: number, item: TicketItem & { kind: 'granted' }, now: number): RecordedTurn & { readonly at: number } {
    const { receipt, startMs } = readTurn(item, this.groupOf(index), this.#scope.costs[index]!, now, false);
    const { stamp, hits } = receipt as RedisReceipt;
    return { stamp, hits: hits.map(({ atMicros, cost }) => (cost > 0 ? atMicros : 0)), at: tickOf(startMs * 1000) };
  }

  /** A check that runs only if all queues are empty. */
  checkIfEmpty(): Operation {
    return { ...this.overtakingCheck(), keys: this.allKeys, queueCount: this.keys.length } as Operation;
  }

  /** A check behind the callers that wait. */
  checkBehind(): Operation {
    const encoding = this.#checks.encode('tail', this.#caller(CHECKER), [this.keys.map(() => 1).join(' ')]);
    return { ...this.overtakingCheck(), keys: this.allKeys, encoding } as Operation;
  }

  /** A check of a limiter without queues. */
  overtakingCheck(): Operation {
    return {
      kind: 'check',
      ...{ encodedPlan: this.#encodedPlan, keys: this.keys, costs: 1, clockMicros: undefined, encoding: undefined },
      resolve() {},
      reject() {},
    };
  }

  #caller(process: number): Caller {
    const { countsReceivers = false, getsMessages = true, lease } = this.#scope;
    const contact = !getsMessages ? 0 : countsReceivers ? 1 : 2;
    return { nowMicros: undefined, owner: `o${process}`, contact, leaseMs: lease * 10 };
  }
}
