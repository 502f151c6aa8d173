import { type Limit, rollingWindow } from '@rollgate/core';
import type { Operation, TicketOperation } from '../../src/operations/operations.js';
import { type EncodedPlan, PlanEncoder } from '../../src/operations/plan-encoder.js';
import { Receipt } from '../../src/operations/receipt.js';
import { type Caller, TicketGroup } from '../../src/waiting/ticket-group.js';
import { START, TICK } from './model-state.js';
import { processOf, type Scope } from './scope.js';

/** The process of the plain checks. */
const CHECKER = 99;

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
    const rules = scope.costs[0]!.map((_, index) => {
      const { limit, limits, window, windows } = scope;
      const settings = { limit: limits?.[index] ?? limit, window: `${(windows?.[index] ?? window) * 10}ms` } as const;
      return { name: `limit${index}`, namespace: '', limit: rollingWindow(settings) as Limit };
    });
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
  refunding(index: number, at: number, stamp: number): Operation[] {
    const atMicros = START + at * TICK;
    const costs = this.#scope.costs[index]!;
    const hits = this.keys.map((key, rule) => ({
      key,
      index: rule,
      atMicros: costs[rule]! > 0 ? atMicros : 0,
      cost: costs[rule]!,
    }));
    const charged = hits.filter(({ cost }) => cost > 0).map((hit) => ({ ...hit, settledCost: 0 }));
    const receipt = new Receipt(stamp, atMicros, this.#encodedPlan, hits);
    return [
      {
        kind: 'settle',
        ...{ keys: charged.map(({ key }) => key), number: false, receipt, hits: charged, clockMicros: undefined },
        resolve() {},
        reject() {},
      },
      this.ticket(index, 'wake', []),
    ];
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
