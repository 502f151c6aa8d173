import type { Duration } from '@rollgate/core';
import * as leases from '@rollgate/core/leases';
import {
  LeaseKeeper,
  OVERDRAW,
  parseInterval,
  type RecordedHit,
  records,
  type Settlement,
  settleReservation,
  type Usage,
} from '@rollgate/core/limits';
import {
  type Hit,
  type LeaseKeepingLimit,
  type Mode,
  parseDuration,
  type ReservingLimit,
  type ScriptedLimit,
  type State,
  type Verdict,
  validateOptionNames,
  validatePositiveInteger,
} from '@rollgate/core/store';
import { type ReportedCall, type ReportedNumbers, reportNumbers } from './report-numbers.js';
import * as server from './reported-state.js';
import { fillFigures, fillVerdict, usageOf } from './reported-verdict.js';

/** The options of {@link reportedQuota}. */
export interface ReportedQuotaOptions {
  /**
   * How long a call stays open after the process that sent it has died, in milliseconds or as text such as `'30s'`. While
   * the process lives, it renews the leases of its open calls.
   */
  lease: Duration;
  /**
   * The units of calls that may be open together while nothing is known of the quota. A single call may always start.
   *
   * @defaultValue 1
   */
  guess?: number | undefined;
  /**
   * How long reported numbers matter. A reset or a block that ends later ends then, so nothing that a server reports stops calls
   * for longer.
   *
   * @defaultValue 1 day
   */
  maxAge?: Duration | undefined;
  /**
   * The wait that a rejection suggests while only open calls prevent the action, because the time of their responses is
   * unknown.
   *
   * @defaultValue 1 second
   */
  retryAfter?: Duration | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * A quota whose numbers a server reports. A check opens a call, which counts until its response reports how many units the
 * server has left. `report` of an `OutgoingLimiter` replaces the numbers and closes the call in one atomic step.
 *
 * Free are the units that the server has reported, without those of all open calls. Once its window has ended, the full limit
 * counts. While nothing is known, one call starts as a probe, and the others wait for its response.
 *
 * A settlement without reported numbers closes the call and takes its actual cost off the reported units. A refund closes the call,
 * as if it had never been sent.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
 *
 * const limiter = new OutgoingLimiter({ limits: reportedQuota({ lease: '30s' }) });
 * const first = await limiter.check('api');
 * (await limiter.check('api')).allowed; // => false
 * await limiter.report(first, { reported: { remaining: 59, limit: 60, resetMs: 42_000 } });
 * (await limiter.check('api')).remaining; // => 58
 * ```
 */
export function reportedQuota(options: ReportedQuotaOptions): ReportedQuota {
  validateOptionNames('reportedQuota', options, ['lease', 'guess', 'maxAge', 'retryAfter']);
  return new ReportedQuota({
    leaseMicros: parseInterval('lease', options.lease) * 1000,
    limit: validatePositiveInteger('guess', options.guess ?? 1),
    maxAgeMicros: parseInterval('maxAge', options.maxAge ?? DAY_MS) * 1000,
    retryAfterMicros: parseDuration('retryAfter', options.retryAfter ?? '1s') * 1000,
  });
}

type Settings = Pick<ReportedQuota, 'leaseMicros' | 'limit' | 'maxAgeMicros' | 'retryAfterMicros'>;

/** See {@link reportedQuota}. Immutable. */
export class ReportedQuota implements ReservingLimit, ScriptedLimit, LeaseKeepingLimit {
  readonly algorithm = 'reported-quota';
  /** The version of the layout of its states in a database. */
  readonly layoutVersion = 3;
  /** The units of calls that may be open together while nothing is known of the quota. */
  readonly limit: number;
  readonly countRejected = false;
  /** Otherwise all calls would wait for a probe that no caller sends, until its lease ends. */
  readonly onLateReply = 'refund';
  /** How long a call stays open without a renewal, in microseconds. */
  readonly leaseMicros: number;
  /** How long reported numbers matter, in microseconds. */
  readonly maxAgeMicros: number;
  /** The wait that a rejection suggests while only open calls prevent the action, in microseconds. */
  readonly retryAfterMicros: number;
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly stateSize = server.LEASES_START + leases.SIZE_FOR_ONE;
  /** The numbers that a charge or a settlement by this limit sets. Without them, they count units. */
  readonly reported: ReportedNumbers | undefined;
  /** The limit that sets no numbers, if this one does. */
  readonly quota: ReportedQuota | undefined;

  constructor(
    { leaseMicros, limit, maxAgeMicros, retryAfterMicros }: Settings,
    reported?: ReportedNumbers,
    quota?: ReportedQuota,
  ) {
    this.limit = limit;
    this.leaseMicros = leaseMicros;
    this.maxAgeMicros = maxAgeMicros;
    this.retryAfterMicros = retryAfterMicros;
    this.windowMicros = leaseMicros;
    this.keepMicros = Math.max(leaseMicros, maxAgeMicros);
    this.reported = reported;
    this.quota = quota;
    Object.freeze(this);
  }

  /**
   * Returns the same limit, whose charges and settlements set these numbers. Later ends than `maxAge` allows are cut off. The time
   * of a refill stays, because it shows the rate.
   */
  reporting(reported: ReportedNumbers): ReportedQuota {
    const within = (micros: number) => Math.min(micros, this.maxAgeMicros);
    const numbers = {
      ...reported,
      resetMicros: reported.kind === server.REFILL ? reported.resetMicros : within(reported.resetMicros),
      blockMicros: within(reported.blockMicros),
    };
    return new ReportedQuota(this, numbers, this.quota ?? this);
  }

  /** Creates what keeps the calls open that the checks of a limiter start. */
  createLeaseKeeper(...owner: Parameters<LeaseKeepingLimit['createLeaseKeeper']>): LeaseKeeper {
    return new LeaseKeeper(...owner);
  }

  create(state: State): void {
    server.clear(state);
    leases.clear(server.openCallsOf(state));
  }

  expiresMicros(state: State): number {
    return server.expiresMicros(state);
  }

  isPlausible(state: State, nowMicros: number): boolean {
    return server.isPlausible(state, nowMicros) && leases.isPlausible(server.openCallsOf(state), nowMicros);
  }

  isIntact(state: State): boolean {
    return leases.isIntact(server.openCallsOf(state));
  }

  describe(state: State): unknown {
    const calls = server.openCallsOf(state);
    return { server: server.describe(state), leases: leases.describe(calls), newestId: leases.newestIdOf(calls) };
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    fillVerdict(state, nowMicros, cost, this, verdict);
    if (records(mode, verdict.waitMicros)) {
      const calls = server.openCallsOf(state);
      leases.dropExpired(calls, nowMicros);
      if (mode === OVERDRAW) {
        this.#spend(state, nowMicros, cost);
      } else {
        leases.insert(calls, leases.countOf(calls), verdict.atMicros, cost);
        leases.extend(calls, leases.countOf(calls) - 1, nowMicros, this.leaseMicros);
        fillFigures(state, nowMicros, this, verdict);
      }
    }
    verdict.expiresMicros = server.expiresMicros(state);
  }

  /** Counts units that no open call has, or sets the numbers that a charge has learned. */
  #spend(state: State, nowMicros: number, units: number): void {
    const { reported } = this;
    if (reported === undefined) server.spend(state, units, nowMicros);
    else this.report(state, reported, nowMicros, { sentMicros: nowMicros - reported.ageMicros, cost: 0 });
  }

  /** Implements `settle` of {@link ReservingLimit}. */
  settle(hit: RecordedHit, cost: number, isRelease?: boolean): Settlement | undefined {
    if (isRelease && hit.wantedCost === 0) return undefined;
    const isSpent = hit.isSpent === true; // A release before this settlement has spent it.
    const settlement =
      this.reported === undefined
        ? settleReservation(hit, cost, (state, nowMicros) =>
            this.close(state, nowMicros, hit) || !isSpent ? cost : Math.max(0, cost - hit.cost),
          )
        : this.#settleByReport(hit, this.reported);
    hit.wantedCost = 0;
    if (isRelease) hit.isSpent = true;
    return settlement;
  }

  /** Closes a call, and sets the numbers of its response. */
  #settleByReport(hit: RecordedHit, reported: ReportedNumbers): Settlement {
    const { rule, key, life, recordedMicros, cost } = hit;
    return {
      rule,
      key,
      run: (states) => {
        const state = states.find(rule, key);
        if (state.isNew) states.begin(state, rule, key);
        else if (state.life === life) this.close(state, states.nowMicros, hit);
        this.report(state, reported, states.nowMicros, { sentMicros: recordedMicros, cost });
        states.save(state, this.expiresMicros(state));
      },
    };
  }

  /** Closes a call. Returns whether it was open. */
  close(state: State, nowMicros: number, { atMicros }: Hit): boolean {
    const calls = server.openCallsOf(state);
    leases.dropExpired(calls, nowMicros);
    const index = leases.indexOf(calls, atMicros);
    const isOpen = leases.hasId(calls, index, atMicros);
    if (isOpen) leases.keepUnits(calls, index, 0);
    return isOpen;
  }

  /** Updates what the key knows by the numbers of a call. */
  report(state: State, reported: ReportedNumbers, nowMicros: number, call: ReportedCall): void {
    leases.dropExpired(server.openCallsOf(state), nowMicros);
    reportNumbers(state, reported, nowMicros, call, this.maxAgeMicros);
  }

  /** Does nothing, because {@link settle} prepares refunds, too. */
  refund(): void {}

  /** Implements `renew` of a limit. */
  renew(state: State, nowMicros: number, { atMicros }: Hit): boolean {
    const calls = server.openCallsOf(state);
    const index = leases.indexOf(calls, atMicros);
    if (!leases.hasId(calls, index, atMicros) || leases.untilOf(calls, index) <= nowMicros) return false;
    leases.extend(calls, index, nowMicros, this.leaseMicros);
    return true;
  }

  /** Implements `settingsAt` of a limit. */
  settingsAt(): readonly number[] {
    const settings = [this.limit, this.leaseMicros, this.maxAgeMicros, this.retryAfterMicros];
    if (this.reported === undefined) return settings;
    const { kind, remaining, limit, resetMicros, windowMicros, blockMicros, ageMicros, reserve, needed } =
      this.reported;
    return [...settings, kind, remaining, limit, resetMicros, windowMicros, blockMicros, ageMicros, reserve, needed];
  }

  /** Returns the units that the server has counted, and those of open calls. */
  usageOf(state: State | undefined, nowMicros: number): Usage {
    return state === undefined ? { spent: 0, reserved: 0 } : usageOf(state, nowMicros);
  }
}
