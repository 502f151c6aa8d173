import type { Operation } from '../../src/operations/operations.js';
import type { Scope } from './scope.js';
import type { Outcome } from './script-runner.js';

/** The microseconds of a tick, and the time of tick 0. */
export const TICK = 10_000;
export const START = 1e15;
/** A tick that never comes. */
export const NEVER = 1e6;

export type Status = 'idle' | 'waits' | 'hasTurn' | 'started' | 'gone';

export interface CallerState {
  /** Whether its ticket must be taken out of the queues once more. */
  owesLeave: boolean;
  /** Whether the client will send its arrival again. */
  resends: boolean;
  /** The turns that were read, if messages may arrive twice. */
  seen: string[];
  status: Status;
  number: number;
  /** The tick of its start. */
  at: number;
  /** The stamp of its turn, and the time of each hit in microseconds. */
  stamp: number;
  hits: number[];
  isMissing: boolean;
  /** When it asks as the first one, in order runs. */
  askAt: number;
}

export interface ModelState {
  tick: number;
  dumps: string[];
  /** The ids of the tickets in each queue, and the text of each leaky bucket. */
  places: string[];
  callers: CallerState[];
  messages: [process: number, text: string][];
  /** Turns that nobody uses, which will be refunded. */
  unused: [index: number, stamp: number, hits: number[]][];
  /** What has started: the tick, the costs, and the tick at which it was recorded. */
  starts: [tick: number, costs: number[], recorded: number][];
  crashes: number;
  aborts: number;
  refunds: number;
  failedLeaves: number;
  repeatedMessages: number;
  lostReplies: number;
  splitBatches: number;
  checks: number;
  /** How many checks have found callers in a queue, and will be sent as checks behind them. */
  heldChecks: number;
  overtakingChecks: number;
  /** Whether a ticket got its place back, so that the order is not that of the numbers. */
  isReordered: boolean;
}

/** A choice of the model: the operations of a script call, or `undefined` for none, and what follows from the outcome. */
export interface Choice {
  readonly operations?: readonly Operation[];
  apply(state: ModelState, outcome: Outcome | undefined): void;
}

/** The state in which nobody has called yet, with so many keys. */
export function initialState(scope: Scope, keyCount: number): ModelState {
  const { crashes = 0, aborts = 0, refunds = 0, checks = 0, overtakingChecks = 0 } = scope;
  const { failedLeaves = 0, repeatedMessages = 0, lostReplies = 0, splitBatches = 0 } = scope;
  const empty = Array.from({ length: keyCount }, () => '');
  return {
    tick: 0,
    dumps: [...empty],
    places: [...empty],
    callers: scope.costs.map(() => ({
      ...{ status: 'idle', number: 0, at: 0, stamp: 0, hits: [], isMissing: false, askAt: NEVER },
      ...{ owesLeave: false, resends: false, seen: [] },
    })),
    messages: [],
    unused: [],
    starts: [],
    ...{ crashes, aborts, refunds, checks, overtakingChecks, failedLeaves, repeatedMessages, lostReplies },
    splitBatches,
    heldChecks: 0,
    isReordered: false,
  };
}

/** What is left of a caller that no longer waits, and no longer matters for the limit. */
export const ENDED = { at: -1, stamp: 0, hits: [] as number[], isMissing: false, askAt: NEVER };

/** The tick of a time in microseconds. */
export function tickOf(micros: number): number {
  return Math.round((micros - START) / TICK);
}
