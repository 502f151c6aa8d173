import type { Clock } from '@rollgate/core';
import { copyString, MAX_KEY_LENGTH, MAX_TIMER_MS, timersOf } from '@rollgate/core/store';
import { CreditAccount } from './credit-account.js';
import type { LeaseTerms } from './lease-terms.js';
import type { AccountPort } from './unit-request.js';

/** A sweep runs this often per lease, so that unspent units return soon after its end. */
const SWEEPS_PER_LEASE = 2;
/** An account without a lease is forgotten after one or two times so many sweeps without a check. */
const SWEEPS_PER_GENERATION = 4;

/** The accounts of one limit, by key. Those of idle keys are forgotten. */
export class Accounts {
  /** Accounts with a check in this generation, and in the one before it. */
  #recent = new Map<string, CreditAccount>();
  #older = new Map<string, CreditAccount>();
  readonly #busy = new Set<CreditAccount>();
  readonly #port: AccountPort;
  #cancelSweep: (() => void) | undefined;
  #sweeps = 0;

  constructor(
    readonly terms: LeaseTerms,
    readonly clock: Pick<Clock, 'now' | 'schedule'>,
    port: Pick<AccountPort, 'openCalls' | 'take' | 'settle' | 'charge'>,
  ) {
    this.#port = {
      ...port,
      now: () => clock.now(),
      afterTurn: (callback) => {
        if (clock.schedule === undefined) setImmediate(callback);
        else clock.schedule(clock.now(), callback);
      },
      onBusy: (account) => {
        this.#busy.add(account as CreditAccount);
      },
    };
  }

  /** Returns the account of a key, and creates it if there is none. A key that the store would hash has none. */
  of(key: string): CreditAccount | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined || key.length > MAX_KEY_LENGTH) return recent;
    return this.#add(this.#older.get(key) ?? new CreditAccount(copyString(key), this.terms, this.#port));
  }

  /** Returns the account of a key, if there is one. */
  find(key: string): CreditAccount | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  /** Returns all unspent units to the store. */
  close(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    for (const account of this.#busy) account.returnUnits();
  }

  toJSON(): object {
    return [...new Set([...this.#recent.values(), ...this.#older.values()])];
  }

  #add(account: CreditAccount): CreditAccount {
    this.#recent.set(account.key, account);
    this.#cancelSweep ??= this.#schedule();
    return account;
  }

  #schedule(): () => void {
    const delayMs = Math.min(this.terms.leaseMs / SWEEPS_PER_LEASE, MAX_TIMER_MS);
    return timersOf(this.clock).inBackground(delayMs, () => this.#sweep());
  }

  #sweep(): void {
    const nowMs = this.clock.now();
    for (const account of this.#busy) {
      account.sweep(nowMs);
      if (!account.isBusy) this.#busy.delete(account);
    }
    this.#sweeps += 1;
    if (this.#sweeps % SWEEPS_PER_GENERATION === 0) this.#forgetOlder();
    this.#cancelSweep = this.#recent.size + this.#older.size > 0 ? this.#schedule() : undefined;
  }

  /** Busy accounts stay, because another account of the key would hold units, too. */
  #forgetOlder(): void {
    this.#older = this.#recent;
    this.#recent = new Map();
    for (const account of this.#busy) this.#recent.set(account.key, account);
  }
}
