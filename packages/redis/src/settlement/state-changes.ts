import { hasReport, type SettledCosts, settledCost } from '@rollgate/core/store';
import type { DenialCache } from '../denials/denial-cache.js';
import type { CheckInput, CheckResult, Operation, SettledHit } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';
import type { RedisHit, RedisReceipt } from '../operations/receipt.js';
import type { OperationSender } from '../sending/operation-sender.js';
import { confirmSettlement, isReservation, leasesOf, possibleHits } from './lease-renewal.js';
import type { ResendNumbers } from './resend-numbers.js';

/** Sends the operations that change states other than by a check, and ends the denials that they affect. */
export class StateChanges {
  constructor(
    private readonly sender: OperationSender,
    private readonly denials: DenialCache | undefined,
    /** `undefined` if the client never resends a command. */
    private readonly numbers: ResendNumbers | undefined,
  ) {}

  reset(encodedPlan: EncodedPlan, keys: readonly string[]): Promise<void> {
    return this.#run(keys, (resolve, reject) => ({ kind: 'reset', encodedPlan, keys, resolve, reject }));
  }

  /** Replaces what a check recorded. */
  settle(receipt: RedisReceipt, costs: SettledCosts, clockMicros: number | undefined): Promise<void> {
    const { rules } = receipt.encodedPlan.plan;
    const hits: SettledHit[] = [];
    for (const hit of receipt.hits) {
      const cost = settledCost(costs, rules[hit.index]!);
      if (isReservation(receipt, hit) || hasReport(rules[hit.index]!.limit)) {
        hits.push(endReservation(hit, cost ?? hit.cost, 'settled'));
        continue;
      }
      if (cost === undefined || cost === hit.cost) continue;
      const isLease = rules[hit.index]!.limit.holdsSlots;
      if (isLease && cost > hit.cost) continue; // Only a check takes slots.
      hits.push({ ...hit, settledCost: cost });
      if (isLease) {
        hit.formerCost = hit.cost;
        hit.cost = cost;
      }
    }
    if (hits.length === 0) return Promise.resolve();
    return this.#settle(receipt, hits, true, clockMicros).then(() => {
      confirmSettlement(receipt.hits);
      for (const { index, settledCost } of hits) lowerCost(receipt, index, settledCost);
    });
  }

  /** Frees the slots that a check took, and spends what it reserved. */
  async release(receipt: RedisReceipt, clockMicros: number | undefined): Promise<void> {
    const leases = leasesOf(receipt);
    const reservations = leases.filter((hit) => isReservation(receipt, hit));
    const slots = leases.filter((hit) => !isReservation(receipt, hit));
    const freed = slots.flatMap(possibleHits).map((hit): SettledHit => ({ ...hit, settledCost: 0 }));
    for (const hit of slots) hit.cost = 0;
    const spent = reservations.map((hit) => endReservation(hit, hit.cost, 'released'));
    // The slots are freed alone, because that may run twice.
    const sent = [
      freed.length > 0 && this.#settle(receipt, freed, false, clockMicros),
      spent.length > 0 && this.#settle(receipt, spent, true, clockMicros),
    ];
    await Promise.all(sent);
  }

  #settle(
    receipt: RedisReceipt,
    hits: readonly SettledHit[],
    isNumbered: boolean,
    clockMicros: number | undefined,
  ): Promise<void> {
    const keys = hits.map(({ key }) => key);
    const numbered = isNumbered ? this.#number(keys) : { keys, number: false as const };
    return this.#run(numbered.keys, (resolve, reject) => {
      return { kind: 'settle', ...numbered, receipt, hits, clockMicros, resolve, reject };
    });
  }

  /** Records without deciding. Returns the result of a peek with a cost of 1. */
  charge(input: CheckInput): Promise<CheckResult> {
    const { keys } = input;
    const numbered = this.#number(keys);
    return this.#run(keys, (resolve, reject) => ({ kind: 'charge', ...input, ...numbered, resolve, reject }));
  }

  /** The keys of an operation that must not run twice, with its number. */
  #number(keys: readonly string[]): { readonly keys: readonly string[]; readonly number: number | false } {
    const next = this.numbers?.next(keys[0]!);
    return next === undefined ? { keys, number: false } : { keys: [...keys, next.key], number: next.number };
  }

  /** Ends the denials of the keys before the operation and after it. */
  #run<Result>(
    keys: readonly string[],
    toOperation: (resolve: (result: Result) => void, reject: (error: unknown) => void) => Operation,
  ): Promise<Result> {
    this.denials?.noteChange(keys);
    return new Promise((resolve, reject) => {
      const onDone = (result: Result) => {
        this.denials?.noteChange(keys);
        resolve(result);
      };
      this.sender.add(toOperation(onDone, reject));
    });
  }
}

/** Notes that Redis has lowered the cost of a hit, so that a later settlement lowers it from there. Leases note it themselves. */
function lowerCost({ encodedPlan, hits }: RedisReceipt, index: number, cost: number): void {
  if (encodedPlan.plan.rules[index]!.limit.leaseMicros) return;
  const hit = hits.find((one) => one.index === index)!;
  hit.cost = Math.min(hit.cost, cost);
}

/** Ends a reservation here. The script reads a negative cost as that of a reservation which a release has spent. */
function endReservation(hit: RedisHit, settledCost: number, by: 'released' | 'settled'): SettledHit {
  const cost = hit.ended === 'released' ? -hit.cost : hit.cost;
  hit.ended = by;
  return { ...hit, cost, settledCost };
}
