import type { Clock, Decision, Store } from '@rollgate/core';
import { type Costs, type Keys, type Plan, type SettledCosts, toDecision } from '@rollgate/core/store';
import type { NaiveServer } from './naive-server.js';
import { Reply } from './reply.js';

/** What a check in the server recorded. A settlement that was confirmed has lowered its units. */
export interface RemoteReceipt {
  readonly id: number;
  /** How many checks were made before it was sent. */
  readonly checksBefore: number;
  units: number;
}

/** An operation on its way to the server, or its reply on the way back. */
export interface Message {
  readonly process: number;
  readonly kind: 'check' | 'settle' | 'reset';
  /** What identifies equal messages. */
  readonly data: readonly unknown[];
  isExecuted: boolean;
  /** Runs at the server. A resent check records twice. */
  execute(): void;
  /** Arrives at the process. */
  deliver(): void;
  /** Informs the process that it will never get a reply. */
  fail(): void;
}

/** What fails if the connection is lost. */
type Failing = Pick<Reply<unknown>, 'fail'>;

/** The store of one process. It sends every operation over the model's network. */
export class RemoteStore implements Store {
  constructor(
    readonly process: number,
    readonly clock: Clock,
    /** The clock of the server. */
    readonly time: Clock,
    readonly server: NaiveServer,
    readonly countChecks: () => number,
    readonly send: (message: Message) => void,
  ) {}

  check(plan: Plan, _keys: Keys, costs: Costs): PromiseLike<Decision> {
    const reply = new Reply<Decision>();
    const { limit, windowMicros } = plan.rules[0]!.limit;
    const units = costs as number;
    const checksBefore = this.countChecks();
    let decision: Decision;
    this.#send('check', [limit, units], reply, () => {
      const { hit, result } = this.server.check(limit, windowMicros / 1000, units, this.time.now());
      const receipt: RemoteReceipt | undefined = hit && { id: hit.id, checksBefore, units };
      decision = toDecision(plan.rules, [result], receipt);
      return () => reply.succeed(decision);
    });
    return reply;
  }

  settle(receipt: unknown, costs: SettledCosts): PromiseLike<void> {
    const remote = receipt as RemoteReceipt;
    const { id, units } = remote;
    const kept = costs as number;
    const reply = new Reply<void>();
    this.#send('settle', [id, units, kept], reply, () => {
      this.server.remove(id, units - kept);
      return () => {
        remote.units = Math.min(remote.units, kept);
        reply.succeed(undefined);
      };
    });
    return reply;
  }

  refund(receipt: unknown): PromiseLike<void> {
    return this.settle(receipt, 0);
  }

  reset(): PromiseLike<void> {
    const reply = new Reply<void>();
    this.#send('reset', [], reply, () => {
      this.server.hits = [];
      return () => reply.succeed(undefined);
    });
    return reply;
  }

  peek(): never {
    throw new Error('The model does not peek');
  }

  charge(): never {
    throw new Error('The model does not charge');
  }

  #send(kind: Message['kind'], data: readonly unknown[], reply: Failing, run: () => () => void): void {
    let answer = () => {};
    this.send({
      process: this.process,
      kind,
      data,
      isExecuted: false,
      execute() {
        answer = run();
        this.isExecuted = true;
      },
      deliver: () => answer(),
      fail: () => reply.fail(new Error('The connection is lost')),
    });
  }
}
