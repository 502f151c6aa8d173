import type { CallRequest, Dialect, QuotaReport } from '../dialects/dialect.js';
import type { CallCost } from '../options/fetch-options.js';
import type { ResolvedFetchOptions } from '../options/resolve-options.js';
import type { Reported } from '../outgoing/reported.js';
import type { Report } from '../reports/read-report.js';
import { warnOfError } from '../warn-of-error.js';
import { costsOfRefill } from './costs-of-refill.js';
import { LearnedQuotas } from './learned-quotas.js';
import { BUCKET_BLOCK, type LimitRecord, limitName, ROUTE_BLOCK } from './outgoing-limits.js';
import { validateCost, validateKeys } from './returned-records.js';

/** Which limits decide on a call, with which keys and costs. */
export interface CallPlan {
  readonly request: CallRequest;
  readonly bucket: string;
  readonly route: string;
  /** The route of the bucket, which keys and what is learned begin with. */
  readonly routeKey: string;
  readonly limits: LimitRecord;
  readonly key: Readonly<Record<string, string>>;
  readonly cost: Readonly<Record<string, number>>;
  /** The units of which the user has estimated the cost. */
  readonly estimates: readonly string[];
  /** The limits of reported quotas that decide, by their names. */
  readonly quotas: ReadonlyMap<string, QuotaLimit>;
}

/** A limit of a reported quota. */
interface QuotaLimit {
  readonly unit: string;
  /** The name of the quota. Without one, it is that of the route. */
  readonly name: string | undefined;
}

/** What a response reports, for the limits that it concerns. */
export interface Learned {
  /** The numbers for limits of the call, by their names. */
  readonly reported: Readonly<Record<string, Reported>>;
  /** Those for limits that the call did not have. */
  readonly others:
    | {
        readonly key: Readonly<Record<string, string>>;
        readonly reported: Readonly<Record<string, Reported>>;
        readonly limits: LimitRecord;
      }
    | undefined;
}

/**
 * How many of the calls that wait for a quota may be open when its probe finds none. If all of them started at once, all would rely
 * on their estimates, before responses can correct these.
 */
const UNREPORTED_CALLS = 4;

/** Plans calls by what earlier responses have reported. */
export class CallPlanner {
  readonly #learned = new LearnedQuotas();
  /** The largest cost of a call by unit, if it is above 1. */
  readonly #largestCosts = new Map<string, number>();

  constructor(private readonly options: ResolvedFetchOptions) {}

  /** The account whose quota a call uses, and the quota within it. */
  bucketAndRouteOf(request: CallRequest): Pick<CallPlan, 'bucket' | 'route'> {
    const { bucket, dialects } = this.options;
    return { bucket: bucket(request), route: readRoute(dialects, request) };
  }

  async plan(request: CallRequest): Promise<CallPlan> {
    const { limits, clock = performance } = this.options;
    const { bucket, route } = this.bucketAndRouteOf(request);
    const given = validateCost('cost', await this.options.cost?.(request));
    const routeKey = `${bucket} ${route}`;
    const names = limits.units.map((unit) => this.#learned.namesOf(routeKey, unit));
    const nowMs = clock.now();
    const key: Record<string, string> = {
      ...this.#ownKeys(request, bucket),
      [BUCKET_BLOCK]: bucket,
      [ROUTE_BLOCK]: routeKey,
    };
    const cost: Record<string, number> = { ...this.ownCosts(given) };
    const quotas = new Map<string, QuotaLimit>();
    for (const [index, unit] of limits.units.entries()) {
      const isSilent = this.#learned.isSilent(routeKey, unit, nowMs);
      const units = isSilent ? 0 : (given[unit] ?? 1);
      if (units > this.#largestCost(unit)) this.#largestCosts.set(unit, units);
      for (const [number, name] of [undefined, ...names[index]!].entries()) {
        const limit = limitName(unit, number);
        key[limit] = name === undefined ? routeKey : `${bucket} ${name}`;
        cost[limit] = units;
        if (units > 0) quotas.set(limit, { unit, name });
      }
    }
    const record = limits.withNames(names.map(({ length }) => length));
    const estimates = Object.keys(given);
    return { request, bucket, route, routeKey, limits: record, key, cost, estimates, quotas };
  }

  /** Learns which quotas there are, and returns their numbers. */
  learn(plan: CallPlan, report: Report): Learned {
    const { route, routeKey, quotas: limits } = plan;
    const { clock = performance } = this.options;
    const { quotas, isRejected } = report;
    const known = this.options.limits.units.filter((unit) => this.#learned.isReported(routeKey, unit));
    const isInformative = !isRejected || quotas.length > 0;
    if (isInformative) this.#learned.learn(routeKey, route, quotas, clock.now());
    const reported: Record<string, Reported> = {};
    for (const [limit, { unit, name }] of limits) {
      const quota = strictest(quotas.filter((one) => one.unit === unit && (name === undefined || one.name === name)));
      const largest = this.#largestCost(unit);
      if (quota === undefined) {
        // No call waits for the end of this window, and it replaces nothing that other processes know.
        const isProbe = isInformative && name === undefined && !known.includes(unit);
        if (isProbe) reported[limit] = { remaining: UNREPORTED_CALLS * largest, resetMs: 0 };
      } else if (!isOver(quota)) {
        reported[limit] = { ...toReported(quota), ...costsOfRefill(quota, largest, plan, report) };
      }
    }
    return { reported, others: this.#othersOf(plan, quotas) };
  }

  /** The named quotas that have just been learned, so the call was not checked by them. */
  #othersOf({ bucket, routeKey, quotas: known }: CallPlan, quotas: readonly QuotaReport[]): Learned['others'] {
    const { limits } = this.options;
    const names = limits.units.map((unit) => this.#learned.namesOf(routeKey, unit));
    const others = limits.units.flatMap((unit, index) =>
      names[index]!.flatMap((name, number) => {
        const limit = limitName(unit, number + 1);
        const quota = quotas.find((one) => one.unit === unit && one.name === name);
        return quota === undefined || isOver(quota) || known.get(limit)?.name === name ? [] : [{ limit, name, quota }];
      }),
    );
    if (others.length === 0) return undefined;
    return {
      key: Object.fromEntries(others.map(({ limit, name }) => [limit, `${bucket} ${name}`])),
      reported: Object.fromEntries(others.map(({ limit, quota }) => [limit, toReported(quota)])),
      limits: limits.withNames(names.map(({ length }) => length)),
    };
  }

  #largestCost(unit: string): number {
    return this.#largestCosts.get(unit) ?? 1;
  }

  /** The costs of the limits that the user has passed. */
  ownCosts(cost: CallCost): Record<string, number> {
    return Object.fromEntries(Object.entries(cost).filter(([name]) => this.options.ownLimits.includes(name)));
  }

  #ownKeys(request: CallRequest, bucket: string): Record<string, string> {
    const { key, ownLimits } = this.options;
    const given = validateKeys(key?.(request), ownLimits);
    // The limiter rejects invalid keys.
    return Object.fromEntries(ownLimits.map((name) => [name, (given[name] ?? bucket) as string]));
  }
}

/** Whether a late response reports a window that has ended, so nothing of the present one. */
function isOver({ kind, resetMs }: QuotaReport): boolean {
  return kind !== 'refill' && resetMs === 0;
}

/**
 * Returns the quota of a route: of several quotas of one unit, the one that allows the fewest calls. The others have names, and
 * limits for them.
 */
function strictest(quotas: readonly QuotaReport[]): QuotaReport | undefined {
  return quotas.reduce<QuotaReport | undefined>(
    (one, other) =>
      one === undefined ||
      other.remaining < one.remaining ||
      (other.remaining === one.remaining && other.resetMs > one.resetMs)
        ? other
        : one,
    undefined,
  );
}

/** Returns the numbers for a limit of `reportedQuota`. */
function toReported({ limit, remaining, resetMs, kind }: QuotaReport): Reported {
  if (kind !== 'rolling') return { limit, remaining, resetMs, kind };
  // Without a limit, one call may start after the reset, and its response reports how many more.
  return { remaining, resetMs, kind: 'window' };
}

/** Returns the route of a call in the first dialect that knows routes. If that one throws, the call has none. */
function readRoute(dialects: readonly Dialect[], request: CallRequest): string {
  const dialect = dialects.find(({ routeOf }) => routeOf !== undefined);
  try {
    return dialect?.routeOf?.(request) ?? '';
  } catch (error) {
    const message = `The dialect \`${dialect!.name}\` failed on a request, so the call counts as one without a route`;
    warnOfError('ROLLGATE_DIALECT_FAILED', message, error);
    return '';
  }
}
