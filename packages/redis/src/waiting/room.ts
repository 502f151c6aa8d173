import type { Clock } from '@rollgate/core';
import type { StoreWait } from '@rollgate/core/store';
import type { TicketOperation } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';
import type { Subscriber } from './subscriber.js';
import type { Ticket, Turn } from './ticket.js';
import type { Caller, HorizonSettings, TicketGroup } from './ticket-group.js';

/** The least time by which a process asks for a turn before it comes. */
const LEAST_MS = 4;
/** By how much a reply may take longer than the recent ones. */
const MARGIN = 1.5;
/** How much the slowest recent question counts after each further one. */
const DECAY = 0.9;
/** The most of the horizon. The rest covers turns that come after the first one. */
const MOST_OF_HORIZON = 0.6;

/**
 * How long before a turn a process asks for it. A script grants the turns within a horizon that starts with it, so a process that asks
 * late gets more of them. The time follows how late timers and replies have come, so that a turn is known before it comes.
 */
export class AskLead {
  #slowestMs = 0;

  /** A reply has come so long after the time at which the process wanted to ask. */
  note(tookMs: number): void {
    this.#slowestMs = Math.max(tookMs, DECAY * this.#slowestMs);
  }

  leadMs(horizonMicros: number): number {
    return Math.min(Math.max(LEAST_MS, MARGIN * this.#slowestMs), (MOST_OF_HORIZON * horizonMicros) / 1000);
  }
}

/** A line that can take its tickets out of the queues. */
export interface Leavable {
  sendLeave(ticket: Ticket): void;
}

/** What a line needs of the queues of its store. */
export interface Room {
  readonly leaseMs: number;
  /** Whether a clock was injected. */
  readonly hasClock: boolean;
  /** Whether messages arrive now. */
  readonly getsMessages: boolean;
  readonly lead: AskLead;
  nowMs(): number;
  after(delayMs: number, callback: () => void): () => void;
  /** The sender of an operation now. */
  caller(): Caller;
  send(operation: TicketOperation): void;
  /** Reads the reply to an operation of a group that was sent at `sentMs`. */
  receive(text: string, sentMs: number, group: TicketGroup): void;
  /** Refunds a turn that no action uses. */
  refund(turn: Turn): void;
  /** The `leave` of a ticket has failed. */
  noteUnconfirmed(ticket: Ticket, line: Leavable): void;
  /** Asks for turns in all lines, because messages may be lost, or only in those whose leases must be extended until a time. */
  askAll(untilMs?: number): void;
  /** Forgets the line of a group, which is empty. */
  drop(line: object, groupId: string): void;
}

/** What the queues need of their store. */
export interface QueueingStore {
  readonly clock: Clock | undefined;
  /** Describes a call. */
  encode(call: Pick<StoreWait, 'plan' | 'keys'>): {
    readonly encodedPlan: EncodedPlan;
    readonly keys: readonly string[];
  };
  send(operation: TicketOperation): void;
  refund(receipt: unknown): Promise<void>;
}

/** The options of the queues, and what follows from the client. */
export interface RoomSettings extends HorizonSettings {
  readonly leaseMs: number;
  readonly subscriber: Subscriber | undefined;
}
