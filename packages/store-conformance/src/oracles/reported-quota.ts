import { findFirstTime } from '../find-first-time.js';
import { MS, noDelay, type Oracle, type ReportedCall, type ReservingOracle, sum } from './oracle.js';

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
export function reportedQuotaOracle(settings: ReportedQuotaSettings, leasesEnd: boolean): Oracle {
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
