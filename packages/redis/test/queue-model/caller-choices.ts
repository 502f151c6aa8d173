import type { Operation } from '../../src/operations/operations.js';
import type { ModelOperations } from './model-operations.js';
import type { ModelReceiver } from './model-receiver.js';
import { type CallerState, type Choice, ENDED, type ModelState, NEVER, tickOf } from './model-state.js';
import { processOf, type Scope } from './scope.js';

/** A caller that has lost its place or its turn. */
const WAITS_AGAIN = { status: 'waits', ...ENDED, at: 0, owesLeave: false };

/** What a caller may do next, except for faults. */
export class CallerChoices {
  constructor(
    private readonly scope: Scope,
    private readonly operations: ModelOperations,
    private readonly receiver: ModelReceiver,
  ) {}

  enter(index: number): Choice {
    const operation = this.operations.ticket(index, 'enter', [index + 1, 0, -1, this.operations.costs(index)]);
    return {
      operations: [operation],
      apply: (state, outcome) => {
        const caller = state.callers[index]!;
        if (caller.status === 'idle') caller.status = 'waits';
        caller.resends = false;
        this.receiver.receive(state, index, outcome!);
      },
    };
  }

  leaveAgain(index: number): Choice {
    return {
      operations: [this.#leave(index)],
      apply: (state, outcome) => {
        state.callers[index]!.owesLeave = false;
        this.receiver.receive(state, index, outcome!);
      },
    };
  }

  sync(state: ModelState, index: number): Choice {
    const asked = this.#mates(state, index);
    const tickets = asked.flatMap((mate) => [mate + 1, state.callers[mate]!.number, this.operations.costs(mate)]);
    return {
      operations: [this.operations.ticket(index, 'sync', tickets)],
      apply: (next, outcome) => {
        for (const mate of asked) next.callers[mate]!.askAt = NEVER;
        this.receiver.receive(next, index, outcome!);
      },
    };
  }

  /** The callers of the same process and group that ask together, in the order of their numbers. */
  #mates({ callers }: ModelState, index: number): number[] {
    const isMate = ({ status, number }: CallerState, other: number) =>
      status === 'waits' &&
      number > 0 &&
      processOf(this.scope, other) === processOf(this.scope, index) &&
      this.operations.groupOf(other).id === this.operations.groupOf(index).id;
    const mates = callers.flatMap((caller, other) => (isMate(caller, other) ? [other] : []));
    return mates.sort((one, other) => callers[one]!.number - callers[other]!.number);
  }

  /** Gets its old place, and refunds its turn if it was too late for it. */
  reenter(state: ModelState, index: number): Choice {
    const { number, ...caller } = state.callers[index]!;
    const isLate = caller.status === 'hasTurn';
    const arrival = this.operations.ticket(index, 'enter', [index + 1, number, -1, this.operations.costs(index)]);
    // As `returnLate` of the waiting room.
    const operations = isLate ? [this.#restore(index, number), ...this.operations.refunding(index, caller)] : [arrival];
    return {
      operations,
      apply: (next, outcome) => {
        Object.assign(next.callers[index]!, WAITS_AGAIN);
        next.isReordered = true;
        this.receiver.receive(next, index, outcome!, isLate ? state.callers[index] : undefined);
      },
    };
  }

  /** Gets its old place, and refunds its turn in a later script. */
  restoreOnly(state: ModelState, index: number): Choice {
    const { number, stamp, hits } = state.callers[index]!;
    return {
      operations: [this.#restore(index, number)],
      apply: (next, outcome) => {
        Object.assign(next.callers[index]!, WAITS_AGAIN);
        next.unused.push([index, stamp, [...hits]]);
        next.splitBatches -= 1;
        next.isReordered = true;
        this.receiver.receive(next, index, outcome!);
      },
    };
  }

  start(index: number): Choice {
    return {
      apply: (state) => {
        const caller = state.callers[index]!;
        caller.status = 'started';
        caller.at = state.tick;
        state.starts.push([state.tick, [...this.scope.costs[index]!], tickOf(caller.stamp)]);
      },
    };
  }

  abort(state: ModelState, index: number): Choice {
    const caller = state.callers[index]!;
    const { status } = caller;
    return {
      operations: status === 'hasTurn' ? this.operations.refunding(index, caller) : [this.#leave(index)],
      apply: (next, outcome) => {
        next.aborts -= 1;
        // It still receives messages, and refunds a turn that comes late.
        Object.assign(next.callers[index]!, { status: 'started', ...ENDED });
        this.receiver.receive(next, index, outcome!);
      },
    };
  }

  /** Refunds an action that has started. */
  refund(index: number, caller: CallerState): Choice {
    const { at } = caller;
    return {
      operations: this.operations.refunding(index, caller),
      apply: (state, outcome) => {
        state.refunds -= 1;
        const costs = JSON.stringify(this.scope.costs[index]);
        state.starts.splice(
          state.starts.findIndex(([tick, own]) => tick === at && JSON.stringify(own) === costs),
          1,
        );
        state.callers[index]!.at = -1;
        this.receiver.receive(state, index, outcome!);
      },
    };
  }

  refundUnused(state: ModelState, place: number): Choice {
    const [index, stamp, hits] = state.unused[place]!;
    return {
      operations: this.operations.refunding(index, { stamp, hits }),
      apply: (next, outcome) => {
        next.unused.splice(place, 1);
        this.receiver.receive(next, index, outcome!);
      },
    };
  }

  #restore(index: number, number: number): Operation {
    return this.operations.ticket(index, 'restore', [index + 1, number, this.operations.costs(index)]);
  }

  #leave(index: number): Operation {
    return this.operations.ticket(index, 'leave', [index + 1, this.operations.costs(index)]);
  }
}
