import type { Lease } from './lease.js';

/** A lease with fewer units ends with its last one. Another one in advance might never be used. */
const LEAST_FOR_NEXT = 4;

/** The leases of one key: the one that checks spend, and the next one. */
export class HeldLeases {
  #current: Lease | undefined;
  /** Granted in advance, so that no caller waits when the current lease ends. */
  #next: Lease | undefined;

  get isEmpty(): boolean {
    return this.#current === undefined;
  }

  /** Whether most units of the last lease are spent. */
  get isLow(): boolean {
    const current = this.#current;
    if (current === undefined || this.#next !== undefined) return false;
    const { left, granted } = current;
    return granted >= LEAST_FOR_NEXT && left <= granted >> 2;
  }

  /** Returns a lease with so many units, if there is one. */
  find(units: number, nowMs: number): Lease | undefined {
    const current = this.#current;
    if (current !== undefined && current.left >= units && nowMs < current.untilMs) return current;
    if (this.#next === undefined) return undefined;
    this.#advance();
    return this.find(units, nowMs);
  }

  add(lease: Lease): void {
    if (this.#current === undefined) this.#current = lease;
    else this.#next = lease;
  }

  /** Ends the current lease if it is over or has fewer units than that. */
  closeIfShort(units: number, nowMs: number): void {
    const current = this.#current;
    if (current !== undefined && (current.left < units || nowMs >= current.untilMs)) this.#advance();
  }

  /** Ends leases whose time is over, so that the store gets what they have left. */
  sweep(nowMs: number): void {
    while (this.#current !== undefined && nowMs >= this.#current.untilMs) this.#advance();
  }

  /** Ends all leases. Returns whether there were unspent units, which the store gets. */
  close(): boolean {
    const units = (this.#current?.left ?? 0) + (this.#next?.left ?? 0);
    while (this.#current !== undefined) this.#advance();
    return units > 0;
  }

  /** Forgets all leases, because the store drops the key. */
  drop(): void {
    this.#current = this.#next = undefined;
  }

  /** The units that could be spent now. */
  unspentAt(nowMs: number): number {
    const isOver = this.#current === undefined || nowMs >= this.#current.untilMs;
    return (isOver ? 0 : this.#current!.left) + (this.#next?.left ?? 0);
  }

  toJSON(): object {
    return { current: this.#current, next: this.#next };
  }

  #advance(): void {
    this.#current?.close();
    this.#current = this.#next;
    this.#next = undefined;
  }
}
