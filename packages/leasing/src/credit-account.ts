import type { Awaitable, Decision, LimitDecision } from '@rollgate/core';
import { takeReceipt } from '@rollgate/core/store';
import { Demand } from './demand.js';
import { createDenial, type Denial } from './denial.js';
import { HeldLeases } from './held-leases.js';
import { Lease } from './lease.js';
import type { LeaseTerms } from './lease-terms.js';
import { mapResult } from './map-result.js';
import { ReportedFigures } from './reported-figures.js';

/** What an account needs of the store. */
export interface AccountPort {
  now(): number;
  /** Takes units from the store, all or none. */
  take(key: string, units: number): Awaitable<Decision>;
  /** Lowers what the take with this receipt recorded. */
  settle(receipt: unknown, units: number): Awaitable<void>;
  /** Records units, whether or not they are free. */
  charge(key: string, units: number): Awaitable<unknown>;
  /** Called when the account asks for a lease. */
  onBusy(account: CreditAccount): void;
}

/** Gets the end of a request for units. */
export interface RequestListener {
  onGranted(): void;
  onFailed(error: unknown): void;
}

/** A request for units that is under way. */
interface UnitRequest {
  /** The units of the lease. */
  readonly granted: number;
  /** The fewest units that are of use. */
  readonly units: number;
  /** Whether the store has just rejected a larger request. */
  readonly isRepeated: boolean;
  /** The lease begins before the store records it. So it ends before the store stops counting it. */
  readonly sentMs: number;
  /** How many resets were before it. */
  readonly resets: number;
}

/** A lease with fewer units ends with its last one. Another one in advance might never be used. */
const LEAST_FOR_NEXT = 4;
/** How long plain checks decide after the store took more than half of a lease to reply, twice. */
const SLOW_STORE_MS = 1000;

/** The units of one limit and key that this process may spend alone. All times are milliseconds of this process's clock. */
export class CreditAccount {
  readonly demand: Demand;
  readonly #leases = new HeldLeases();
  readonly #reported: ReportedFigures;
  #request: UnitRequest | undefined;
  #listeners: RequestListener[] = [];
  #denial: Denial | undefined;
  #resets = 0;
  #askAfterMs = -Infinity;
  #lateReplies = 0;
  #slowUntilMs = -Infinity;

  constructor(
    readonly key: string,
    readonly terms: LeaseTerms,
    readonly port: AccountPort,
  ) {
    this.demand = new Demand(terms.leaseMs, terms.minDecisions);
    this.#reported = new ReportedFigures(terms.limit);
  }

  get isAsking(): boolean {
    return this.#request !== undefined;
  }

  /** Whether the account has a lease or asks for one. */
  get isBusy(): boolean {
    return this.isAsking || !this.#leases.isEmpty;
  }

  /** Whether checks should use leases now. */
  isLeased(nowMs: number): boolean {
    return this.demand.isHigh && nowMs >= this.#slowUntilMs;
  }

  /** Returns a lease with so many units, if there is one. */
  find(units: number, nowMs: number): Lease | undefined {
    return this.#leases.find(units, nowMs);
  }

  /** Spends units of a lease that {@link find} has returned. Asks for the next one when most of them are spent. */
  spend(lease: Lease, units: number, nowMs: number): void {
    lease.spend(units);
    const { left, granted } = lease;
    const isEnough = left > granted >> 2 || granted < LEAST_FOR_NEXT || this.#leases.hasNext;
    if (!isEnough && nowMs >= this.#askAfterMs) this.ask(1, nowMs);
  }

  /** Takes units back from an action that was refunded or that another limit has rejected. */
  giveBack(lease: Lease, units: number): Awaitable<void> {
    this.#denial = undefined;
    return lease.giveBack(units);
  }

  /** The rejection of so many units, as long as asking again is pointless. */
  denialOf(units: number, nowMs: number): Denial | undefined {
    const denial = this.#denial;
    return denial !== undefined && units >= denial.units && nowMs < denial.untilMs ? denial : undefined;
  }

  /** Ends local rejections, because the store has free units. */
  endDenial(): void {
    this.#denial = undefined;
  }

  /** Asks the store for a lease of at least so many units, unless a request is under way. */
  ask(units: number, nowMs: number): void {
    if (this.isAsking) return;
    // The units that are left are too few for this caller. They return to the store in the same call.
    this.#leases.closeIfShort(units, nowMs);
    this.port.onBusy(this);
    this.#send(this.#sizeFor(units), units, false);
  }

  /** Waits for the end of the request under way. */
  listen(listener: RequestListener): void {
    this.#listeners.push(listener);
  }

  /** Returns all unspent units to the store. Returns whether there were any. */
  returnUnits(): boolean {
    this.#denial = undefined;
    return this.#leases.close();
  }

  /** Returns what leases have left whose time is over. */
  sweep(nowMs: number): void {
    this.#leases.sweep(nowMs);
  }

  /** Forgets all leases, because the store drops the key. */
  reset(): void {
    this.#resets += 1;
    this.#denial = undefined;
    this.#leases.drop();
    this.#reported.free = this.terms.limit;
  }

  /** The units that this process holds, and could spend now. */
  unspentAt(nowMs: number): number {
    return this.#leases.unspentAt(nowMs);
  }

  /** The figures of a check that the account allows. */
  figuresAt(nowMs: number): LimitDecision {
    return this.#reported.at(nowMs, this.unspentAt(nowMs));
  }

  toJSON(): object {
    return {
      key: this.key,
      leases: this.#leases,
      request: this.#request,
      denial: this.#denial,
      reported: this.#reported,
      demand: this.demand,
      askAfterMs: this.#askAfterMs,
      lateReplies: this.#lateReplies,
      slowUntilMs: this.#slowUntilMs,
    };
  }

  /** As much as checks need, but only a part of what is free. */
  #sizeFor(units: number): number {
    const { maxShare, leastGrant } = this.terms;
    const wanted = Math.max(this.demand.units, leastGrant);
    return Math.max(units, Math.min(wanted, Math.max(leastGrant, Math.floor(this.#reported.free * maxShare))));
  }

  #send(granted: number, units: number, isRepeated: boolean): void {
    const request = { granted, units, isRepeated, sentMs: this.port.now(), resets: this.#resets };
    this.#request = request;
    const onReply = (decision: Decision) => {
      this.#reported.note(decision, this.port.now());
      if (decision.allowed) this.#addLease(request, decision);
      else if (this.#sendForLess(request, decision)) return;
      this.#end((listener) => listener.onGranted());
    };
    const onError = (error: unknown) => this.#end((listener) => listener.onFailed(error));
    try {
      mapResult(this.port.take(this.key, granted), onReply, onError);
    } catch (misuse) {
      onError(misuse); // The callers get it from the store, because they check there next.
    }
  }

  #addLease({ granted, sentMs, resets }: UnitRequest, decision: Decision): void {
    const { usableMs } = this.terms;
    const nowMs = this.port.now();
    const lease = new Lease(granted, sentMs + usableMs, takeReceipt(decision), this.port.settle);
    this.#denial = undefined;
    this.#lateReplies = nowMs - sentMs > usableMs / 2 ? this.#lateReplies + 1 : 0;
    if (this.#lateReplies > 1) this.#slowUntilMs = nowMs + SLOW_STORE_MS;
    // A reset may have dropped these units already. Then this changes nothing.
    if (resets !== this.#resets || nowMs >= lease.untilMs) lease.close();
    else this.#leases.add(lease);
  }

  /** Requests what is free if that is enough, or what the caller needs to learn its wait. Returns whether it did. */
  #sendForLess({ granted, units, isRepeated }: UnitRequest, decision: Decision): boolean {
    const { remaining, retryAfterMs } = decision;
    const denial = createDenial(units, decision, this.port.now());
    this.#askAfterMs = denial.untilMs;
    // The wait for more units is the longest that this caller can have. A short one is close enough.
    const isWorthwhile = remaining >= units || retryAfterMs > this.terms.leaseMs;
    if (isRepeated || granted <= units || !isWorthwhile) {
      this.#denial = denial;
      return false;
    }
    this.#send(Math.max(units, Math.min(remaining, granted - 1)), units, true);
    return true;
  }

  #end(notify: (listener: RequestListener) => void): void {
    this.#request = undefined;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) notify(listener);
  }
}
