import { type ReportedQuota, reportedQuota } from '@rollgate/fetch/outgoing';
import fc from 'fast-check';
import { findFirstTime } from '../find-first-time.js';
import type { Vectors, VectorVerdict } from '../vector.js';
import { type Algorithm, DAY, LONG_RUN, leases, MAX, windowsIn } from './algorithm.js';
import { MS, noDelay, type Oracle, type ReportedCall, type ReservingOracle, sum } from './oracle.js';
import { ms, quota } from './small-settings.js';

/** What a server reports, with durations in milliseconds from now. */
export interface ReportedSettings {
  /** Without it, the server only blocks. */
  readonly kind?: 'window' | 'refill' | undefined;
  readonly remaining?: number | undefined;
  readonly limit?: number | undefined;
  readonly reset?: number | undefined;
  readonly window?: number | undefined;
  readonly block?: number | undefined;
  /** How long ago the call was sent, if the key alone is known. */
  readonly age?: number | undefined;
  /** What calls leave to others at least, and what the server has demanded of a rejected call. */
  readonly reserve?: number | undefined;
  readonly needed?: number | undefined;
}

/** Durations in milliseconds. */
export interface ReportedQuotaSettings {
  readonly lease: number;
  readonly guess: number;
  readonly maxAge: number;
  readonly retryAfter: number;
  /** The numbers that charges and settlements by this limit set. */
  readonly reported?: ReportedSettings | undefined;
}

interface CallId {
  readonly sent: number;
}

/** A call without a response yet. Its id has the time of its check. */
interface Call {
  readonly id: CallId;
  readonly cost: number;
  readonly end: number;
}

/** The numbers of a server. The end of a window lies between `earliest` and `latest`. A refill adds `fill` units per `span`. */
interface Reported {
  readonly kind: 'window' | 'refill';
  /** `undefined` if the server has not reported that of a window. */
  readonly limit: number | undefined;
  readonly remaining: number;
  readonly arrived: number;
  readonly latest: number;
  readonly earliest: number;
  readonly since: number;
  readonly fill: number;
  readonly span: number;
}

interface State {
  readonly calls: readonly Call[];
  readonly reported?: Reported | undefined;
  readonly blockedUntil: number;
  /** What calls leave to others while the quota refills. */
  readonly reserve: number;
  /** Calls to a quota that refills take so many thousandths of their costs. */
  readonly scale: number;
  /** How long the numbers matter. */
  readonly keep: number;
  readonly leaseMicros: number;
}

const TOLERANCE = 1_000_000;
const DEFAULT_SPAN = 60_000_000;
const MAX_FILL = 2 ** 51;

const big = (a: number, b: number, c: number) => Number((BigInt(a) * BigInt(b)) / BigInt(c));

/** The units of the full quota, as far as they are known. */
const wholeOf = ({ limit, remaining }: Reported) => limit ?? Math.max(1, remaining);

/** The units that the server has at a time, without those of open calls. */
function unitsOf(reported: Reported, at: number): number {
  const { kind, remaining, latest, since, fill, span } = reported;
  if (kind === 'window') return at < latest ? remaining : wholeOf(reported);
  return Math.min(wholeOf(reported), remaining + big(Math.max(0, at - since), fill, span));
}

const latestEnd = (calls: readonly Call[]) => Math.max(-Infinity, ...calls.map(({ end }) => end));
const openAt = ({ calls }: State, at: number) => sum(calls.filter(({ end }) => end > at).map(({ cost }) => cost));
const forgotten = ({ reported, blockedUntil, keep }: State) =>
  Math.max(blockedUntil, reported === undefined ? -Infinity : reported.arrived + keep);
const expires = (state: State) => Math.max(forgotten(state), latestEnd(state.calls));
const withoutEnded = (state: State, now: number): State => ({
  ...state,
  calls: state.calls.filter(({ end }) => end > now),
});

/** What calls of this cost take. */
function unitsFor({ reported, scale }: State, cost: number): number {
  return reported?.kind === 'refill' ? Number((BigInt(cost) * BigInt(scale) + 999n) / 1000n) : cost;
}

/** What a response shows of the costs of calls and of other clients. Four times a cost or a reserve is the most. */
function learn(state: State, { reserve = 0, needed = 0 }: ReportedSettings, left: number, limit: number, cost: number) {
  const isKnown = state.reported?.kind === 'refill';
  const isForOthers = isKnown && needed > 0 && unitsFor(state, cost) > left;
  const taken = isForOthers ? unitsFor(state, cost) - left : 0;
  const isFirst = state.reported === undefined && needed === 0;
  const shown = (isKnown ? needed : 0) + (isFirst ? limit - left : 0);
  const thousandths =
    cost === 0 || isForOthers ? 0 : Number((BigInt(shown) * 1000n + BigInt(cost) - 1n) / BigInt(cost));
  return {
    reserve: Math.min(Math.max(reserve, state.reserve * 0.9995) + 2 * taken, 4 * reserve),
    scale: Math.max(1000 + Math.floor(((state.scale - 1000) * 99) / 100), thousandths > 4000 ? 0 : thousandths),
  };
}

/** The units that a call which takes so many leaves to others. */
function reserveNextTo({ reported, reserve }: State, units: number): number {
  if (reported?.kind !== 'refill') return 0;
  return Math.max(0, Math.min(Math.floor(reserve), reported.limit! - units));
}

/** Whether a call costs more than the limit that the server has reported. */
const isNever = ({ reported }: State, cost: number) => reported?.limit !== undefined && cost > reported.limit;

/** The state with the numbers of a response. */
function report(
  state: State,
  { maxAge, reported }: ReportedQuotaSettings,
  now: number,
  sentAt: number,
  cost: number,
): State {
  const within = (ms = 0) => Math.min(ms, maxAge) * MS;
  const { kind, block = 0, window = 0, reset = 0 } = reported!;
  const keep = maxAge * MS;
  const blocked: State =
    block === 0
      ? state
      : {
          ...state,
          blockedUntil: Math.max(state.blockedUntil, now + within(block)),
          keep: Math.max(state.keep, keep),
        };
  if (kind === undefined) return blocked;
  const known = blocked.reported;
  if (kind === 'window' && reset === 0 && known !== undefined) return blocked;
  const sent = Math.min(now, sentAt);
  const keepsLimit = kind === 'refill' || (known?.kind === 'window' && known.limit !== undefined);
  const knownLimit = keepsLimit ? Math.max(1, known?.limit ?? 0, reported!.remaining!) : undefined;
  const limit = reported!.limit ?? knownLimit;
  const remaining = Math.min(reported!.remaining!, limit ?? Infinity);
  const [latest, earliest] = [now + within(reset), sent + within(reset)];
  let [fill, span] = known?.kind === 'refill' ? [known.fill, known.span] : [limit ?? 0, DEFAULT_SPAN];
  if (kind === 'refill' && remaining < limit! && reset > 0) [fill, span] = [limit! - remaining, reset * MS];
  if (kind === 'refill' && window > 0) [fill, span] = [limit!, window * MS];
  const next = {
    kind,
    limit,
    remaining,
    arrived: now,
    latest,
    earliest,
    since: now,
    fill: Math.min(fill, MAX_FILL),
    span,
  };
  const learned = kind === 'refill' ? learn(blocked, reported!, remaining, limit!, cost) : {};
  const replaced: State = { ...blocked, reported: next, ...learned, keep: Math.max(keep, blocked.blockedUntil - now) };
  if (known === undefined || known.kind !== kind) return replaced;
  if (kind === 'refill') {
    return sent < known.arrived && remaining >= unitsOf(known, now) ? { ...blocked, ...learned } : replaced;
  }
  const isOver = now >= known.latest;
  if (isOver ? earliest > known.latest : sent >= known.arrived || earliest > known.latest + TOLERANCE) return replaced;
  const isLower = remaining < unitsOf(known, now);
  if (isOver && (limit !== undefined || !isLower)) return blocked;
  if (latest < known.earliest - TOLERANCE) return blocked;
  const lower = isLower ? { limit, remaining, arrived: now } : {};
  const earlier = latest >= known.earliest ? Math.min(latest, known.latest) : known.latest;
  const end = limit === undefined ? Math.max(latest, known.latest) : earlier;
  return {
    ...blocked,
    reported: { ...known, ...lower, latest: end, earliest: Math.min(end, Math.max(earliest, known.earliest)) },
  };
}

/** Takes units off the numbers, if it is known when they come back. */
function spend(state: State, now: number, cost: number): State {
  const { reported } = state;
  if (reported === undefined || (reported.kind === 'window' && now >= reported.latest)) return state;
  const left = unitsOf(reported, now);
  const remaining = Math.max(0, left - cost);
  return { ...state, reported: { ...reported, remaining, since: Math.max(reported.since, now) } };
}

/**
 * Open calls next to the numbers of a server.
 *
 * @param leasesEnd Whether a lease ends unless it is renewed, as in a store that several processes share.
 */
function reportedQuotaOracle(settings: ReportedQuotaSettings, leasesEnd: boolean): Oracle {
  const { guess, reported: reporting } = settings;
  const lease = settings.lease * MS;
  const empty: State = { calls: [], blockedUntil: -Infinity, reserve: 0, scale: 1000, keep: 0, leaseMicros: lease };
  const endFrom = (now: number) => (leasesEnd ? now + lease : Infinity);
  const allowsNextTo = (open: number, state: State, at: number, cost: number) => {
    const { reported, blockedUntil } = state;
    if (at < blockedUntil) return false;
    if (reported === undefined) return open === 0 || open + cost <= guess;
    if (isNever(state, cost)) return false;
    if (reported.limit === undefined && at >= reported.latest && open === 0) return true;
    const units = Math.min(unitsFor(state, cost), Math.max(cost, wholeOf(reported)));
    return units + unitsFor(state, open) + reserveNextTo(state, units) <= unitsOf(reported, at);
  };
  const allows = (state: State, at: number, cost: number) => allowsNextTo(openAt(state, at), state, at, cost);
  /** The first time at which an action is allowed, if so many units stay open until `end`. */
  const firstTime = (state: State, now: number, cost: number, open: number, end: number) =>
    findFirstTime(now, (at) => at >= end || allowsNextTo(open, state, at, cost)) - now;
  /** The largest cost that is allowed next to so many open units. */
  const freeNextTo = (open: number, state: State, at: number) => {
    const { reported } = state;
    if (reported === undefined) return guess - open;
    const left = unitsOf(reported, at);
    if (left === wholeOf(reported) && open === 0) return left;
    const free = left - unitsFor(state, open) - reserveNextTo(state, 0);
    return reported.kind === 'refill' && free > 0 ? big(free, 1000, state.scale) : free;
  };

  const reserving: ReservingOracle<State, CallId> = {
    charge(before, now, cost) {
      const state = withoutEnded(before, now);
      const age = (reporting?.age ?? 0) * MS;
      const reported = reporting === undefined ? spend(state, now, cost) : report(state, settings, now, now - age, 0);
      return [reported, { sent: now }];
    },
    settle(before, id, now, cost) {
      const state = withoutEnded(before, now);
      const others = state.calls.filter((call) => call.id !== id);
      return [{ ...state, calls: others }, others.length < state.calls.length ? cost : undefined];
    },
    ...(reporting && {
      report: (state: State, now: number, { at, cost }: ReportedCall) =>
        report(withoutEnded(state, now), settings, now, at, cost),
    }),
    withoutLeases: (state) => state,
    figures(state, now) {
      const whole = state.reported === undefined ? guess : wholeOf(state.reported);
      const end = forgotten(state);
      // As if no call were open.
      const units = (at: number) => freeNextTo(0, state, at);
      const waitFor = (count: number) =>
        findFirstTime(now, (at) => at >= end || (at >= state.blockedUntil && units(at) >= count)) - now;
      const resetMicros = waitFor(whole);
      const next = now < state.blockedUntil ? 1 : Math.max(0, units(now)) + 1;
      return { limit: guess, resetMicros, nextUnitMicros: resetMicros === 0 ? 0 : waitFor(next) };
    },
    suggestedWait(state, now, cost) {
      if (now < forgotten(state) && isNever(state, cost)) return Infinity;
      const reportedWait = firstTime(state, now, cost, 0, forgotten(state));
      const openWait = firstTime(state, now, cost, openAt(state, now), expires(state));
      return openWait > reportedWait ? Math.max(reportedWait, Math.min(openWait, settings.retryAfter * MS)) : undefined;
    },
  };
  const oracle: Oracle<State, CallId> = {
    quota: Infinity,
    empty,
    isImplausible(state, now) {
      const end = latestEnd(state.calls);
      const isTooLate = end < Infinity && end - now > 2 * state.leaseMicros;
      return isTooLate || forgotten(state) - now > 2 * state.keep;
    },
    expires,
    allows,
    free: (state, at) => (at < state.blockedUntil ? 0 : freeNextTo(openAt(state, at), state, at)),
    delay: noDelay,
    record(state, now, cost) {
      const id = { sent: now };
      const { calls, ...others } = withoutEnded(state, now);
      return [{ ...others, calls: [...calls, { id, cost, end: endFrom(now) }], leaseMicros: lease }, id];
    },
    refund: (state) => state,
    renew(state, id, now) {
      const call = state.calls.find((one) => one.id === id);
      if (call === undefined || call.end <= now) return undefined;
      return { ...state, calls: state.calls.map((one) => (one === call ? { ...one, end: endFrom(now) } : one)) };
    },
    usage: (state, at) => ({
      spent: state.reported === undefined ? 0 : wholeOf(state.reported) - unitsOf(state.reported, at),
      reserved: openAt(state, at),
    }),
    boundaries: ({ calls }) => calls.map(({ end }) => end).filter((end) => end < Infinity),
    reserving,
  };
  return oracle as Oracle;
}

/** Creates the limit of `reportedQuota()`, or the one whose charges and settlements set these numbers. */
function createReportedQuota({ reported, ...options }: ReportedQuotaSettings): ReportedQuota {
  const limit = reportedQuota(options);
  if (reported === undefined) return limit;
  const { kind, remaining = 0, limit: reportedLimit = 0, reset = 0, window = 0, block = 0, age = 0 } = reported;
  const { reserve = 0, needed = 0 } = reported;
  return limit.reporting({
    kind: kind === undefined ? 0 : kind === 'window' ? 1 : 2,
    remaining,
    limit: reportedLimit,
    resetMicros: reset * MS,
    windowMicros: window * MS,
    blockMicros: block * MS,
    ageMicros: age * MS,
    reserve,
    needed,
  });
}

/** Figures of an allowed action: what remains, and when the full quota and the next unit are back. */
const allowed = (remaining: number, resetMs = 0, nextUnitMs = resetMs): VectorVerdict<ReportedQuotaSettings> => [
  true,
  remaining,
  0,
  resetMs,
  nextUnitMs,
];

/** A rejection by the numbers of the server. */
const rejected = (
  remaining: number,
  waitMs: number,
  resetMs = waitMs,
  nextUnitMs = resetMs,
): VectorVerdict<ReportedQuotaSettings> => [false, remaining, waitMs, resetMs, nextUnitMs];

/** A rejection because calls are open. */
const waiting = (
  remaining: number,
  waitMs: number,
  resetMs = 0,
  nextUnitMs = resetMs,
): VectorVerdict<ReportedQuotaSettings> => [
  ...rejected(remaining, waitMs, resetMs, nextUnitMs),
  { retryIsEstimate: true },
];

/** The settings of the vectors. */
const options = { lease: 30_000, guess: 1, maxAge: 3_600_000, retryAfter: 1000 };
const many = { ...options, guess: 5 };
/** They forget numbers after a second. */
const forgetful = { ...options, maxAge: 1000 };
const manyForgetful = { ...many, maxAge: 1000 };

/** The settings of a call whose response reports these numbers. */
const reporting = (reported: ReportedSettings, of: typeof options = options) => ({ options: { ...of, reported } });

/** The numbers of a window. */
const window = (remaining: number, reset: number, rest: ReportedSettings = {}, of = many) =>
  reporting({ kind: 'window', remaining, limit: 10, reset, ...rest }, of);

/** The numbers of a quota of 1000 that refills one unit per second. */
const refilling = (remaining: number, rest: ReportedSettings = {}) =>
  reporting({ kind: 'refill', remaining, limit: 1000, reset: (1000 - remaining) * 1000, ...rest }, many);

// Resets of different windows differ by more than a second.
const anyReported: fc.Arbitrary<ReportedSettings> = fc.record({
  kind: fc.constantFrom('window' as const, 'window' as const, 'refill' as const, undefined),
  remaining: fc.integer({ min: 0, max: 6 }),
  limit: fc.option(quota, { nil: undefined }),
  reset: fc.oneof({ weight: 3, arbitrary: ms }, fc.constantFrom(0, 1005, 2500)),
  window: fc.option(ms, { nil: undefined, freq: 2 }),
  block: fc.option(ms, { nil: undefined, freq: 2 }),
  age: fc.option(ms, { nil: undefined, freq: 2 }),
  reserve: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 1 }),
  needed: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined, freq: 1 }),
});

const vectors: Vectors<ReportedQuotaSettings> = {
  'while nothing is known, one call of any cost probes, and the others wait for its response': [
    options,
    [0, 'check', 1, ...allowed(0)],
    [0, 'check', 1, ...waiting(0, 1000)],
    [5, 'refund', 0],
    [5, 'check', 7, ...allowed(0)],
    [5, 'peek', 1, ...waiting(0, 1000), { usage: [0, 7] }],
    [6, 'settle', 3, 3],
    [6, 'check', 1, ...allowed(0)],
  ],
  'a guess lets several calls probe together': [
    many,
    [0, 'check', 3, ...allowed(2)],
    [0, 'check', 3, ...waiting(2, 1000)],
    [0, 'check', 2, ...allowed(0)],
    [0, 'release', 0],
    [0, 'peek', 1, ...allowed(3)],
  ],
  'reported numbers replace the guess, open calls count, and the limit is back when the window ends': [
    options,
    [0, 'check', 1, ...allowed(0), reporting({ kind: 'window', remaining: 3, limit: 5, reset: 10_000 })],
    [100, 'settle', 0, 1],
    [100, 'peek', 1, ...allowed(3, 10_000), { usage: [2, 0] }],
    [100, 'check', 2, ...allowed(1, 10_000)],
    [200, 'check', 2, ...waiting(1, 1000, 9900)],
    [200, 'check', 4, ...waiting(1, 9900, 9900)],
    [10_099.999, 'peek', 3, ...waiting(1, 0.001, 0.001)],
    [10_100, 'peek', 3, ...allowed(3)],
    [10_100, 'peek', 4, ...waiting(3, 1000)],
  ],
  'numbers of a call that was sent after the known ones arrived replace them, and others only lower them': [
    many,
    [0, 'check', 1, ...allowed(4), window(8, 10_000)],
    [1, 'check', 1, ...allowed(3), window(7, 9990)],
    [2, 'check', 1, ...allowed(2), window(9, 9985)],
    [10, 'settle', 1, 1],
    [12, 'settle', 0, 1],
    [12, 'peek', 1, ...allowed(6, 9988), { usage: [3, 1] }],
    [20, 'check', 1, ...allowed(5, 9980), window(9, 9980)],
    [30, 'settle', 2, 1],
    [30, 'peek', 1, ...allowed(6, 9970)],
    [40, 'settle', 6, 1],
    [40, 'peek', 1, ...allowed(9, 9980), { usage: [1, 0] }],
  ],
  'a lower count stays, even against a call that was sent before it arrived and after the earlier numbers': [
    many,
    [0, 'check', 1, ...allowed(4), window(8, 10_000)],
    [1, 'check', 1, ...allowed(3), window(5, 9990)],
    [10, 'settle', 0, 1],
    [20, 'check', 1, ...allowed(6, 9990), window(6, 9980)],
    [30, 'settle', 1, 1],
    [40, 'settle', 3, 1],
    [40, 'peek', 1, ...allowed(5, 9970)],
  ],
  'numbers of an earlier window change nothing, even when they come after its end': [
    many,
    [0, 'check', 1, ...allowed(4), window(0, 500)],
    [0, 'check', 1, ...allowed(3), window(9, 5000)],
    [0, 'check', 1, ...allowed(2), window(2, 100)],
    [100, 'settle', 1, 1],
    [200, 'settle', 0, 1],
    [200, 'peek', 1, ...allowed(8, 4900)],
    [5200, 'settle', 2, 1],
    [5200, 'peek', 1, ...allowed(10)],
    [5200, 'check', 1, ...allowed(9), window(4, 9000)],
    [5300, 'settle', 8, 1],
    [5300, 'peek', 1, ...allowed(4, 9000)],
  ],
  'numbers of a later window replace those of the earlier one, whatever the order of the responses': [
    many,
    [0, 'check', 1, ...allowed(4), window(1, 2000)],
    [0, 'check', 1, ...allowed(3), window(9, 10_000)],
    [100, 'settle', 0, 1],
    [200, 'settle', 1, 1],
    [200, 'peek', 1, ...allowed(9, 10_000)],
  ],
  'a quota that refills adds units evenly, to the microsecond': [
    options,
    [0, 'check', 1, ...allowed(0), reporting({ kind: 'refill', remaining: 0, limit: 60, reset: 60_000 })],
    [0, 'settle', 0, 1],
    [0, 'check', 1, ...rejected(0, 1000, 60_000, 1000)],
    [999.999, 'peek', 1, ...rejected(0, 0.001, 59_000.001, 0.001)],
    [1000, 'check', 1, ...allowed(0, 59_000, 1000)],
    [2000, 'settle', 4, 3],
    [2000, 'peek', 1, ...rejected(0, 1000, 60_000, 1000), { usage: [60, 0] }],
    [2000, 'peek', 61, ...rejected(0, Infinity, 60_000, 1000)],
    [62_000, 'peek', 60, ...allowed(60)],
  ],
  'calls leave a reserve of a quota that refills, unless they could not start otherwise': [
    options,
    [0, 'check', 1, ...allowed(0), reporting({ kind: 'refill', remaining: 1, limit: 60, reset: 59_000, reserve: 3 })],
    [0, 'settle', 0, 1],
    [0, 'charge', 1, ...rejected(0, 4000, 60_000, 4000), { usage: [60, 0] }],
    [1000, 'check', 2, ...rejected(0, 4000, 59_000, 3000)],
    [4000, 'check', 1, ...allowed(0, 56_000, 1000)],
    [4000, 'peek', 1, ...rejected(0, 1000, 56_000, 1000), { retryIsEstimate: true }],
    [5000, 'refund', 4],
    [5000, 'peek', 58, ...rejected(2, 55_000, 55_000, 1000)],
    [60_000, 'peek', 60, ...allowed(60)],
    [60_000, 'check', 2, ...allowed(55)],
    [60_000, 'peek', 56, ...waiting(55, 1000)],
    [60_000, 'peek', 55, ...allowed(55)],
  ],
  'a reserve grows by what rejected calls lacked, up to four times its least size, and shrinks with other numbers': [
    many,
    [0, 'charge', 1, ...allowed(490, 500_000, 1000), refilling(500, { reserve: 10 })],
    [0, 'check', 6, ...allowed(484, 500_000, 1000), refilling(2, { reserve: 10, needed: 9 })],
    [0, 'settle', 1, 6],
    [0, 'charge', 1, ...allowed(483, 500_000, 1000), refilling(500, { reserve: 10 })],
    [0, 'check', 25, ...allowed(458, 500_000, 1000), refilling(0, { reserve: 10, needed: 30 })],
    [0, 'settle', 4, 25],
    [0, 'charge', 1, ...allowed(461, 500_000, 1000), refilling(500, { reserve: 10 })],
    [0, 'charge', 1, ...allowed(480, 500_000, 1000), refilling(500, { reserve: 5 })],
    [0, 'charge', 1, ...allowed(450, 500_000, 1000), refilling(500, { reserve: 50, needed: 9 })],
    [0, 'charge', 1, ...allowed(8, 10_000), window(8, 10_000)],
  ],
  'calls are expected to take what the first response shows, although a call may take a full quota': [
    many,
    [0, 'check', 5, ...allowed(0), refilling(990)],
    [0, 'settle', 0, 5],
    [0, 'peek', 1, ...allowed(495, 10_000, 2000)],
    [0, 'check', 400, ...allowed(95, 10_000, 2000)],
    [0, 'check', 96, ...waiting(95, 1000, 10_000, 2000)],
    [2000, 'check', 96, ...allowed(0, 8000, 2000)],
    [2000, 'refund', 3],
    [2000, 'refund', 5],
    [2000, 'peek', 600, ...rejected(496, 8000, 8000, 2000)],
    [10_000, 'check', 600, ...allowed(0)],
    [10_000, 'peek', 1, ...waiting(0, 1000)],
  ],
  'a first response shows nothing if others may have used the quota, after a window, or if it rejects the call': [
    many,
    [0, 'check', 5, ...allowed(0), refilling(979)],
    [0, 'settle', 0, 5],
    [0, 'peek', 1, ...allowed(979, 21_000, 1000)],
    [5_000_000, 'check', 5, ...allowed(0), refilling(990, { needed: 991 })],
    [5_000_000, 'settle', 3, 5],
    [5_000_000, 'peek', 1, ...allowed(990, 10_000, 1000)],
    [10_000_000, 'charge', 1, ...allowed(8, 10_000), window(8, 10_000)],
    [10_000_000, 'check', 5, ...allowed(3, 10_000), refilling(990)],
    [10_000_000, 'settle', 7, 5],
    [10_000_000, 'peek', 1, ...allowed(990, 10_000, 1000)],
  ],
  'a rejection in spite of enough units shows what calls take, and each response lowers that': [
    many,
    [0, 'charge', 1, ...allowed(500, 500_000, 1000), refilling(500)],
    [0, 'check', 10, ...allowed(490, 500_000, 1000), refilling(12, { needed: 15 })],
    [0, 'settle', 1, 10],
    [0, 'charge', 1, ...allowed(334, 500_000, 1000), refilling(500)],
    [0, 'check', 10, ...allowed(324, 500_000, 1000), refilling(500, { needed: 41 })],
    [0, 'settle', 4, 10],
    [0, 'charge', 1, ...allowed(338, 497_000, 1000), refilling(503)],
    [0, 'check', 9, ...allowed(329, 497_000, 1000), refilling(13, { reserve: 3, needed: 15 })],
    [0, 'settle', 7, 9],
    [0, 'charge', 1, ...allowed(10, 980_000, 1000), refilling(20, { reserve: 3 })],
  ],
  'a call above the reported limit never starts, until the numbers are forgotten': [
    manyForgetful,
    [0, 'charge', 1, ...allowed(3, 500), window(3, 500, { limit: 4 }, manyForgetful)],
    [0, 'peek', 5, ...rejected(3, Infinity, 500)],
    [0, 'check', 1, ...allowed(2, 500)],
    [500, 'check', 5, ...rejected(3, Infinity, 0)],
    [500, 'refund', 2],
    [1000, 'check', 6, ...allowed(0)],
  ],
  'a limit that is forgotten rejects no call for good, although another one is open': [
    forgetful,
    [0, 'charge', 1, ...allowed(4), window(4, 500, { limit: 4 }, forgetful)],
    [500, 'check', 1, ...allowed(3)],
    [999, 'peek', 5, ...rejected(3, Infinity, 0)],
    [1000, 'peek', 5, ...waiting(3, 1000)],
    [1000, 'refund', 1],
    [1000, 'check', 5, ...allowed(0)],
  ],
  'after a window without a reported limit, what remained is free, and a call of any cost starts alone': [
    many,
    [0, 'charge', 1, ...allowed(2), window(2, 1000, { limit: undefined })],
    [0, 'peek', 9, ...rejected(2, 1000, 0)],
    [1000, 'check', 2, ...allowed(0)],
    [1000, 'peek', 9, ...waiting(0, 1000)],
    [1000, 'refund', 2],
    [1000, 'check', 9, ...allowed(0)],
    [1000, 'charge', 1, ...waiting(0, 1000, 1000), window(0, 1000, { limit: undefined })],
    [1000, 'refund', 5],
    [2000, 'peek', 1, ...allowed(1)],
  ],
  'a window that has ended lets calls start together while nothing is known, and replaces nothing': [
    options,
    [0, 'charge', 1, ...allowed(8), reporting({ kind: 'window', remaining: 8, reset: 0 })],
    [0, 'charge', 1, ...allowed(8), reporting({ kind: 'window', remaining: 4, reset: 0 })],
    [0, 'check', 6, ...allowed(2)],
    [0, 'peek', 3, ...waiting(2, 1000)],
    [10, 'settle', 2, 6],
    [10, 'peek', 8, ...allowed(8)],
    [
      10,
      'charge',
      1,
      ...rejected(0, 1000, 60_000, 1000),
      reporting({ kind: 'refill', remaining: 0, limit: 60, reset: 60_000 }),
    ],
    [10, 'charge', 1, ...rejected(0, 1000, 60_000, 1000), reporting({ kind: 'window', remaining: 8, reset: 0 })],
  ],
  'a response without the limit of a window leaves the known one': [
    many,
    [0, 'check', 1, ...allowed(4), window(6, 10_000)],
    [0, 'check', 1, ...allowed(3), window(5, 9000, { limit: undefined })],
    [0, 'settle', 0, 1],
    [0, 'settle', 1, 1],
    [0, 'peek', 11, ...rejected(5, Infinity, 9000)],
    [0, 'charge', 1, ...allowed(12, 0), window(12, 9000, { limit: undefined })],
    [0, 'charge', 1, ...allowed(3, 9000), window(3, 9000, { limit: undefined })],
    [9000, 'peek', 12, ...allowed(12)],
  ],
  'after the reset, late numbers without a limit matter only if they are lower than what counts then': [
    many,
    [0, 'check', 1, ...allowed(4), window(5, 9000, { limit: undefined })],
    [0, 'check', 1, ...allowed(3), window(0, 10_000, { limit: undefined })],
    [0, 'settle', 1, 1],
    [10_001, 'settle', 0, 1],
    [10_001, 'peek', 1, ...allowed(1)],
    [10_001, 'charge', 1, ...rejected(0, 9000), window(0, 9000, { limit: undefined, age: 10_001 })],
  ],
  'of several numbers without a limit, the lower count and the later reset stay, even after the reset': [
    many,
    [0, 'check', 1, ...allowed(4), window(0, 2000, { limit: undefined })],
    [0, 'check', 1, ...allowed(3), window(0, 1000, { limit: undefined })],
    [0, 'check', 1, ...allowed(2), window(0, 1500, { limit: undefined })],
    [10, 'settle', 0, 1],
    [20, 'settle', 1, 1],
    [1020, 'peek', 1, ...waiting(0, 1000, 990)],
    [2500, 'settle', 2, 1],
    [2500, 'peek', 1, ...rejected(0, 1500)],
    [4000, 'peek', 1, ...allowed(1)],
  ],
  'the time of a whole refill determines the rate of a full quota': [
    options,
    [0, 'charge', 1, ...allowed(10), reporting({ kind: 'refill', remaining: 10, limit: 10, reset: 0, window: 5000 })],
    [0, 'charge', 4, ...allowed(6, 2000, 500), { usage: [4, 0] }],
    [499.999, 'peek', 1, ...allowed(6, 1500.001, 0.001)],
    [500, 'peek', 1, ...allowed(7, 1500, 500)],
  ],
  'a full quota whose server reports no rate refills within a minute': [
    options,
    [0, 'charge', 1, ...allowed(60), reporting({ kind: 'refill', remaining: 60, limit: 60, reset: 0 })],
    [0, 'charge', 60, ...rejected(0, 1000, 60_000, 1000)],
  ],
  'of numbers that refill, the lower count stays unless its call was sent later': [
    many,
    [0, 'check', 1, ...allowed(4), reporting({ kind: 'refill', remaining: 5, limit: 10, reset: 5000 }, many)],
    [0, 'check', 1, ...allowed(3), reporting({ kind: 'refill', remaining: 4, limit: 10, reset: 6000 }, many)],
    [10, 'settle', 1, 1],
    [20, 'settle', 0, 1],
    [20, 'peek', 1, ...allowed(4, 5990, 990)],
  ],
  'a block rejects until it ends, and a shorter one does not change that': [
    options,
    [0, 'charge', 1, ...rejected(0, 2000), reporting({ block: 2000 })],
    [1000, 'charge', 1, ...rejected(0, 1000), reporting({ block: 500 })],
    [1999.999, 'check', 1, ...rejected(0, 0.001)],
    [2000, 'check', 1, ...allowed(0)],
  ],
  'a block leaves the numbers as they are': [
    many,
    [0, 'charge', 1, ...rejected(0, 2000, 10_000, 2000), window(3, 10_000, { block: 2000 })],
    [1000, 'peek', 4, ...rejected(0, 9000, 9000, 1000)],
    [2000, 'check', 1, ...allowed(2, 8000)],
  ],
  'the numbers of a key count as of the time at which their call was sent': [
    many,
    [0, 'charge', 1, ...allowed(2, 1000), window(2, 1000)],
    [10, 'charge', 1, ...allowed(2, 990), window(4, 990, { age: 20 })],
    [10, 'charge', 1, ...allowed(4, 990), window(4, 990, { age: 5 })],
  ],
  'numbers are forgotten after their greatest age, so no reset is later': [
    forgetful,
    [0, 'charge', 1, ...rejected(0, 1000), window(0, 3_600_000, { limit: 5, block: 7_200_000 }, forgetful)],
    [999.999, 'check', 1, ...rejected(0, 0.001)],
    [1000, 'check', 1, ...allowed(0)],
    [1000, 'check', 1, ...waiting(0, 1000)],
  ],
  'a settlement without numbers takes the actual cost off the reported units, a refund nothing': [
    many,
    [0, 'charge', 1, ...allowed(9, 10_000), window(9, 10_000)],
    [0, 'check', 4, ...allowed(5, 10_000)],
    [1, 'settle', 1, 1],
    [1, 'peek', 1, ...allowed(8, 9999), { usage: [2, 0] }],
    [1, 'check', 4, ...allowed(4, 9999)],
    [2, 'refund', 4],
    [2, 'check', 3, ...allowed(5, 9998)],
    [2, 'release', 6],
    [2, 'peek', 1, ...allowed(5, 9998), { usage: [5, 0] }],
    [2, 'settle', 6, 4],
    [2, 'peek', 1, ...allowed(4, 9998), { usage: [6, 0] }],
    [10_000, 'charge', 7, ...allowed(10)],
  ],
  'a reset forgets the numbers and the open calls': [
    many,
    [0, 'charge', 1, ...allowed(1, 10_000), window(1, 10_000)],
    [0, 'check', 1, ...allowed(0, 10_000)],
    [0, 'reset'],
    [1, 'settle', 1, 1],
    [1, 'check', 5, ...allowed(0)],
  ],
  'a call whose lease is not renewed ends to the microsecond': [
    { ...options, leasesEnd: true },
    [0, 'check', 1, ...allowed(0)],
    [29_999.999, 'check', 1, ...waiting(0, 0.001)],
    [30_000, 'check', 1, ...allowed(0)],
    [40_000, 'renew', 0],
    [69_999.999, 'check', 1, ...waiting(0, 0.001)],
    [70_000, 'check', 1, ...allowed(0)],
  ],
  'what is counted after the end of a window frees nothing when the clock steps back': [
    many,
    [5000, 'charge', 1, ...rejected(0, 800), window(0, 800)],
    [5900, 'charge', 1, ...allowed(10)],
    [5700, 'peek', 1, ...rejected(0, 100)],
  ],
  'what is counted after the numbers were forgotten ends them, even if the clock steps back': [
    manyForgetful,
    [5000, 'charge', 1, ...allowed(3, 500), window(3, 500, {}, manyForgetful)],
    [6500, 'charge', 1, ...allowed(5)],
    [5400, 'peek', 1, ...allowed(5)],
  ],
  'a settlement drops the calls whose leases have ended, so they are not open after a step back of the clock': [
    { ...many, leasesEnd: true },
    [0, 'check', 1, ...allowed(4)],
    [10_000, 'check', 1, ...allowed(3)],
    [30_000, 'settle', 1, 0],
    [29_000, 'peek', 1, ...allowed(5)],
  ],
  'a clock that steps back prolongs a wait, up to twice the greatest age': [
    forgetful,
    [5000, 'charge', 1, ...rejected(0, 800), window(0, 800, { limit: 5 }, forgetful)],
    [4500, 'check', 1, ...rejected(0, 1300)],
    [4000, 'check', 1, ...rejected(0, 1800)],
    [3999.999, 'check', 1, ...allowed(0)],
  ],
};

export const reportedQuotaAlgorithm: Algorithm<ReportedQuotaSettings> = {
  create: createReportedQuota,
  oracle: reportedQuotaOracle,
  hasLeases: true,
  // Charges and settlements of limits with reported numbers replace what the key knows.
  small: (fractions) =>
    fc.record({
      lease: fc.constant(leases[fractions]),
      guess: fc.integer({ min: 1, max: 3 }),
      maxAge: fc.constantFrom(4, 15, 60_000),
      retryAfter: ms,
      reported: fc.option(anyReported, { nil: undefined }),
    }),
  large(fractions) {
    const large = { lease: leases[fractions], guess: 2, maxAge: DAY, retryAfter: DAY };
    return [
      { ...large, guess: MAX },
      { ...large, reported: { kind: 'window', remaining: 3, limit: MAX, reset: 3 * DAY } },
      { ...large, reported: { kind: 'window', remaining: 2, limit: 4, reset: 5000, block: DAY } },
      { ...large, reported: { kind: 'refill', remaining: 1, limit: MAX, reset: 7, reserve: MAX, needed: MAX } },
      { ...large, reported: { kind: 'refill', remaining: 1, limit: 1e12, reset: DAY, window: 11 } },
    ];
  },
  tiny: [
    { lease: 3, guess: 1, maxAge: 4, retryAfter: 1 },
    { lease: 3, guess: 2, maxAge: 4, retryAfter: 2, reported: { kind: 'window', remaining: 1, limit: 2, reset: 2 } },
    {
      lease: 3,
      guess: 1,
      maxAge: 4,
      retryAfter: 1,
      reported: { kind: 'refill', remaining: 1, limit: 3, reset: 3, reserve: 1, needed: 2 },
    },
    {
      lease: 3,
      guess: 2,
      maxAge: 3,
      retryAfter: 1,
      reported: { kind: 'window', remaining: 2, reset: 1, block: 1, age: 1 },
    },
  ],
  // A call that is closed no longer counts, so a window may have any number of them. The caller of the long run closes nothing.
  longRuns: [
    {
      options: { lease: LONG_RUN.window, guess: LONG_RUN.limit, maxAge: LONG_RUN.window, retryAfter: 7 },
      guaranteed: (elapsed, leasesEnd) => LONG_RUN.limit * (leasesEnd ? windowsIn(elapsed) : 1),
    },
  ],
  vectors,
};
