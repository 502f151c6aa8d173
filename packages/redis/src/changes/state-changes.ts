import { holdsSlots, type SettledCosts, settledCost } from '@rollgate/core/store';
import type { DenialCache } from '../denials/denial-cache.js';
import type { CheckInput, CheckResult, Operation, SettledHit } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';
import type { Receipt } from '../operations/receipt.js';
import type { OperationSender } from '../sending/operation-sender.js';
import { confirmSettlement, leasesOf, possibleHits, renewLeases } from './lease-renewal.js';
import type { ResendNumbers } from './resend-numbers.js';

/** Sends the operations that change states other than by a check, and ends the denials that they affect. */
export class StateChanges {
  readonly #sender: OperationSender;
  readonly #denials: DenialCache | undefined;
  /** `undefined` if the client never resends a command. */
  readonly #numbers: ResendNumbers | undefined;

  constructor(sender: OperationSender, denials: DenialCache | undefined, numbers: ResendNumbers | undefined) {
    this.#sender = sender;
    this.#denials = denials;
    this.#numbers = numbers;
  }

  reset(encodedPlan: EncodedPlan, keys: readonly string[]): Promise<void> {
    return this.#run(keys, (resolve, reject) => ({ kind: 'reset', encodedPlan, keys, resolve, reject }));
  }

  /** Replaces what a check recorded. */
  settle(receipt: Receipt, costs: SettledCosts, clockMicros: number | undefined): Promise<void> {
    const { rules } = receipt.encodedPlan.plan;
    const hits: SettledHit[] = [];
    for (const hit of receipt.hits) {
      const cost = settledCost(costs, rules[hit.index]!);
      if (cost === undefined || cost === hit.cost) continue;
      const isLease = holdsSlots(rules[hit.index]!.limit);
      if (isLease && cost > hit.cost) continue; // Only a check takes slots.
      hits.push({ ...hit, settledCost: cost });
      if (isLease) {
        hit.formerCost = hit.cost;
        hit.cost = cost;
      }
    }
    if (hits.length === 0) return Promise.resolve();
    const numbered = this.#number(hits.map(({ key }) => key));
    return this.#run(numbered.keys, (resolve, reject) => {
      const onSettled = () => {
        confirmSettlement(receipt.hits);
        resolve(undefined);
      };
      return { kind: 'settle', ...numbered, receipt, hits, clockMicros, resolve: onSettled, reject };
    });
  }

  /** Frees the slots that a check took. */
  release(receipt: Receipt, clockMicros: number | undefined): Promise<void> {
    const leases = leasesOf(receipt);
    if (leases.length === 0) return Promise.resolve();
    const hits = leases.flatMap(possibleHits).map((hit): SettledHit => ({ ...hit, settledCost: 0 }));
    for (const hit of leases) hit.cost = 0;
    const keys = hits.map(({ key }) => key);
    return this.#run(keys, (resolve, reject) => {
      return { kind: 'settle', keys, number: false, receipt, hits, clockMicros, resolve, reject };
    });
  }

  /** Extends the leases of these receipts. Returns the receipts whose slots are lost. */
  renew(receipts: readonly Receipt[], clockMicros: number | undefined, isCluster: boolean): Promise<Receipt[]> {
    return renewLeases(receipts, (operation) => this.#sender.add(operation), clockMicros, isCluster);
  }

  /** Records without deciding. Returns the result of a peek with a cost of 1. */
  charge(input: CheckInput): Promise<CheckResult> {
    const { keys } = input;
    const numbered = this.#number(keys);
    return this.#run(keys, (resolve, reject) => ({ kind: 'charge', ...input, ...numbered, resolve, reject }));
  }

  /** The keys of an operation that must not run twice, with its number. */
  #number(keys: readonly string[]): { readonly keys: readonly string[]; readonly number: number | false } {
    const next = this.#numbers?.next(keys[0]!);
    return next === undefined ? { keys, number: false } : { keys: [...keys, next.key], number: next.number };
  }

  /** Ends the denials of the keys before the operation and after it. */
  #run<Result>(
    keys: readonly string[],
    toOperation: (resolve: (result: Result) => void, reject: (error: unknown) => void) => Operation,
  ): Promise<Result> {
    this.#denials?.noteChange(keys);
    return new Promise((resolve, reject) => {
      const onDone = (result: Result) => {
        this.#denials?.noteChange(keys);
        resolve(result);
      };
      this.#sender.add(toOperation(onDone, reject));
    });
  }
}
