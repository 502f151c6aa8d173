import { mulDiv, mulDivUp } from '@rollgate/core/limits';
import type { State } from '@rollgate/core/store';
import * as server from './reported-state.js';

/** What a server has reported. Times are microseconds from now, whole numbers. */
export interface ReportedNumbers {
  /** `NOTHING` if it has only blocked. */
  readonly kind: server.Kind;
  /** The units that the server has left. */
  readonly remaining: number;
  /** 0 if the server has not reported it. */
  readonly limit: number;
  /** When the window ends, or when a quota that refills is full. */
  readonly resetMicros: number;
  /** In how long an empty quota refills. 0 if the server has not reported it. */
  readonly windowMicros: number;
  /** For how long no call may start. */
  readonly blockMicros: number;
  /** The units that calls leave to other clients at least. */
  readonly reserve: number;
  /** The units without which the server rejected the call. 0 if it allowed the call. */
  readonly needed: number;
  /** How long ago the call was sent, if no check knows it. */
  readonly ageMicros: number;
}

/** The call of a response. */
export interface ReportedCall {
  readonly sentMicros: number;
  /** What its check has expected. 0 if no check knows the call. */
  readonly cost: number;
}

/** Many servers report a reset in whole seconds, so those of one window may differ by almost as much. */
const TOLERANCE_MICROS = 1_000_000;

/** In how long a quota refills whose server has reported neither the rate nor that a unit is missing. */
const DEFAULT_SPAN_MICROS = 60_000_000;

/** The part of a grown reserve that stays with each response. */
const DECAY = 0.9995;
/** How many times the least reserve it grows to. */
const MOST_RESERVES = 4;
/** Calls are expected to take at most four times their costs. */
const MOST_EXCESS = 3000;

/** Up to here, the scripts of a `RedisStore` divide exactly. */
const MAX_FILL = 2 ** 51;

/**
 * Updates what a key knows. Responses may arrive in any order. Numbers of a call that was sent after the known ones arrived
 * replace them. Otherwise both count, so the lower one of the same window.
 *
 * @param call When it was sent, and its cost, or 0 if no check knows it.
 * @param keepMicros How long numbers matter.
 */
export function reportNumbers(
  state: State,
  reported: ReportedNumbers,
  nowMicros: number,
  { sentMicros, cost }: ReportedCall,
  keepMicros: number,
): void {
  const { numbers, start } = state;
  if (reported.blockMicros > 0) {
    numbers[start + server.BLOCKED] = Math.max(numbers[start + server.BLOCKED]!, nowMicros + reported.blockMicros);
    numbers[start + server.KEEP] = Math.max(numbers[start + server.KEEP]!, keepMicros);
  }
  if (reported.kind === server.NOTHING) return;
  const sent = Math.min(sentMicros, nowMicros);
  if (reported.kind === server.WINDOW) {
    if (reported.resetMicros === 0 && server.isKnown(state)) return; // A window that has ended shows nothing of the present one.
    const limit = reported.limit || knownLimit(state, reported.remaining);
    const remaining = Math.min(reported.remaining, limit || reported.remaining);
    reportWindow(state, { ...reported, limit, remaining }, nowMicros, sent, keepMicros);
    return;
  }
  const limit = reported.limit || Math.max(1, numbers[start + server.LIMIT]!, reported.remaining);
  const refill = { ...reported, limit, remaining: Math.min(reported.remaining, limit) };
  learnCosts(state, refill, cost);
  reportRefill(state, refill, nowMicros, sent, keepMicros);
}

/** The limit that a window keeps if a response lacks it. 0 if no response has reported one. */
function knownLimit({ numbers, start }: State, remaining: number): number {
  const limit = numbers[start + server.KIND] === server.WINDOW ? numbers[start + server.LIMIT]! : 0;
  return limit && Math.max(limit, remaining);
}

function reportWindow(state: State, reported: ReportedNumbers, now: number, sent: number, keep: number): void {
  const { numbers, start } = state;
  const latest = now + reported.resetMicros;
  const earliest = sent + reported.resetMicros;
  const known = numbers[start + server.RESET]!;
  const isOver = now >= known;
  // Once a window is over, only numbers of a later one matter.
  const isNewer = isOver
    ? earliest > known
    : sent >= numbers[start + server.AT]! || earliest > known + TOLERANCE_MICROS;
  if (numbers[start + server.KIND] !== server.WINDOW || isNewer) {
    replace(state, reported, now, keep);
    numbers[start + server.RESET] = latest;
    numbers[start + server.EARLIEST_RESET] = earliest;
    return;
  }
  const isRolling = reported.limit === 0;
  const isLower = reported.remaining < server.unitsAt(state, now);
  const matters = !isOver || (isRolling && isLower);
  if (latest + TOLERANCE_MICROS < numbers[start + server.EARLIEST_RESET]! || !matters) return; // Of an earlier window.
  if (isLower) {
    numbers[start + server.LIMIT] = reported.limit;
    numbers[start + server.REMAINING] = reported.remaining;
    numbers[start + server.AT] = now;
  }
  const knownEarliest = numbers[start + server.EARLIEST_RESET]!;
  // Without a limit, the earlier reset may be that of a unit which the later response has taken. Otherwise the window cannot end
  // before its earliest end, so that a late response of a short window that has ended does not end the present one.
  const isEarlier = latest >= knownEarliest && latest < known;
  const reset = isRolling ? Math.max(known, latest) : isEarlier ? latest : known;
  numbers[start + server.RESET] = reset;
  numbers[start + server.EARLIEST_RESET] = Math.min(Math.max(knownEarliest, earliest), reset);
}

function reportRefill(state: State, reported: ReportedNumbers, now: number, sent: number, keep: number): void {
  const { numbers, start } = state;
  const refills = numbers[start + server.KIND] === server.REFILL;
  if (refills && sent < numbers[start + server.AT]! && reported.remaining >= server.unitsAt(state, now)) return;
  const missing = reported.limit - reported.remaining;
  if (reported.windowMicros > 0) setRate(state, reported.limit, reported.windowMicros);
  else if (missing > 0 && reported.resetMicros > 0) setRate(state, missing, reported.resetMicros);
  else if (!refills) setRate(state, reported.limit, DEFAULT_SPAN_MICROS);
  replace(state, reported, now, keep);
  numbers[start + server.SINCE] = now;
}

/**
 * Learns from a response what calls take, and what other clients take between two of them. While nothing is known, one call is open.
 * If the quota was full before, what is missing shows what the call has taken. This guess fades quickly.
 */
function learnCosts(state: State, { limit, remaining, needed, reserve }: ReportedNumbers, cost: number): void {
  const { numbers, start } = state;
  const kind = numbers[start + server.KIND];
  const missing = kind === server.REFILL && needed > 0 ? Math.max(0, server.expectedUnits(state, cost) - remaining) : 0;
  // Twice what was missing leaves room for more.
  const grown = Math.max(reserve, numbers[start + server.RESERVE]! * DECAY) + 2 * missing;
  numbers[start + server.RESERVE] = Math.min(grown, MOST_RESERVES * reserve);
  let taken = 0;
  if (kind === server.NOTHING && needed === 0) taken = limit - remaining;
  else if (kind === server.REFILL && missing === 0) taken = needed;
  const learned = cost > 0 ? mulDivUp(taken, 1000, cost) - 1000 : 0;
  const known = mulDiv(numbers[start + server.EXCESS]!, 99, 100);
  numbers[start + server.EXCESS] = learned > MOST_EXCESS ? known : Math.max(known, learned);
}

function setRate({ numbers, start }: State, fill: number, span: number): void {
  numbers[start + server.FILL] = Math.min(fill, MAX_FILL);
  numbers[start + server.SPAN] = span;
}

function replace(
  { numbers, start }: State,
  { kind, limit, remaining }: ReportedNumbers,
  now: number,
  keep: number,
): void {
  numbers[start + server.KIND] = kind;
  numbers[start + server.LIMIT] = limit;
  numbers[start + server.REMAINING] = remaining;
  numbers[start + server.AT] = now;
  numbers[start + server.KEEP] = Math.max(keep, numbers[start + server.BLOCKED]! - now); // A block stays plausible.
}
