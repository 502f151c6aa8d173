/** The rule of a limit that rejects an action: its quota, the least time between two actions, or a block. */
export type RejectionReason = 'limit' | 'minDifference' | 'blocked';

/**
 * The state of one key: a section of an array of numbers. Each algorithm describes its numbers at the top of its file.
 * All of them are finite once an action is recorded, so that a store can keep them in any format.
 */
export interface State {
  /** The array. {@link resize} may replace it. */
  readonly numbers: Float64Array;
  /** The index of the state's first number. */
  readonly start: number;
  /** How many numbers the state has. */
  readonly size: number;
  /** Whether the state is in the memory of the process that uses it. Leases in it then never expire. */
  readonly diesWithProcess?: boolean;
  /** Changes how many numbers the state has. The first ones keep their values, and added ones have any value. */
  resize(size: number): void;
}

/**
 * The bits of a state's `start`. An `apply` that masks it with them shows V8 that no sum of it and a small number overflows. Otherwise,
 * each number that it reads takes three more instructions.
 */
export const START_BITS = 2 ** 30 - 1;

/** The result of one limit for one action. Waits are microseconds from `nowMicros`. */
export interface Verdict {
  /** The shortest wait until the action is allowed: 0 if it is allowed now, `Infinity` if it never is. */
  waitMicros: number;
  /**
   * The rule that causes the wait, if there is one. If both rules reject, it is the one with the longer wait, and
   * `'limit'` at a tie. A cost above the quota is rejected by `'limit'`.
   */
  reason: RejectionReason;
  /** The delay until the action's start if it is allowed now. */
  delayMicros: number;
  /** The free units, never negative. */
  remaining: number;
  /** The wait until the full quota is free. */
  resetMicros: number;
  /** The wait until the next unit is free, so that `remaining` grows. 0 if the full quota is free. No meaning for slots. */
  nextUnitMicros: number;
  /** The time that identifies the action's hit for a refund. */
  atMicros: number;
  /** What `expiresMicros` of the state is afterward. */
  expiresMicros: number;
  /** Whether the wait of a rejection is advice. Only limits with leases set it, so it has no room in other verdicts. */
  isEstimate?: boolean;
}

/**
 * Creates a verdict for a limit to fill in. The fractions make V8 reserve room for any number in a field. Filling it
 * in again then allocates nothing. The free units are mostly a small integer, which decisions hold without a box.
 */
export function createVerdict(): Verdict {
  return {
    waitMicros: 0.5,
    reason: 'limit',
    delayMicros: 0.5,
    remaining: 0,
    resetMicros: 0.5,
    nextUnitMicros: 0.5,
    atMicros: 0.5,
    expiresMicros: 0.5,
  };
}

/** `apply` only decides, and changes nothing. */
export const TEST = 0;
/** `apply` records the action if it is allowed, and with `countRejected` in any case. */
export const CHECK = 1;
/** `apply` records the action, because other limits have decided on it, too. */
export const RECORD = 2;
/** `apply` records usage on which the limit has no say, an overdraft. It may exceed what is free. */
export const OVERDRAW = 3;

/** What {@link Limit.apply} does besides deciding. */
export type Mode = typeof TEST | typeof CHECK | typeof RECORD | typeof OVERDRAW;

/** Whether `apply` of a limit without `countRejected` records an action with this wait. */
export function records(mode: Mode, waitMicros: number): boolean {
  return mode > CHECK || (mode === CHECK && waitMicros === 0);
}

/** The data about a recorded action that a store keeps for its refund. */
export interface Hit {
  /** The verdict's `atMicros`. */
  readonly atMicros: number;
  /** The time at which the action was recorded. */
  readonly recordedMicros: number;
  /** The units that the action took. */
  readonly cost: number;
}

/** How states begin and end. A store needs this for limits and rolling counters. */
export interface StateLifecycle {
  /** The algorithm's name, such as `'rolling-window'`. A state is read only by the algorithm that wrote it. */
  readonly algorithm: string;
  /**
   * Increase it when the numbers of a state change their meaning.
   *
   * @defaultValue 1
   */
  readonly layoutVersion?: number | undefined;
  /** The longest time for which a recorded action can affect decisions. */
  readonly keepMicros: number;
  /** How many numbers a new state has. */
  readonly stateSize: number;

  /** Writes the state of a new key. It has `stateSize` numbers. */
  create(state: State): void;
  /**
   * The time from which the state is indistinguishable from a new one, or `-Infinity` if it already is. The limit that
   * recorded last determines it, and the state contains what it takes. So each limit of the algorithm returns the same.
   */
  expiresMicros(state: State): number;
  /** Whether a correct clock could have written the state. The store drops a state that lies further ahead. */
  isPlausible(state: State, nowMicros: number): boolean;
  /**
   * Whether a state of finite numbers has all that the limit reads: its counts fit its size, so that no loop over them runs on for
   * ever. A store that keeps states outside of its process drops others, because they are damaged.
   *
   * @defaultValue whether the state has at least `stateSize` numbers
   */
  isIntact?(state: State): boolean;
  /** Returns a copy of the state for debugging. Two states with equal copies decide alike. */
  describe(state: State): unknown;
}

/**
 * One rule: an algorithm with its settings. A limit is immutable and holds no state. The store keeps one `State` per
 * key and passes it with the time. Each method depends on its arguments alone. Once an action is allowed, it stays
 * allowed while nothing happens.
 *
 * A store tests all limits of a check before it records in any, and records in all or in none. Of a single limit, one call
 * does both. It never passes a state that has expired or is implausible.
 *
 * `nowMicros` is in whole microseconds and may lie before earlier times. A limit that keeps the times of hits then uses
 * that of the newest, so that a clock step back admits nothing extra. Waits still count from `nowMicros`.
 */
export interface Limit
  extends StateLifecycle,
    HasPeriods,
    GrantsLeases,
    HoldsSlots,
    DelaysStarts,
    ClosesKeys,
    GivesBack,
    IsScripted {
  /** The quota in units. `Infinity` for a limit without one, such as `block`. */
  readonly limit: number;
  /** The time in which a used-up quota becomes free. Headers report it as the window. */
  readonly windowMicros: number;
  /** Whether the limit also records rejected attempts. */
  readonly countRejected: boolean;
  /** What closes a key after a rejection because too few units are free. It decides as a rule of its own, behind that of the limit. */
  readonly blockFor?: Limit | undefined;
  /**
   * Whether the limit rejects. Otherwise, it records what the others allow, and what exceeds its quota as an overdraft.
   *
   * @defaultValue `true`
   */
  readonly enforced?: boolean | undefined;

  /**
   * Decides on the action and, as `mode` says, records it. Fills in the verdict on the state as it is afterward. Its
   * `atMicros` and `reason` are those of the action itself, and so is its wait, unless the limit has recorded a rejected
   * attempt. After an overdraft, only `atMicros` and `expiresMicros` have a meaning.
   *
   * A new state rejects nothing but a cost above `limit`.
   */
  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void;
  /** Refunds all but the first `kept` units of a recorded hit, as far as they still count. */
  refund(state: State, nowMicros: number, hit: Hit, kept: number): void;
}

// The capabilities of some limits. A limit has all members of one, or none of them.

/** The capability of a limit whose used units are of two kinds: spent and reserved ones. */
export interface DividesUsage {
  /** How the used units divide at this time, if the key has a state. Peeks report it. */
  usageOf?(state: State | undefined, nowMicros: number): Usage;
}

/** The capability of a limit whose periods are those of a calendar. */
export interface HasPeriods extends DividesUsage {
  /** Adds the period to a new result that has the usage. The limit has decided at this time. */
  addPeriod?(result: UsedFigures, nowMicros: number): void;
  /** Gives up to `units` spent units of the present period back, and adds the rest to its quota. */
  extend?(state: State, nowMicros: number, units: number): void;
}

/** The capability of a limit whose checks take leases: slots, or reserved units. */
export interface GrantsLeases {
  /** How long a lease lasts unless it is renewed. A release or a settlement ends it. */
  readonly leaseMicros?: number;
  /**
   * What becomes of the lease of a check whose reply comes after the policy has decided: it stays until its end, it is released, or the
   * check is refunded unless the action may have started all the same.
   */
  readonly onLateReply?: 'keep' | 'release' | 'refund';
  /** Extends the lease of a hit. Returns whether the lease lasts. */
  renew?(state: State, nowMicros: number, hit: Hit): boolean;
}

/**
 * The capability of a limit whose leases are slots, which checks take until they are released. The wait is only advice then. Settlements and charges
 * record no overdraft, and a renewal takes slots again if they are free.
 */
export interface HoldsSlots {
  /** Tells slots from reserved units. */
  readonly holdsSlots?: boolean;
  /** The wait that a rejection suggests. */
  readonly retryAfterMicros?: number;
  /** Returns `id` if no lease of this life of the key has ever had it, and otherwise an id that none has had. */
  unusedId?(state: State, id: number): number;
}

/** The capability of a limit that allows actions whose start it delays, such as a queue. A caller of `wait` then peeks before each check. */
export interface DelaysStarts {
  /**
   * Returns the `StartOrder` of waiting callers, which keeps their delayed starts in order.
   *
   * @param backend The backend of the store. Limiters on it share the queues.
   * @param queues The names of the states that delay the call.
   */
  orderStarts?(backend: object, queues: readonly string[]): object;
}

/** The capability of a limit that closes keys, such as `block`. */
export interface ClosesKeys {
  /** Whether checks and charges leave the state alone, so that a store does not record them. Otherwise, a charge closes the key. */
  readonly testsOnly?: boolean;
}

/** The capability of a limit in a plan of `credit`. */
export interface GivesBack {
  /** Whether a charge, which gives recorded units back, gives back what is used, or also adds to the present period what exceeds that. */
  readonly givesBack?: 'used' | 'beyond';
}

/** The capability of a limit of another package, which a script on a server decides. */
export interface IsScripted {
  /** Returns the settings that the script needs at this time. The limit's `algorithm` chooses the script. */
  settingsAt?(nowMicros: number): readonly number[];
}

/** A limit whose periods are those of a calendar. Each of its results names the period, and how the used units divide. */
export type PeriodicLimit = Limit & Required<HasPeriods>;
/** A limit whose checks take leases. */
export type LeasedLimit = Limit & Required<GrantsLeases>;
/** A limit whose checks take slots, such as `concurrency`. */
export type SlotLimit = LeasedLimit & Required<HoldsSlots>;
/** A limit of another package, which a script on a server decides. */
export type ScriptedLimit = Limit & Required<IsScripted>;

/** How the used units of a limit divide whose checks may reserve units. */
export interface Usage {
  /** The units that stay used until the period ends. */
  readonly spent: number;
  /** The units of checks that are not settled yet. */
  readonly reserved: number;
  /** The quota while it differs from that of the limit, because units were added to this period. */
  readonly limit?: number;
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

/** Whether the limit is what `blockFor` closes keys with. The rule before it is that of the limit with the option. */
export function closesUsedUp({ testsOnly, windowMicros }: Limit): boolean {
  return testsOnly === true && windowMicros > 0;
}

/** Whether the limit decides without a state: 0 rejects everything, and `Infinity` nothing. A block has no quota, but a state. */
export function isConstant({ limit, testsOnly }: Pick<Limit, 'limit' | 'testsOnly'>): boolean {
  return limit === 0 || (limit === Infinity && testsOnly === undefined);
}

/** Whether a number of a state counts something of which the state has room for so many. */
export function isCount(count: number | undefined, most: number): boolean {
  return Number.isInteger(count) && count! >= 0 && count! <= most;
}

/** Whether the value is a limit, and not a record of limits. */
export function isLimit(value: unknown): value is Limit {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Limit>).create === 'function';
}

/** Whether the limit has a quota, unlike `block`. */
export function hasQuota({ limit }: Pick<Limit, 'limit'>): boolean {
  return limit !== Infinity;
}
