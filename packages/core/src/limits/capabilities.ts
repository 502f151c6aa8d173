import type { StartOrder } from '../time/start-order.js';
import type { Hit, Limit, State } from './limit.js';

// What some limits can do in addition to those of `Limit`. A limit with a capability has the members of its interface.

/** How the used units of a limit divide whose checks may reserve units. */
export interface Usage {
  /** The units that stay used until the period ends. */
  readonly spent: number;
  /** The units of checks that are not settled yet. */
  readonly reserved: number;
  /** The quota while it differs from that of the limit, because units were added to this period. */
  readonly limit?: number;
}

/** A limit whose peeks report how the used units divide. */
export interface MeteredLimit extends Limit {
  /** How the used units divide at this time, if the key has a state. */
  usageOf(state: State | undefined, nowMicros: number): Usage;
}

/** What a result has before its limit adds the period. */
export interface UsedFigures {
  /** Milliseconds until the full quota is free. */
  readonly resetMs: number;
  /** As in {@link Usage}. */
  readonly spent?: number | undefined;
  /** As in {@link Usage}. */
  readonly reserved?: number | undefined;
}

/** A limit whose periods are those of a calendar. Each of its results names the period, and how the used units divide. */
export interface PeriodicLimit extends MeteredLimit {
  /** Adds the period to a new result that has the usage. The limit has decided at this time. */
  addPeriod(result: UsedFigures, nowMicros: number): void;
  /** Gives up to `units` spent units of the present period back, and adds the rest to its quota. */
  extend(state: State, nowMicros: number, units: number): void;
}

/** A limit whose checks take leases: slots, or reserved units. A release or a settlement ends them. */
export interface LeasedLimit extends Limit {
  /** How long a lease lasts unless it is renewed. */
  readonly leaseMicros: number;
  /**
   * What becomes of the lease of a check whose reply comes after the policy has decided: it stays until its end, it is released, or the
   * check is refunded unless the action may have started all the same.
   */
  readonly onLateReply: 'keep' | 'release' | 'refund';
  /** Extends the lease of a hit. Returns whether the lease lasts. */
  renew(state: State, nowMicros: number, hit: Hit): boolean;
}

/**
 * A limit whose checks take slots until they are released, such as `concurrency`. Its wait is only advice. Settlements and charges
 * record no overdraft, and a renewal takes slots again if they are free.
 */
export interface SlotLimit extends LeasedLimit {
  /** Tells slots from reserved units. */
  readonly holdsSlots: true;
  /** The wait that a rejection suggests. */
  readonly retryAfterMicros: number;
  /** Returns `id` if no lease of this life of the key has ever had it, and otherwise an id that none has had. */
  unusedId(state: State, id: number): number;
}

/** A limit that allows actions whose start it delays, such as a queue. A waiting caller peeks before each check. */
export interface DelayingLimit extends Limit {
  /**
   * Returns what keeps the delayed starts of waiting callers in order.
   *
   * @param backend The backend of the store. Limiters on it share the queues.
   * @param queues The names of the states that delay the call.
   */
  orderStarts(backend: object, queues: readonly string[]): StartOrder;
}

/** A limit that closes keys, such as `block`. A charge by it closes them, unless it only tests. */
export interface ClosingLimit extends Limit {
  /** Whether checks and charges leave the state alone. A store then does not record them. */
  readonly testsOnly: boolean;
}

/** A limit in a plan of `credit`: a charge by it gives recorded units back. */
export interface CreditingLimit extends Limit {
  /** Whether it gives back what is used, or also adds to the present period what exceeds that. Other limits have no such property. */
  readonly givesBack: 'used' | 'beyond';
}

/** A limit of another package, which a script on a server decides. The name of its algorithm chooses the script. */
export interface ScriptedLimit extends Limit {
  /** Returns the settings that the script needs at this time, as it describes them. */
  settingsAt(nowMicros: number): readonly number[];
}

/** What a check has to know of any limit. It reads that without a call. */
export type CapableLimit = Limit &
  Partial<Pick<SlotLimit, 'holdsSlots'> & Pick<PeriodicLimit, 'addPeriod'> & Pick<ClosingLimit, 'testsOnly'>>;

/** Whether checks of the limit take leases. */
export function hasLeases(limit: Limit): limit is LeasedLimit {
  return (limit as Partial<LeasedLimit>).leaseMicros !== undefined;
}

/** Whether checks of the limit take slots. */
export function holdsSlots(limit: Limit): limit is SlotLimit {
  return (limit as Partial<SlotLimit>).holdsSlots === true;
}

/** Whether peeks of the limit report how its used units divide. */
export function isMetered(limit: Limit): limit is MeteredLimit {
  return (limit as Partial<MeteredLimit>).usageOf !== undefined;
}

/** Whether all results of the limit name a period. */
export function isPeriodic(limit: Limit): limit is PeriodicLimit {
  return (limit as Partial<PeriodicLimit>).addPeriod !== undefined;
}

/** Whether the limit may delay the start of an allowed action. */
export function canDelay(limit: Limit): limit is DelayingLimit {
  return (limit as Partial<DelayingLimit>).orderStarts !== undefined;
}

/** Whether checks and charges leave the states of the limit alone. */
export function onlyTests(limit: Limit): boolean {
  return (limit as Partial<ClosingLimit>).testsOnly === true;
}

/** Whether a charge by the limit closes keys. */
export function closesKeys(limit: Limit): boolean {
  return (limit as Partial<ClosingLimit>).testsOnly === false;
}

/** Whether a charge by the limit gives units back. */
export function givesBack(limit: Limit): limit is CreditingLimit {
  return (limit as Partial<CreditingLimit>).givesBack !== undefined;
}

/** Whether a charge by the limit leaves a key without a state alone. */
export function needsState(limit: Limit): boolean {
  return (limit as Partial<CreditingLimit>).givesBack === 'used';
}

/** Whether the limit is what `blockFor` closes keys with. The rule before it is that of the limit with the option. */
export function closesUsedUp(limit: Limit): boolean {
  return onlyTests(limit) && limit.windowMicros > 0;
}

/** Whether the limit decides without a state: 0 rejects everything, and `Infinity` nothing. A block has no quota, but a state. */
export function isConstant(limit: Limit): boolean {
  return limit.limit === 0 || (limit.limit === Infinity && (limit as Partial<ClosingLimit>).testsOnly === undefined);
}
