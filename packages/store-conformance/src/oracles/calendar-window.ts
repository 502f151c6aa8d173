import { isTooFarAhead, scaleOf } from './clock-skew-bound.js';
import { MS, noDelay, type Oracle, type ReservingOracle, sum } from './oracle.js';

/** A limit with a table of periods instead of a calendar. */
export interface CalendarWindowSettings {
  readonly limit: number;
  /** The lengths of the periods in milliseconds. They follow each other from time 0 on, again and again. */
  readonly lengths: readonly number[];
  /** How long a reservation lasts without a renewal, in milliseconds. Without it, checks reserve nothing. */
  readonly lease?: number | undefined;
  /** What becomes of a reservation then. */
  readonly unsettled?: 'refund' | 'charge' | undefined;
}

/** One action. A refund or a settlement finds it by its id. */
interface Hit {
  readonly id: object;
  readonly cost: number;
  /** When the reservation of these units ends. Spent units have none. */
  readonly until?: number | undefined;
  /** Whether the units come back then. */
  readonly returns?: boolean | undefined;
}

/** The end of the running period, the actions in it, and the scale of the largest limit that recorded them. */
interface Running {
  readonly end: number;
  readonly hits: readonly Hit[];
  readonly scale: number;
}

const EMPTY: Running = { end: -Infinity, hits: [], scale: 0 };

/** The start and the end of the period that contains `at`, in microseconds. */
export function tabledPeriod(lengths: readonly number[], at: number): readonly [start: number, end: number] {
  const all = sum(lengths) * MS;
  let start = Math.floor(at / all) * all;
  for (const length of lengths) {
    if (at < start + length * MS) return [start, start + length * MS];
    start += length * MS;
  }
  throw new RangeError(`Expected a time, got ${at}`);
}

const unitsOf = (hits: readonly Hit[]) => sum(hits.map(({ cost }) => cost));
const isReserved = ({ until = -Infinity }: Hit, at: number) => until > at;
const isBack = ({ until = Infinity, returns }: Hit, at: number) => returns === true && until <= at;

/** What is left when the reservations that have ended are gone, or spent. */
function withoutEnded(running: Running, now: number): Running {
  const left = running.hits.filter((hit) => !isBack(hit, now));
  const hits = left.map((hit) => (isReserved(hit, now) ? hit : { id: hit.id, cost: hit.cost }));
  return hits.length === 0 ? EMPTY : { ...running, hits };
}

/**
 * Counts the actions until the period of each of them has ended.
 *
 * @param leasesEnd Whether a lease ends unless it is renewed, as in a store that several processes share.
 */
export function calendarWindowOracle(settings: CalendarWindowSettings, leasesEnd: boolean): Oracle {
  const { limit, lengths, lease, unsettled = 'refund' } = settings;
  const ownScale = scaleOf(Math.max(...lengths) * MS);
  const hitsAt = ({ end, hits }: Running, at: number) => (at < end ? hits : []);
  const counted = (running: Running, at: number) =>
    hitsAt(running, at).filter((hit) => lease === undefined || !isBack(hit, at));
  const free = (running: Running, at: number) => limit - unitsOf(counted(running, at));
  const reserved = (running: Running, at: number) =>
    lease === undefined ? 0 : unitsOf(hitsAt(running, at).filter((hit) => isReserved(hit, at)));
  const endFrom = (now: number) => (leasesEnd ? now + lease! * MS : Infinity);
  const add = ({ end, hits, scale }: Running, now: number, hit: Hit): Running => {
    const [, ownEnd] = tabledPeriod(lengths, now);
    if (now >= end) return { end: ownEnd, hits: [hit], scale: ownScale };
    return { end: Math.max(end, ownEnd), hits: [...hits, hit], scale: Math.max(scale, ownScale) };
  };
  const charge = (running: Running, now: number, cost: number): [Running, object] => {
    const id = {};
    return [add(running, now, { id, cost }), id];
  };
  const reserve = (running: Running, now: number, cost: number): [Running, object] => {
    const id = {};
    const hit = { id, cost, until: endFrom(now), returns: unsettled === 'refund' };
    return [add(withoutEnded(running, now), now, hit), id];
  };
  const keep = (running: Running, id: object, kept: number): Running => ({
    ...running,
    hits: running.hits.flatMap((hit) => (hit.id !== id ? [hit] : kept > 0 ? [{ id, cost: kept }] : [])),
  });
  const reserving: ReservingOracle<Running, object> = {
    charge: (running, now, cost) => charge(withoutEnded(running, now), now, cost),
    settle(before, id, now, cost) {
      const running = withoutEnded(before, now);
      const hit = running.hits.find((one) => one.id === id);
      if (hit === undefined) return [running, cost];
      return [keep(running, id, Math.min(cost, hit.cost)), Math.max(0, cost - hit.cost)];
    },
    withoutLeases(running, now) {
      return { ...running, hits: counted(running, now).map(({ id, cost }) => ({ id, cost })) };
    },
    suggestedWait(running, now, cost) {
      const isEnough = cost <= free(running, now) + reserved(running, now);
      return cost > free(running, now) && isEnough ? Math.min(lease! * MS, running.end - now) : undefined;
    },
  };
  const oracle: Oracle<Running, object> = {
    quota: limit,
    empty: EMPTY,
    isImplausible: ({ end, scale }, now) => isTooFarAhead(end, now, scale),
    expires: ({ end, hits }) => (hits.length > 0 ? end : -Infinity),
    allows: (running, at, cost) => cost <= free(running, at),
    free,
    delay: noDelay,
    record: lease === undefined ? charge : reserve,
    refund: (running, id, _, kept) => keep(running, id, kept),
    usage(running, at) {
      return { spent: limit - free(running, at) - reserved(running, at), reserved: reserved(running, at) };
    },
    boundaries: ({ hits }) => hits.flatMap(({ until = Infinity }) => (until < Infinity ? [until] : [])),
    ...(lease === undefined ? {} : { reserving, renew }),
  };
  return oracle as Oracle;

  function renew(running: Running, id: object, now: number): Running | undefined {
    const hit = running.hits.find((one) => one.id === id);
    if (hit === undefined || !isReserved(hit, now)) return undefined;
    const renewed = { ...hit, until: endFrom(now) };
    return { ...running, hits: running.hits.map((one) => (one === hit ? renewed : one)) };
  }
}
