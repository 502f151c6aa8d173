import type { Clock } from '@rollgate/core';
import type { StoreWait } from '@rollgate/core/store';
import type { CheckInput, TicketOperation } from '../operations/operations.js';
import type { AskLead } from './ask-lead.js';
import type { Subscriber } from './subscriber.js';
import type { Ticket, Turn } from './ticket.js';
import type { Caller, HorizonSettings, TicketGroup } from './ticket-group.js';

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
  /** The `leave` of a ticket has failed. `leave` sends it again. */
  noteUnconfirmed(ticket: Ticket, leave: () => void): void;
  /** Asks for turns in all lines, because messages may be lost, or only in those whose leases must be extended until a time. */
  askAll(untilMs?: number): void;
  /** Forgets the line of a group, which is empty. */
  drop(line: object, groupId: string): void;
}

/** What the queues need of their store. */
export interface QueueingStore {
  readonly clock: Clock | undefined;
  /** Describes a call. */
  encode(call: StoreWait): CheckInput;
  send(operation: TicketOperation): void;
  refund(receipt: unknown): Promise<void>;
}

/** The options of the queues, and what follows from the client. */
export interface RoomSettings extends HorizonSettings {
  readonly leaseMs: number;
  readonly subscriber: Subscriber | undefined;
}
