import type { Decision, ManualClock, Store } from '@rollgate/core';
import type { Costs, Keys, Plan, SettledCosts } from '@rollgate/core/store';
import { Reply } from '../model/reply.js';
import type { SimulatedServer } from './simulated-server.js';

/** What happens to an operation on its way. */
export interface Fate {
  readonly toServerMs: number;
  readonly toProcessMs: number;
  /** Whether the process never gets the reply, and whether the server runs the operation all the same. */
  readonly lost?: 'before' | 'after';
  /** Whether a client sends a check again, which the server has executed. */
  readonly isRepeated?: boolean;
}

/** The store of one process, at the other end of a network. */
export class DelayedStore implements Store {
  calls = 0;
  readonly #server: SimulatedServer;
  readonly #time: ManualClock;
  readonly #nextFate: () => Fate;
  readonly #whenRunning: (arrive: () => void) => void;

  constructor(
    server: SimulatedServer,
    /** The time of the network. The process may have another clock. */
    time: ManualClock,
    readonly clock: NonNullable<Store['clock']>,
    nextFate: () => Fate,
    /** Calls its argument when the process runs. */
    whenRunning: (arrive: () => void) => void,
  ) {
    this.#server = server;
    this.#time = time;
    this.#nextFate = nextFate;
    this.#whenRunning = whenRunning;
  }

  check(plan: Plan, keys: Keys, costs: Costs): PromiseLike<Decision> {
    return this.#send(() => this.#server.check(plan, keys, costs), true);
  }

  peek(plan: Plan, keys: Keys, costs: Costs): PromiseLike<Decision> {
    return this.#send(() => this.#server.peek(plan, keys, costs));
  }

  charge(plan: Plan, keys: Keys, costs: Costs): PromiseLike<Decision> {
    return this.#send(() => this.#server.charge(plan, keys, costs));
  }

  settle(receipt: unknown, costs: SettledCosts): PromiseLike<void> {
    return this.#send(() => this.#server.settle(receipt, costs));
  }

  refund(receipt: unknown): PromiseLike<void> {
    return this.settle(receipt, 0);
  }

  reset(plan: Plan, keys: Keys): PromiseLike<void> {
    return this.#send(() => this.#server.reset(plan, keys));
  }

  #send<Result>(operation: () => Result, mayRepeat = false): PromiseLike<Result> {
    this.calls += 1;
    const fate = this.#nextFate();
    const reply = new Reply<Result>();
    const nowMs = this.#time.now();
    const lose = () => this.#whenRunning(() => reply.fail(new Error('The connection is lost')));
    this.#time.schedule(nowMs + fate.toServerMs, () => {
      if (fate.lost === 'before') return lose();
      if (mayRepeat && fate.isRepeated) operation();
      const result = operation();
      const arrive = () => (fate.lost === 'after' ? lose() : this.#whenRunning(() => reply.succeed(result)));
      this.#time.schedule(this.#time.now() + fate.toProcessMs, arrive);
    });
    return reply;
  }
}
