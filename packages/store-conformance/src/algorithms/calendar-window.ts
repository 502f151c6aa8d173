import { CalendarWindow, LeasedCalendarWindow } from '@rollgate/calendar/window';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { assertAtMost, unitsOf } from './admissions.js';
import { type Algorithm, DAY, LONG_RUN, leases, MAX, windowsIn } from './algorithm.js';
import { isTooFarAhead, MS, noDelay, type Oracle, type ReservingOracle, scaleOf, sum } from './oracle.js';
import { ms, quota } from './small-settings.js';

/** A limit with a table of periods instead of a calendar. */
export interface CalendarWindowSettings {
  readonly limit: number;
  readonly enforce?: boolean | undefined;
  /** The lengths of the periods in milliseconds. They follow each other from time 0 on, again and again. */
  readonly lengths: readonly number[];
  /** How long a reservation lasts without a renewal, in milliseconds. Without it, checks reserve nothing. */
  readonly lease?: number | undefined;
  /** What becomes of a reservation then. */
  readonly unsettled?: 'refund' | 'charge' | undefined;
  readonly blockFor?: number | undefined;
}

/** What a refund or a settlement finds an action by, and what the action has cost. */
interface Id {
  readonly cost: number;
}

/** One action. */
interface Hit {
  readonly id: Id;
  /** What of it is used. A credit may have given the rest back. */
  readonly cost: number;
  /** When the reservation of these units ends. Spent units have none. */
  readonly until?: number | undefined;
  /** Whether the units come back then. */
  readonly returns?: boolean | undefined;
}

/** The end of the running period, the actions in it, the scale of the largest limit that recorded them, and units added to the quota. */
interface Running {
  readonly end: number;
  readonly hits: readonly Hit[];
  readonly scale: number;
  readonly extra: number;
}

const EMPTY: Running = { end: -Infinity, hits: [], scale: 0, extra: 0 };

/** The most units that are added to a period. */
const MOST_EXTRA = 2 ** 46;

/** The start and the end of the period that contains `at`, in microseconds. */
function tabledPeriod(lengths: readonly number[], at: number): readonly [start: number, end: number] {
  const all = sum(lengths) * MS;
  let start = Math.floor(at / all) * all;
  for (const length of lengths) {
    if (at < start + length * MS) return [start, start + length * MS];
    start += length * MS;
  }
  throw new RangeError(`Expected a time, got ${at}`);
}

const isReserved = ({ until = -Infinity }: Hit, at: number) => until > at;
const isBack = ({ until = Infinity, returns }: Hit, at: number) => returns === true && until <= at;

/** What is left when the reservations that have ended are gone, or spent. */
function withoutEnded(running: Running, now: number): Running {
  const left = running.hits.filter((hit) => !isBack(hit, now));
  const hits = left.map((hit) => (isReserved(hit, now) ? hit : { id: hit.id, cost: hit.cost }));
  return unitsOf(hits) + running.extra === 0 ? EMPTY : { ...running, hits };
}

/** Takes up to so many units of the hits that may lose some, the newest first. */
function takeUnits(hits: readonly Hit[], units: number, mayLose: (hit: Hit) => boolean): Hit[] {
  let left = units;
  return hits
    .toReversed()
    .map((hit) => {
      const taken = mayLose(hit) ? Math.min(left, hit.cost) : 0;
      left -= taken;
      return { ...hit, cost: hit.cost - taken };
    })
    .reverse();
}

/**
 * Counts the actions until the period of each of them has ended.
 *
 * @param leasesEnd Whether a lease ends unless it is renewed, as in a store that several processes share.
 */
function calendarWindowOracle(settings: CalendarWindowSettings, leasesEnd: boolean): Oracle {
  const { limit, lengths, lease, unsettled = 'refund' } = settings;
  const ownScale = scaleOf(Math.max(...lengths) * MS);
  const hitsAt = ({ end, hits }: Running, at: number) => (at < end ? hits : []);
  const counted = (running: Running, at: number) =>
    hitsAt(running, at).filter((hit) => lease === undefined || !isBack(hit, at));
  const extra = (running: Running, at: number) => (at < running.end ? running.extra : 0);
  const quotaAt = (running: Running, at: number) => Math.min(limit + extra(running, at), MAX);
  const free = (running: Running, at: number) => quotaAt(running, at) - unitsOf(counted(running, at));
  const reserved = (running: Running, at: number) =>
    lease === undefined ? 0 : unitsOf(hitsAt(running, at).filter((hit) => isReserved(hit, at)));
  const endFrom = (now: number) => (leasesEnd ? now + lease! * MS : Infinity);
  const reach = (running: Running, now: number): Running => {
    const [, ownEnd] = tabledPeriod(lengths, now);
    const { end, scale } = running;
    if (now >= end) return { ...EMPTY, end: ownEnd, scale: ownScale };
    return { ...running, end: Math.max(end, ownEnd), scale: Math.max(scale, ownScale) };
  };
  const add = (running: Running, now: number, hit: Hit): Running => {
    const reached = reach(running, now);
    return { ...reached, hits: [...reached.hits, hit] };
  };
  const isSpent = (hit: Hit, now: number) => lease === undefined || !(isReserved(hit, now) || isBack(hit, now));
  const charge = (running: Running, now: number, cost: number): [Running, Id] => {
    const id = { cost };
    return [add(running, now, { id, cost }), id];
  };
  const reserve = (running: Running, now: number, cost: number): [Running, Id] => {
    const id = { cost };
    const hit = { id, cost, until: endFrom(now), returns: unsettled === 'refund' };
    return [add(withoutEnded(running, now), now, hit), id];
  };
  /** Gives all but `kept` units of an action back. Spent units are interchangeable, so others make up for those that a credit has. */
  const keep = (running: Running, id: Id, kept: number, now: number): Running => {
    const own = running.hits.find((hit) => hit.id === id);
    const returned = id.cost - kept;
    const taken = Math.min(returned, own?.cost ?? 0);
    const hits = running.hits.map((hit) => (hit === own ? { id, cost: hit.cost - taken } : hit));
    const others = takeUnits(hits, returned - taken, (hit) => lease === undefined || !isReserved(hit, now));
    return { ...running, hits: others };
  };
  const reserving: ReservingOracle<Running, Id> = {
    charge: (running, now, cost) => charge(withoutEnded(running, now), now, cost),
    settle(before, id, now, cost) {
      const running = withoutEnded(before, now);
      const hit = running.hits.find((one) => one.id === id);
      if (hit === undefined) return [running, cost];
      return [keep(running, id, Math.min(cost, id.cost), now), Math.max(0, cost - id.cost)];
    },
    withoutLeases(running, now) {
      return { ...running, hits: counted(running, now).map(({ id, cost }) => ({ id, cost })) };
    },
    suggestedWait(running, now, cost) {
      const isEnough = cost <= Math.min(limit, free(running, now) + reserved(running, now));
      return cost > free(running, now) && isEnough ? Math.min(lease! * MS, running.end - now) : undefined;
    },
  };
  const oracle: Oracle<Running, Id> = {
    quota: limit,
    empty: EMPTY,
    isImplausible: ({ end, scale }, now) => isTooFarAhead(end, now, scale),
    expires: ({ end, hits, extra }) => (unitsOf(hits) + extra > 0 ? end : -Infinity),
    allows: (running, at, cost) => cost <= free(running, at),
    free,
    delay: noDelay,
    record: lease === undefined ? charge : reserve,
    refund: (running, id, now, kept) => keep(running, id, kept, now),
    credit(before, now, units) {
      const running = lease === undefined ? before : withoutEnded(before, now);
      return { ...running, hits: takeUnits(hitsAt(running, now), units, (hit) => isSpent(hit, now)) };
    },
    extend(before, now, units) {
      const running = reach(lease === undefined ? before : withoutEnded(before, now), now);
      const spent = unitsOf(running.hits.filter((hit) => isSpent(hit, now)));
      const hits = takeUnits(running.hits, units, (hit) => isSpent(hit, now));
      return { ...running, hits, extra: Math.min(running.extra + Math.max(0, units - spent), MOST_EXTRA) };
    },
    extra,
    usage(running, at) {
      return { spent: unitsOf(counted(running, at)) - reserved(running, at), reserved: reserved(running, at) };
    },
    period(running, at) {
      const [start, end] = tabledPeriod(lengths, at);
      return {
        periodStartsAt: start / MS,
        periodEndsAt: (unitsOf(counted(running, at)) + extra(running, at) > 0 ? running.end : end) / MS,
      };
    },
    boundaries: ({ hits }) => hits.flatMap(({ until = Infinity }) => (until < Infinity ? [until] : [])),
    ...(lease === undefined ? {} : { reserving, renew }),
  };
  return oracle as Oracle;

  function renew(running: Running, id: Id, now: number): Running | undefined {
    const hit = running.hits.find((one) => one.id === id);
    if (hit === undefined || !isReserved(hit, now)) return undefined;
    const renewed = { ...hit, until: endFrom(now) };
    return { ...running, hits: running.hits.map((one) => (one === hit ? renewed : one)) };
  }
}

/** Creates a calendar window whose periods are those of the table. */
function createTabledWindow(settings: CalendarWindowSettings): CalendarWindow {
  const { limit, enforce, lengths, lease, unsettled, blockFor } = settings;
  const longestMicros = Math.max(...lengths) * MS;
  const calendar = {
    windowMicros: longestMicros,
    longestMicros,
    periodAt(micros: number) {
      const [startMicros, endMicros] = tabledPeriod(lengths, micros);
      return { startMicros, endMicros };
    },
  };
  if (lease === undefined) return new CalendarWindow({ limit, enforce, calendar, blockFor });
  return new LeasedCalendarWindow({ limit, calendar, lease, unsettled, blockFor });
}

const vectors: Vectors<CalendarWindowSettings> = {
  'an empty key has the whole quota': [
    { limit: 3, lengths: [1000, 3000] },
    [0, 'peek', 3, true, 3, 0, 0, 0],
    [0, 'check', 3, true, 0, 0, 1000, 1000],
    [0, 'check', 1, false, 0, 1000, 1000, 1000],
    [0, 'check', 4, false, 0, Infinity, 1000, 1000],
  ],
  'each period has a quota of its own, and periods differ in length': [
    { limit: 2, lengths: [1000, 3000] },
    [700, 'check', 2, true, 0, 0, 300, 300],
    [999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [1000, 'check', 2, true, 0, 0, 3000, 3000],
    [3999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001],
    [4000, 'check', 1, true, 1, 0, 1000, 1000],
  ],
  'many periods may pass between two actions': [
    { limit: 1, lengths: [1000, 3000] },
    [0, 'check', 1, true, 0, 0, 1000, 1000],
    [400_500, 'check', 1, true, 0, 0, 500, 500],
  ],
  'another calendar grants no second quota, because the count ends with the later of both periods': [
    { limit: 3, lengths: [1000] },
    [100, 'check', 1, true, 2, 0, 900, 900],
    [600, 'check', 1, true, 1, 0, 900, 900, { options: { limit: 3, lengths: [500, 1000, 500] } }],
    [1000, 'check', 1, true, 0, 0, 1000, 1000],
    [1500, 'check', 1, false, 0, 500, 500, 500],
    [2000, 'check', 3, true, 0, 0, 1000, 1000],
  ],
  'a shorter calendar does not end a longer period': [
    { limit: 2, lengths: [1000] },
    [0, 'check', 2, true, 8, 0, 12_000, 12_000, { options: { limit: 10, lengths: [12_000] } }],
    [1000, 'check', 1, false, 0, 11_000, 11_000, 11_000],
    [12_000, 'check', 2, true, 0, 0, 1000, 1000],
  ],
  'a shorter calendar that records leaves a longer period plausible': [
    { limit: 3, lengths: [1000] },
    [0, 'check', 1, true, 2, 0, 8000, 8000, { options: { limit: 3, lengths: [8000] } }],
    [100, 'check', 1, true, 1, 0, 7900, 7900],
    [200, 'check', 1, true, 0, 0, 7800, 7800],
    [200, 'check', 1, false, 0, 7800, 7800, 7800],
  ],
  'a rejection prolongs no period': [
    { limit: 1, lengths: [1000] },
    [0, 'check', 1, true, 0, 0, 1000, 1000],
    [500, 'check', 1, false, 0, 500, 500, 500, { options: { limit: 1, lengths: [9000] } }],
    [1000, 'check', 1, true, 0, 0, 1000, 1000],
  ],
  'a time before the current period counts as in it': [
    { limit: 2, lengths: [1000] },
    [2500, 'check', 1, true, 1, 0, 500, 500],
    [1400, 'check', 1, true, 0, 0, 1600, 1600],
    [1400, 'check', 1, false, 0, 1600, 1600, 1600],
    [3000, 'check', 2, true, 0, 0, 1000, 1000],
  ],
  'a period that ends further ahead than twice the next power of two microseconds was written by a wrong clock': [
    { limit: 1, lengths: [1000] },
    [5000, 'check', 1, true, 0, 0, 1000, 1000],
    [3902.848, 'check', 1, false, 0, 2097.152, 2097.152, 2097.152],
    [3902.847, 'check', 1, true, 0, 0, 97.153, 97.153],
  ],
  'a refund returns exactly what was taken, once, even in a prolonged period': [
    { limit: 3, lengths: [1000] },
    [0, 'check', 2, true, 1, 0, 1000, 1000],
    [100, 'check', 1, true, 0, 0, 2900, 2900, { options: { limit: 3, lengths: [3000] } }],
    [1500, 'refund', 0],
    [1500, 'refund', 0],
    [1500, 'check', 2, true, 0, 0, 1500, 1500],
    [1500, 'check', 1, false, 0, 1500, 1500, 1500],
  ],
  'a refund has no effect after the period, or after a reset': [
    { limit: 2, lengths: [1000] },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [1000, 'check', 1, true, 1, 0, 1000, 1000],
    [1100, 'refund', 0],
    [1100, 'peek', 1, true, 1, 0, 900, 900],
    [1200, 'reset'],
    [1200, 'check', 2, true, 0, 0, 800, 800],
    [1300, 'refund', 1],
    [1300, 'check', 1, false, 0, 700, 700, 700],
  ],
  'a key whose actions were all refunded equals a new one': [
    { limit: 2, lengths: [1000] },
    [0, 'check', 2, true, 0, 0, 9000, 9000, { options: { limit: 2, lengths: [9000] } }],
    [500, 'refund', 0],
    [500, 'peek', 2, true, 2, 0, 0, 0],
    [500, 'check', 2, true, 0, 0, 500, 500],
  ],
  'an overdraft counts in the period in which it was recorded': [
    { limit: 3, lengths: [1000] },
    [100, 'check', 1, true, 2, 0, 900, 900],
    [200, 'settle', 0, 5],
    [200, 'peek', 1, false, 0, 800, 800, 800],
    [1900, 'check', 2, true, 1, 0, 100, 100],
    [2100, 'settle', 3, 3],
    [2100, 'peek', 1, true, 2, 0, 900, 900],
    [2100, 'charge', 7, false, 0, 900, 900, 900],
    [3000, 'peek', 1, true, 3, 0, 0, 0],
  ],
  'a settlement below the cost returns the difference while its period lasts': [
    { limit: 3, lengths: [1000] },
    [0, 'check', 3, true, 0, 0, 1000, 1000],
    [500, 'settle', 0, 1],
    [500, 'check', 2, true, 0, 0, 500, 500],
    [1000, 'settle', 2, 0],
    [1000, 'peek', 1, true, 3, 0, 0, 0],
  ],
  'a check reserves its cost until the settlement': [
    { limit: 10, lengths: [1000], lease: 300 },
    [0, 'check', 6, true, 4, 0, 1000, 1000],
    [0, 'peek', 4, true, 4, 0, 1000, 1000, { usage: [0, 6] }],
    [0, 'peek', 5, false, 4, 300, 1000, 1000, { retryIsEstimate: true, usage: [0, 6] }],
    [100, 'settle', 0, 2],
    [100, 'peek', 9, false, 8, 900, 900, 900, { usage: [2, 0] }],
    [200, 'check', 8, true, 0, 0, 800, 800],
    [200, 'settle', 5, 11],
    [200, 'peek', 1, false, 0, 800, 800, 800, { usage: [13, 0] }],
  ],
  'a rejection because of reservations suggests a wait of one lease, but not beyond the period': [
    { limit: 3, lengths: [1000], lease: 300 },
    [0, 'charge', 1, true, 2, 0, 1000, 1000, { usage: [1, 0] }],
    [600, 'check', 2, true, 0, 0, 400, 400],
    [600, 'check', 2, false, 0, 300, 400, 400, { retryIsEstimate: true }],
    [600, 'check', 3, false, 0, 400, 400, 400],
    [600, 'check', 4, false, 0, Infinity, 400, 400],
    [800, 'check', 1, false, 0, 200, 200, 200, { retryIsEstimate: true }],
  ],
  'a reservation that is not renewed comes back after one lease': [
    { limit: 3, lengths: [1000], lease: 300, leasesEnd: true },
    [0, 'check', 2, true, 1, 0, 1000, 1000],
    [100, 'check', 1, true, 0, 0, 900, 900],
    [299.999, 'peek', 1, false, 0, 300, 700.001, 700.001, { retryIsEstimate: true, usage: [0, 3] }],
    [300, 'peek', 2, true, 2, 0, 700, 700, { usage: [0, 1] }],
    [400, 'peek', 3, true, 3, 0, 0, 0, { usage: [0, 0] }],
    [400, 'settle', 0, 1],
    [400, 'peek', 2, true, 2, 0, 600, 600, { usage: [1, 0] }],
    [400, 'refund', 1],
    [400, 'check', 3, false, 2, 600, 600, 600],
  ],
  'with `charge`, a reservation that is not renewed stays spent, and a settlement replaces it': [
    { limit: 3, lengths: [1000], lease: 300, unsettled: 'charge', leasesEnd: true },
    [0, 'check', 2, true, 1, 0, 1000, 1000],
    [300, 'peek', 2, false, 1, 700, 700, 700, { usage: [2, 0] }],
    [400, 'check', 1, true, 0, 0, 600, 600],
    [500, 'settle', 0, 1],
    [500, 'check', 1, true, 0, 0, 500, 500],
  ],
  'a living process renews its reservations': [
    { limit: 2, lengths: [1000], lease: 300, leasesEnd: true },
    [0, 'check', 2, true, 0, 0, 1000, 1000],
    [200, 'renew', 0],
    [499.999, 'check', 1, false, 0, 300, 500.001, 500.001, { retryIsEstimate: true }],
    [500, 'check', 1, true, 1, 0, 500, 500],
  ],
  'a settlement after the period, or after a reset, records the actual cost in full': [
    { limit: 9, lengths: [1000], lease: 300 },
    [900, 'check', 5, true, 4, 0, 100, 100],
    [1000, 'peek', 9, true, 9, 0, 0, 0],
    [1100, 'settle', 0, 4],
    [1100, 'check', 2, true, 3, 0, 900, 900],
    [1100, 'reset'],
    [1200, 'settle', 3, 3],
    [1200, 'peek', 6, true, 6, 0, 800, 800, { usage: [3, 0] }],
  ],
  'a release spends what is reserved, and a settlement may still follow': [
    { limit: 9, lengths: [1000], lease: 300 },
    [0, 'check', 5, true, 4, 0, 1000, 1000],
    [100, 'release', 0],
    [900, 'peek', 4, true, 4, 0, 100, 100, { usage: [5, 0] }],
    [900, 'settle', 0, 2],
    [900, 'peek', 7, true, 7, 0, 100, 100, { usage: [2, 0] }],
  ],
  'a limit without leases takes reserved units for spent ones, and leaves them reserved': [
    { limit: 3, lengths: [1000], lease: 300 },
    [0, 'check', 2, true, 1, 0, 1000, 1000],
    [100, 'check', 1, true, 0, 0, 900, 900, { options: { limit: 3, lengths: [1000] } }],
    [100, 'check', 1, false, 0, 900, 900, 900, { options: { limit: 3, lengths: [1000] } }],
    [200, 'settle', 0, 1],
    [200, 'peek', 1, true, 1, 0, 800, 800, { usage: [2, 0] }],
  ],
  'a reservation after the end of another one leaves the rest as they are': [
    { limit: 9, lengths: [1000], lease: 300, leasesEnd: true },
    [0, 'check', 1, true, 8, 0, 1000, 1000],
    [200, 'check', 2, true, 6, 0, 800, 800],
    [300, 'check', 3, true, 4, 0, 700, 700],
    [500, 'peek', 1, true, 6, 0, 500, 500, { usage: [0, 3] }],
  ],
  'a renewal after the end of the lease is too late': [
    { limit: 2, lengths: [1000], lease: 300, leasesEnd: true },
    [0, 'check', 2, true, 0, 0, 1000, 1000],
    [300, 'renew', 1],
    [300, 'check', 2, true, 0, 0, 700, 700],
  ],
  'with `charge`, a settlement in a later period records the actual cost in full': [
    { limit: 9, lengths: [1000], lease: 300, unsettled: 'charge' },
    [900, 'check', 5, true, 4, 0, 100, 100],
    [1000, 'check', 1, true, 8, 0, 1000, 1000],
    [1100, 'settle', 0, 3],
    [1100, 'check', 5, true, 0, 0, 900, 900],
  ],
  'a credit gives units of the period back, and no more than are used': [
    { limit: 3, lengths: [1000] },
    [0, 'check', 3, true, 0, 0, 1000, 1000, { usage: [3, 0] }],
    [100, 'credit', 2, true, 2, 0, 900, 900, { usage: [1, 0] }],
    [200, 'credit', 2, true, 3, 0, 0, 0, { usage: [0, 0] }],
    [200, 'check', 3, true, 0, 0, 800, 800, { usage: [3, 0] }],
  ],
  'a credit leaves reserved units to those who settle them': [
    { limit: 9, lengths: [1000], lease: 300 },
    [0, 'check', 3, true, 6, 0, 1000, 1000, { usage: [0, 3] }],
    [0, 'check', 4, true, 2, 0, 1000, 1000, { usage: [0, 7] }],
    [0, 'settle', 1, 4],
    [0, 'credit', 9, true, 6, 0, 1000, 1000, { usage: [0, 3] }],
    [0, 'settle', 0, 2],
    [0, 'peek', 1, true, 7, 0, 1000, 1000, { usage: [2, 0] }],
  ],
  'a refund after a credit takes no units that others have reserved': [
    { limit: 9, lengths: [1000], lease: 300 },
    [0, 'check', 3, true, 6, 0, 1000, 1000, { usage: [0, 3] }],
    [0, 'release', 0],
    [0, 'check', 4, true, 2, 0, 1000, 1000, { usage: [3, 4] }],
    [0, 'credit', 3, true, 5, 0, 1000, 1000, { usage: [0, 4] }],
    [0, 'refund', 0],
    [0, 'peek', 1, true, 5, 0, 1000, 1000, { usage: [0, 4] }],
  ],
  'a credit beyond the used units adds the rest to the period, and to no later one': [
    { limit: 3, lengths: [1000] },
    [100, 'check', 2, true, 1, 0, 900, 900, { usage: [2, 0] }],
    [200, 'extend', 5, true, 6, 0, 800, 800, { usage: [0, 0], limit: 6 }],
    [300, 'check', 3, true, 3, 0, 700, 700, { usage: [3, 0], limit: 6 }],
    [300, 'check', 4, false, 3, Infinity, 700, 700, { usage: [3, 0], limit: 6 }],
    [400, 'check', 3, true, 0, 0, 600, 600, { usage: [6, 0], limit: 6 }],
    [400, 'check', 1, false, 0, 600, 600, 600, { usage: [6, 0], limit: 6 }],
    [500, 'refund', 2],
    [500, 'credit', 9, true, 6, 0, 500, 500, { usage: [0, 0], limit: 6 }],
    [1000, 'peek', 3, true, 3, 0, 0, 0, { usage: [0, 0] }],
    [1000, 'check', 3, true, 0, 0, 1000, 1000, { usage: [3, 0] }],
  ],
  'a period can have more units before it has used any': [
    { limit: 1, lengths: [1000] },
    [100, 'extend', 1, true, 2, 0, 900, 900, { usage: [0, 0], limit: 2 }],
    [200, 'check', 1, true, 1, 0, 800, 800, { usage: [1, 0], limit: 2 }],
    [200, 'check', 1, true, 0, 0, 800, 800, { usage: [2, 0], limit: 2 }],
    [999.999, 'peek', 1, false, 0, 0.001, 0.001, 0.001, { usage: [2, 0], limit: 2 }],
    [1000, 'peek', 1, true, 1, 0, 0, 0, { usage: [0, 0] }],
    [1000, 'extend', 1, true, 2, 0, 1000, 1000, { usage: [0, 0], limit: 2 }],
    [1000, 'reset'],
    [1000, 'peek', 1, true, 1, 0, 0, 0, { usage: [0, 0] }],
  ],
  'units that are added to a period can be reserved': [
    { limit: 5, lengths: [1000], lease: 300 },
    [0, 'check', 4, true, 1, 0, 1000, 1000, { usage: [0, 4] }],
    [0, 'extend', 3, true, 4, 0, 1000, 1000, { usage: [0, 4], limit: 8 }],
    [0, 'check', 4, true, 0, 0, 1000, 1000, { usage: [0, 8], limit: 8 }],
    [0, 'check', 1, false, 0, 300, 1000, 1000, { usage: [0, 8], limit: 8, retryIsEstimate: true }],
    [0, 'settle', 0, 1],
    [0, 'settle', 2, 2],
    [0, 'peek', 5, true, 5, 0, 1000, 1000, { usage: [3, 0], limit: 8 }],
  ],
  'a block outlasts the period that was used up': [
    { limit: 2, lengths: [1000], blockFor: 1500 },
    [500, 'check', 2, true, 0, 0, 500, 500],
    [900, 'check', 1, false, 0, 1500, 1500, 1500, { reason: 'blocked' }],
    [1000, 'peek', 1, false, 0, 1400, 1400, 1400, { reason: 'blocked' }],
    [2399.999, 'check', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [2400, 'check', 1, true, 1, 0, 600, 600],
  ],
  'a settlement at the end of a lease ends it for good, even if the clock steps back': [
    { limit: 3, lengths: [4000], lease: 1000, leasesEnd: true },
    [0, 'check', 1, true, 2, 0, 4000, 4000],
    [1000, 'settle', 0, 0],
    [999.999, 'peek', 1, true, 3, 0, 0, 0],
    [1000, 'check', 1, true, 2, 0, 3000, 3000],
    [1500, 'check', 1, true, 1, 0, 2500, 2500],
    [2000, 'settle', 3, 0],
    [1999.999, 'peek', 1, true, 2, 0, 2000.001, 2000.001],
  ],
  'without `enforce`, it counts what exceeds the quota, and then enforces with these counts': [
    { limit: 2, lengths: [1000], enforce: false },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [100, 'check', 2, false, 0, 900, 900, 900],
    [200, 'peek', 1, false, 0, 800, 800, 800],
    [300, 'check', 1, false, 0, 700, 700, 700],
    [300, 'peek', 1, false, 0, 700, 700, 700, { enforce: true }],
    [500, 'check', 3, false, 0, Infinity, 500, 500],
    [2500, 'check', 1, true, 1, 0, 500, 500],
  ],
  'a credit that gives all back and adds nothing leaves nothing for a refund': [
    { limit: 1, lengths: [1000] },
    [0, 'check', 1, true, 0, 0, 1000, 1000, { usage: [1, 0] }],
    [0, 'extend', 1, true, 1, 0, 0, 0, { usage: [0, 0] }],
    [0, 'check', 1, true, 0, 0, 1000, 1000, { usage: [1, 0] }],
    [0, 'refund', 0],
    [0, 'peek', 1, false, 0, 1000, 1000, 1000, { usage: [1, 0] }],
  ],
  'a reservation that has ended is spent, so that a credit gives it back, even if the clock steps back': [
    { limit: 2, lengths: [5000], lease: 900, unsettled: 'charge', leasesEnd: true },
    [1000, 'check', 1, true, 1, 0, 4000, 4000, { usage: [0, 1] }],
    [500, 'check', 1, true, 0, 0, 4500, 4500, { usage: [0, 2] }],
    [1400, 'credit', 1, true, 1, 0, 3600, 3600, { usage: [0, 1] }],
    [1300, 'check', 1, true, 0, 0, 3700, 3700, { usage: [0, 2] }],
  ],
  'a settlement that finds nothing left begins another life, in which an earlier reservation has nothing to lose': [
    { limit: 2, lengths: [1000], lease: 300, leasesEnd: true },
    [0, 'check', 1, true, 1, 0, 1000, 1000, { usage: [0, 1] }],
    [10, 'check', 1, true, 0, 0, 990, 990, { usage: [0, 2] }],
    [500, 'settle', 1, 1],
    [500, 'renew', 0],
    [500, 'peek', 1, true, 1, 0, 500, 500, { usage: [1, 0] }],
  ],
};

export const calendarWindowAlgorithm: Algorithm<CalendarWindowSettings> = {
  create: createTabledWindow,
  oracle: calendarWindowOracle,
  minute: (quota) => ({ limit: quota, lengths: [600_000] }),
  small(fractions) {
    const window = { limit: quota, lengths: fc.array(ms, { minLength: 1, maxLength: 3 }) };
    const unsettled = fc.constantFrom('refund' as const, 'charge' as const);
    return fc.oneof(fc.record(window), fc.record({ ...window, lease: fc.constant(leases[fractions]), unsettled }));
  },
  large: () => [
    { limit: 2, lengths: [DAY, DAY + 1, 3] },
    { limit: 1e6, lengths: [3, 31 * DAY] },
    { limit: MAX, lengths: [5] },
    { limit: MAX, lengths: [DAY] },
  ],
  tiny: [
    { limit: 1, lengths: [2, 1] },
    { limit: 2, lengths: [1, 3] },
    { limit: 3, lengths: [4], lease: 3 },
    { limit: 2, lengths: [3, 1, 2] },
    { limit: 2, lengths: [4, 2], lease: 3, unsettled: 'charge' },
  ],
  assertGuarantee({ limit, lengths, lease, unsettled }, admitted) {
    if (lease !== undefined && unsettled !== 'charge') return; // Units that come back may be admitted again.
    for (const start of new Set(admitted.map(({ at }) => tabledPeriod(lengths, at)[0]))) {
      const hits = admitted.filter(({ at }) => tabledPeriod(lengths, at)[0] === start);
      assertAtMost(limit, unitsOf(hits), 'in a period of the calendar');
    }
  },
  worstBursts: [
    {
      options: { limit: 10, lengths: [1000, 2000] },
      counted: 'allowed',
      units: 20,
      formula: '2 * limit, if no period is shorter than W',
      traffic: [
        { at: 999.999, cost: 1, times: 10 },
        { at: 1000, cost: 1, times: 10 },
      ],
    },
  ],
  longRuns: [
    {
      options: { limit: LONG_RUN.limit, lengths: [LONG_RUN.window] },
      guaranteed: (elapsed) => LONG_RUN.limit * windowsIn(elapsed),
    },
  ],
  vectors,
};
