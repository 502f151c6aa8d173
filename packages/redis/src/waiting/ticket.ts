import type { Decision } from '@rollgate/core';
import type { Costs, StoreWait } from '@rollgate/core/store';

/** A turn that a script has granted. Its hits are recorded. */
export interface Turn {
  readonly decision: Decision;
  readonly receipt: unknown;
  /** When it was recorded and when the action starts, by the clock that decides, in milliseconds. */
  readonly madeMs: number;
  readonly startMs: number;
}

/** A caller of this process that waits. */
export class Ticket {
  /** Its number in the queues; 0 until a script has reported it. */
  number = 0;
  /** When to ask for its turn, because it is the first one in a queue. */
  askMs = Infinity;
  /** When its turn comes at the latest, as far as the scripts know. */
  dueMs = Infinity;
  /** When a script has granted its turn, by the clock that decides. */
  grantedMicros = -Infinity;
  /** When a script has not found it in the queues. Its turn may be on the way as a message then. */
  missingSinceMs: number | undefined;
  /** How often it was too late for its turn. */
  lateCount = 0;
  /** Whether its arrival has failed before. */
  hasFailed = false;
  /** Whether the units of a turn that it has missed are about to be free. Until then, the time of its next turn is too late. */
  isRefunding = false;
  state: 'waits' | 'hasTurn' | 'left' = 'waits';
  /** The tickets before and after this one in its line. Only the `TicketList` of the line writes them. */
  previous: Ticket | undefined;
  next: Ticket | undefined;
  /** The turns that were read, by their times and stamps. */
  readonly #seen = new Set<string>();
  /** Resolves when a script has granted its turn, or to `undefined` if the store has failed. */
  turn!: Promise<Turn | undefined>;
  #resolve!: (turn: Turn | undefined) => void;
  #reject!: (error: unknown) => void;

  constructor(
    readonly id: number,
    readonly call: StoreWait,
    readonly costs: Costs,
  ) {
    this.waitAgain();
  }

  waitAgain(): void {
    this.state = 'waits';
    this.askMs = Infinity;
    this.dueMs = Infinity;
    this.missingSinceMs = undefined;
    this.grantedMicros = -Infinity; // The clock of the server may have been set back since then.
    this.turn = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.turn.catch(() => {}); // No caller listens after a cancellation.
  }

  /** Whether a turn is read for the first time. A message may arrive twice, and must not refund the hits of an action that starts. */
  isNewTurn({ at, stamp }: { readonly at: number; readonly stamp: number }): boolean {
    const turn = `${at} ${stamp}`;
    if (this.#seen.has(turn)) return false;
    this.#seen.add(turn);
    return true;
  }

  grant(turn: Turn): void {
    this.state = 'hasTurn';
    this.#resolve(turn);
  }

  /** Lets the caller wait in this process, because the store has failed. */
  giveUp(): void {
    this.state = 'left';
    this.#resolve(undefined);
  }

  fail(error: unknown): void {
    this.state = 'left';
    this.#reject(error);
  }
}
