import { getOrCache } from '@rollgate/core/store';
import type { QuotaReport } from '../dialects/dialect.js';
import { MAX_NAMES } from './outgoing-limits.js';

/** For how long calls do not wait for a quota that no response has reported. */
const SILENT_MS = 60_000;

/** What this process knows of the quotas of a route. */
interface Learned {
  /**
   * The names of quotas by unit, in alphabetical order, so that all processes number them alike. A unit is here once a response
   * has reported it.
   */
  readonly names: Map<string, readonly string[]>;
  /** When the last response arrived. */
  atMs: number;
}

const NO_NAMES: readonly string[] = [];

/**
 * Learns which quotas the calls of a route use. The numbers of the quotas are in the store. Only the names are here, so each process
 * learns them from its first response of the route.
 */
export class LearnedQuotas {
  readonly #routes = new Map<string, Learned>();

  namesOf(route: string, unit: string): readonly string[] {
    return this.#routes.get(route)?.names.get(unit) ?? NO_NAMES;
  }

  /** Whether a response of the route has reported the unit. */
  isReported(route: string, unit: string): boolean {
    return this.#routes.get(route)?.names.has(unit) === true;
  }

  /** Whether responses of the route have not reported the unit so far, so that no call need wait for it. */
  isSilent(route: string, unit: string, nowMs: number): boolean {
    const learned = this.#routes.get(route);
    return learned !== undefined && !learned.names.has(unit) && nowMs < learned.atMs + SILENT_MS;
  }

  /**
   * Learns from a response that was not rejected. A quota stays known if a response lacks it, as that of an error may.
   *
   * @param ownName The name of the route's own quota.
   */
  learn(route: string, ownName: string, quotas: readonly QuotaReport[], nowMs: number): void {
    const learned = getOrCache(this.#routes, route, (): Learned => ({ names: new Map(), atMs: nowMs }));
    learned.atMs = nowMs;
    for (const unit of new Set(quotas.map((quota) => quota.unit))) {
      const others = quotas.flatMap((quota) =>
        quota.unit === unit && quota.name !== undefined && quota.name !== ownName ? [quota.name] : [],
      );
      learned.names.set(unit, others.sort().slice(0, MAX_NAMES));
    }
  }
}
