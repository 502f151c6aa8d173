import type { Awaitable, Decision, LimitDecision } from '@rollgate/core';
import { readReceipt } from '@rollgate/core/store';
import { Demand } from './demand.js';
import { HeldLeases } from './held-leases.js';
import { Lease } from './lease.js';
import { type LeaseTerms, sizeOfLease } from './lease-terms.js';
import { createLocalRejection, type LocalRejection, rejectionUntilNextUnit } from './local-rejection.js';
import { mapResult } from './map-result.js';
import { ReportedFigures } from './reported-figures.js';
import type { AccountPort, RequestListener, UnitRequest } from './unit-request.js';

/** How long after its lease would have ended a request is given up, because some clients never reply after a lost connection. */
const LOST_AFTER_MS = 1000;

/** The units of one limit and key that this process may spend alone. All times are milliseconds of this process's clock. */
export class CreditAccount {
  readonly demand: Demand;
  readonly leases = new HeldLeases();
  /** What the store reported about the key last. */
  readonly reported: ReportedFigures;
  #request: UnitRequest | undefined;
  /** Those that wait for the next request. */
  #listeners: RequestListener[] = [];
  #isNotifying = false;
  /** Whether a request follows the decisions of this turn. */
  #isAskPlanned = false;
  /** Whether the last lease was over when the reply came. */
  #wasLate = false;
  #denial: LocalRejection | undefined;
  #resets = 0;
  #askAfterMs = -Infinity;

  constructor(
    readonly key: string,
    readonly terms: LeaseTerms,
    readonly port: AccountPort,
  ) {
    this.demand = new Demand(terms.leaseMs, terms.minDecisions);
    this.reported = new ReportedFigures(terms.limit);
  }

  get isAsking(): boolean {
    return this.#request !== undefined || this.#isNotifying;
  }

  /** Whether a request is under way whose lease may be over when the reply comes, as that of the last one was. */
  get isAskingLate(): boolean {
    return this.#wasLate && this.isAsking;
  }

  /** Whether the account has a lease or asks for one. */
  get isBusy(): boolean {
    return this.isAsking || !this.leases.isEmpty;
  }

  /** Spends units of one of the leases. Asks for the next one when most of them are spent. */
  spend(lease: Lease, units: number, nowMs: number): void {
    lease.spend(units);
    if (this.#isAskPlanned || nowMs < this.#askAfterMs || !this.leases.isLow) return;
    this.#isAskPlanned = true;
    // A request takes a hundred times as long as a decision, so the caller gets its decision first.
    this.port.afterTurn(() => {
      this.#isAskPlanned = false;
      if (this.leases.isLow) this.ask(1, this.port.now());
    });
  }

  /** Takes units back from an action that was refunded or that another limit has rejected. The returned promise may reject. */
  giveBack(lease: Lease, units: number): Awaitable<void> {
    this.#denial = undefined;
    return lease.giveBack(units);
  }

  /** The rejection of so many units, as long as asking again is pointless. */
  denialOf(units: number, nowMs: number): LocalRejection | undefined {
    const denial = this.#denial;
    return denial !== undefined && units >= denial.units && nowMs < denial.untilMs ? denial : undefined;
  }

  /** Ends local rejections, because the store has free units. */
  endDenial(): void {
    this.#denial = undefined;
  }

  /** Asks for units of later checks, unless the store has just rejected such a request. */
  askAhead(units: number, nowMs: number): void {
    if (nowMs >= this.#askAfterMs) this.ask(units, nowMs);
  }

  /** Asks the store for a lease of at least so many units, unless a request is under way. */
  ask(units: number, nowMs: number): void {
    this.#giveUpLost(nowMs);
    if (this.isAsking) return;
    // The units that are left are too few for this caller. They return to the store in the same call.
    this.leases.closeIfShort(units, nowMs);
    this.port.onBusy(this);
    const listeners = this.#takeListeners();
    this.#send({ granted: this.#sizeFor(units, listeners), units, isRepeated: false }, listeners);
  }

  /** Asks for the units of a listener, together with those of all others that wait for the request under way. */
  askFor(listener: RequestListener, nowMs: number): void {
    this.#listeners.push(listener);
    this.ask(listener.units, nowMs);
  }

  /** Returns all unspent units to the store. Returns whether there were any. */
  returnUnits(): boolean {
    this.#denial = undefined;
    return this.leases.close();
  }

  /** Returns what leases have left whose time is over. */
  sweep(nowMs: number): void {
    this.leases.sweep(nowMs);
    this.#giveUpLost(nowMs);
  }

  /** Forgets all leases, because the store drops the key. */
  reset(): void {
    this.#resets += 1;
    this.#denial = undefined;
    this.leases.drop();
    this.reported.free = this.terms.limit;
  }

  /** Whether the store has reported figures within the last lease. */
  hasFiguresAt(nowMs: number): boolean {
    return nowMs < this.reported.atMs + this.terms.leaseMs;
  }

  /** The figures of a check that the account allows. */
  figuresAt(nowMs: number): LimitDecision {
    return this.reported.at(nowMs, this.leases.unspentAt(nowMs));
  }

  toJSON(): object {
    return {
      key: this.key,
      leases: this.leases,
      request: this.#request && { ...this.#request, listeners: this.#request.listeners.length },
      denial: this.#denial,
      reported: this.reported,
      demand: this.demand,
      askAfterMs: this.#askAfterMs,
      wasLate: this.#wasLate,
      isAskPlanned: this.#isAskPlanned,
    };
  }

  /** As much as callers wait for, or as checks will need. */
  #sizeFor(units: number, listeners: readonly RequestListener[]): number {
    const awaited = listeners.reduce((sum, listener) => sum + listener.units, 0);
    const spare = this.#wasLate ? 0 : sizeOfLease(this.terms, this.demand.units, this.reported.free);
    return Math.min(this.terms.limit, Math.max(units, awaited, spare));
  }

  #send(size: Pick<UnitRequest, 'granted' | 'units' | 'isRepeated'>, listeners: readonly RequestListener[]): void {
    const request = { ...size, sentMs: this.port.now(), resets: this.#resets, listeners };
    this.#request = request;
    const onReply = (decision: Decision) => {
      if (this.#request !== request) return this.#returnGrant(request, decision);
      this.reported.note(decision, this.port.now());
      if (decision.allowed) this.#addLease(request, decision);
      else if (!this.#sendForLess(request, decision)) this.#end((listener) => listener.onEnd(undefined), listeners);
    };
    const onError = (error: unknown) => {
      if (this.#request === request) this.#end((listener) => listener.onFailed(error), listeners);
    };
    try {
      mapResult(this.port.take(this.key, request.granted), onReply, onError);
    } catch (misuse) {
      onError(misuse);
    }
  }

  /** Ends a request without a reply. Its callers ask again, or the store decides. */
  #giveUpLost(nowMs: number): void {
    const request = this.#request;
    if (request === undefined || nowMs < request.sentMs + this.terms.usableMs + LOST_AFTER_MS) return;
    this.#end((listener) => listener.onEnd(undefined), request.listeners);
  }

  /** Returns units that a request was granted after it was given up. */
  #returnGrant({ granted, sentMs }: UnitRequest, decision: Decision): void {
    if (decision.allowed) new Lease(granted, sentMs, readReceipt(decision), this.port.settle).close();
  }

  #addLease({ granted, units, isRepeated, sentMs, resets, listeners }: UnitRequest, decision: Decision): void {
    const untilMs = sentMs + this.terms.usableMs;
    const lease = new Lease(granted, untilMs, readReceipt(decision), this.port.settle);
    // It was all that was free, so those that get none of it need not ask again.
    this.#denial = isRepeated && units === 1 ? rejectionUntilNextUnit(decision, this.port.now()) : undefined;
    this.#wasLate = this.port.now() >= untilMs;
    // A reset may have dropped these units already. Then no process has them.
    const isValid = resets === this.#resets;
    const isKept = isValid && !this.#wasLate && !this.port.openCalls.isClosed;
    if (isKept) this.leases.add(lease);
    this.#end((listener) => listener.onEnd(isValid ? lease : undefined), listeners);
    if (!isKept) lease.close();
  }

  /** Requests what is free if that is enough, or what the caller needs to learn its wait. Returns whether it did. */
  #sendForLess({ granted, units, isRepeated, listeners }: UnitRequest, decision: Decision): boolean {
    const { remaining, retryAfterMs } = decision;
    const denial = createLocalRejection(units, decision, this.port.now());
    this.#askAfterMs = denial.untilMs;
    // The wait for more units is the longest that this caller can have. A short one is close enough.
    const isWorthwhile = remaining >= units || retryAfterMs > this.terms.leaseMs;
    if (isRepeated || granted <= units || !isWorthwhile) {
      this.#denial = denial;
      return false;
    }
    const size = Math.max(units, Math.min(remaining, granted - 1));
    this.#send({ granted: size, units, isRepeated: true }, [...listeners, ...this.#takeListeners()]);
    return true;
  }

  /** Ends the request under way. Those that it has not served, or that came later, share the next one. */
  #end(notify: (listener: RequestListener) => void, listeners: readonly RequestListener[]): void {
    this.#request = undefined;
    this.#isNotifying = true;
    for (const listener of listeners) notify(listener);
    for (const listener of this.#takeListeners()) listener.onEnd(undefined);
    this.#isNotifying = false;
    const next = this.#listeners[0];
    if (next !== undefined) this.ask(next.units, this.port.now());
  }

  #takeListeners(): RequestListener[] {
    const listeners = this.#listeners;
    this.#listeners = [];
    return listeners;
  }
}
