import type { Operation } from '../../src/operations/operations.js';
import type { ModelOperations } from './model-operations.js';
import type { ModelReceiver } from './model-receiver.js';
import { type CallerState, type Choice, ENDED, type ModelState, NEVER, START, TICK } from './model-state.js';
import { processOf, type Scope } from './scope.js';

/** What a caller may do next, except for faults. */
export class CallerChoices {
  readonly #scope: Scope;
  readonly #operations: ModelOperations;
  readonly #receiver: ModelReceiver;

  constructor(scope: Scope, operations: ModelOperations, receiver: ModelReceiver) {
    this.#scope = scope;
    this.#operations = operations;
    this.#receiver = receiver;
  }

  enter(index: number): Choice {
    const operation = this.#operations.ticket(index, 'enter', [index + 1, 0, -1, this.#operations.costs(index)]);
    return {
      operations: [operation],
      apply: (state, outcome) => {
        const caller = state.callers[index]!;
        if (caller.status === 'idle') caller.status = 'waits';
        caller.resends = false;
        this.#receiver.receive(state, index, outcome!);
      },
    };
  }

  leaveAgain(index: number): Choice {
    return {
      operations: [this.#leave(index)],
      apply: (state, outcome) => {
        state.callers[index]!.owesLeave = false;
        this.#receiver.receive(state, index, outcome!);
      },
    };
  }

  sync(state: ModelState, index: number): Choice {
    const asked = this.#mates(state, index);
    const tickets = asked.flatMap((mate) => [mate + 1, state.callers[mate]!.number, this.#operations.costs(mate)]);
    return {
      operations: [this.#operations.ticket(index, 'sync', tickets)],
      apply: (next, outcome) => {
        for (const mate of asked) next.callers[mate]!.askAt = NEVER;
        this.#receiver.receive(next, index, outcome!);
      },
    };
  }

  /** The callers of the same process and group that ask together, in the order of their numbers. */
  #mates({ callers }: ModelState, index: number): number[] {
    const isMate = ({ status, number }: CallerState, other: number) =>
      status === 'waits' &&
      number > 0 &&
      processOf(this.#scope, other) === processOf(this.#scope, index) &&
      this.#operations.groupOf(other).id === this.#operations.groupOf(index).id;
    const mates = callers.flatMap((caller, other) => (isMate(caller, other) ? [other] : []));
    return mates.sort((one, other) => callers[one]!.number - callers[other]!.number);
  }

  /** Gets its old place, and refunds its turn if it was too late for it. */
  reenter(state: ModelState, index: number): Choice {
    const { status, number, at, stamp } = state.callers[index]!;
    const arrival = this.#operations.ticket(index, 'enter', [index + 1, number, -1, this.#operations.costs(index)]);
    const operations: Operation[] = [arrival];
    if (status === 'hasTurn') operations.push(...this.#operations.refunding(index, at, stamp));
    return {
      operations,
      apply: (next, outcome) => {
        const again = { status: 'waits', at: 0, stamp: 0, isMissing: false, askAt: NEVER, owesLeave: false };
        Object.assign(next.callers[index]!, again);
        next.isReordered = true;
        this.#receiver.receive(next, index, outcome!);
      },
    };
  }

  start(index: number): Choice {
    return {
      apply: (state) => {
        const caller = state.callers[index]!;
        caller.status = 'started';
        caller.at = state.tick;
        state.starts.push([state.tick, [...this.#scope.costs[index]!]]);
      },
    };
  }

  abort(state: ModelState, index: number): Choice {
    const { status, at, stamp } = state.callers[index]!;
    return {
      operations: status === 'hasTurn' ? this.#operations.refunding(index, at, stamp) : [this.#leave(index)],
      apply: (next, outcome) => {
        next.aborts -= 1;
        // It still receives messages, and refunds a turn that comes late.
        Object.assign(next.callers[index]!, { status: 'started', ...ENDED });
        this.#receiver.receive(next, index, outcome!);
      },
    };
  }

  /** Refunds an action that has started. */
  refund(index: number, { at, stamp }: CallerState): Choice {
    return {
      operations: this.#operations.refunding(index, Math.round((stamp - START) / TICK), stamp),
      apply: (state, outcome) => {
        state.refunds -= 1;
        const costs = JSON.stringify(this.#scope.costs[index]);
        state.starts.splice(
          state.starts.findIndex(([tick, own]) => tick === at && JSON.stringify(own) === costs),
          1,
        );
        state.callers[index]!.at = -1;
        this.#receiver.receive(state, index, outcome!);
      },
    };
  }

  refundUnused(state: ModelState, place: number): Choice {
    const [index, at, stamp] = state.unused[place]!;
    return {
      operations: this.#operations.refunding(index, at, stamp),
      apply: (next, outcome) => {
        next.unused.splice(place, 1);
        this.#receiver.receive(next, index, outcome!);
      },
    };
  }

  #leave(index: number): Operation {
    return this.#operations.ticket(index, 'leave', [index + 1, this.#operations.costs(index)]);
  }
}
