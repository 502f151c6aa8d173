import type { ReportedSettings } from '../oracles/reported-quota.js';
import type { Vector, VectorVerdict } from './vector.js';

/** Figures of an allowed action: what remains, and when the full quota and the next unit are back. */
const allowed = (remaining: number, resetMs = 0, nextUnitMs = resetMs): VectorVerdict => {
  return { allowed: true, remaining, retryAfterMs: 0, resetMs, nextUnitMs };
};

/** A rejection by the numbers of the server. */
const rejected = (remaining: number, waitMs: number, resetMs = waitMs, nextUnitMs = resetMs): VectorVerdict => {
  return { allowed: false, remaining, retryAfterMs: waitMs, resetMs, nextUnitMs };
};

/** A rejection because calls are open. */
const waiting = (remaining: number, waitMs: number, resetMs = 0): VectorVerdict => {
  return { ...rejected(remaining, waitMs, resetMs), retryIsEstimate: true };
};

const options = { lease: 30_000, guess: 1, maxAge: 3_600_000, retryAfter: 1000 };
const limit = { algorithm: 'reportedQuota', options } as const;
const many = { algorithm: 'reportedQuota', options: { ...options, guess: 5 } } as const;

/** The settings of a call whose response reports these numbers. */
const reporting = (reported: ReportedSettings, of: typeof options = options) => ({ options: { ...of, reported } });

/** The numbers of a window. */
const window = (remaining: number, reset: number, rest: ReportedSettings = {}) =>
  reporting({ kind: 'window', remaining, limit: 10, reset, ...rest }, many.options);

/** The numbers of a quota of 1000 that refills one unit per second. */
const refilling = (remaining: number, rest: ReportedSettings = {}) =>
  reporting({ kind: 'refill', remaining, limit: 1000, reset: (1000 - remaining) * 1000, ...rest }, many.options);

export const reportedQuotaVectors: readonly Vector<'reportedQuota'>[] = [
  {
    title: 'while nothing is known, one call of any cost probes, and the others wait for its response',
    limit,
    steps: [
      { at: 0, cost: 1, ...allowed(0) },
      { at: 0, cost: 1, ...waiting(0, 1000) },
      { at: 5, refund: 0 },
      { at: 5, cost: 7, ...allowed(0) },
      { at: 5, peek: true, cost: 1, ...waiting(0, 1000), usage: [0, 7] },
      { at: 6, settle: 3, cost: 3 },
      { at: 6, cost: 1, ...allowed(0) },
    ],
  },
  {
    title: 'a guess lets several calls probe together',
    limit: many,
    steps: [
      { at: 0, cost: 3, ...allowed(2) },
      { at: 0, cost: 3, ...waiting(2, 1000) },
      { at: 0, cost: 2, ...allowed(0) },
      { at: 0, release: 0 },
      { at: 0, peek: true, cost: 1, ...allowed(3) },
    ],
  },
  {
    title: 'reported numbers replace the guess, open calls count, and the limit is back when the window ends',
    limit,
    steps: [
      { at: 0, cost: 1, ...reporting({ kind: 'window', remaining: 3, limit: 5, reset: 10_000 }), ...allowed(0) },
      { at: 100, settle: 0, cost: 1 },
      { at: 100, peek: true, cost: 1, ...allowed(3, 10_000), usage: [2, 0] },
      { at: 100, cost: 2, ...allowed(1, 10_000) },
      { at: 200, cost: 2, ...waiting(1, 1000, 9900) },
      { at: 200, cost: 4, ...waiting(1, 9900, 9900) },
      { at: 10_099.999, peek: true, cost: 3, ...waiting(1, 0.001, 0.001) },
      { at: 10_100, peek: true, cost: 3, ...allowed(3) },
      { at: 10_100, peek: true, cost: 4, ...waiting(3, 1000) },
    ],
  },
  {
    title: 'numbers of a call that was sent after the known ones arrived replace them, and others only lower them',
    limit: many,
    steps: [
      { at: 0, cost: 1, ...window(8, 10_000), ...allowed(4) },
      { at: 1, cost: 1, ...window(7, 9990), ...allowed(3) },
      { at: 2, cost: 1, ...window(9, 9985), ...allowed(2) },
      { at: 10, settle: 1, cost: 1 },
      { at: 12, settle: 0, cost: 1 },
      { at: 12, peek: true, cost: 1, ...allowed(6, 9988), usage: [3, 1] },
      { at: 20, cost: 1, ...window(9, 9980), ...allowed(5, 9980) },
      { at: 30, settle: 2, cost: 1 },
      { at: 30, peek: true, cost: 1, ...allowed(6, 9970) },
      { at: 40, settle: 6, cost: 1 },
      { at: 40, peek: true, cost: 1, ...allowed(9, 9980), usage: [1, 0] },
    ],
  },
  {
    title: 'a lower count stays, even against a call that was sent before it arrived and after the earlier numbers',
    limit: many,
    steps: [
      { at: 0, cost: 1, ...window(8, 10_000), ...allowed(4) },
      { at: 1, cost: 1, ...window(5, 9990), ...allowed(3) },
      { at: 10, settle: 0, cost: 1 },
      { at: 20, cost: 1, ...window(6, 9980), ...allowed(6, 9990) },
      { at: 30, settle: 1, cost: 1 },
      { at: 40, settle: 3, cost: 1 },
      { at: 40, peek: true, cost: 1, ...allowed(5, 9970) },
    ],
  },
  {
    title: 'numbers of an earlier window change nothing, even when they come after its end',
    limit: many,
    steps: [
      { at: 0, cost: 1, ...window(0, 500), ...allowed(4) },
      { at: 0, cost: 1, ...window(9, 5000), ...allowed(3) },
      { at: 0, cost: 1, ...window(2, 100), ...allowed(2) },
      { at: 100, settle: 1, cost: 1 },
      { at: 200, settle: 0, cost: 1 },
      { at: 200, peek: true, cost: 1, ...allowed(8, 4900) },
      { at: 5200, settle: 2, cost: 1 },
      { at: 5200, peek: true, cost: 1, ...allowed(10) },
      { at: 5200, cost: 1, ...window(4, 9000), ...allowed(9) },
      { at: 5300, settle: 8, cost: 1 },
      { at: 5300, peek: true, cost: 1, ...allowed(4, 9000) },
    ],
  },
  {
    title: 'numbers of a later window replace those of the earlier one, whatever the order of the responses',
    limit: many,
    steps: [
      { at: 0, cost: 1, ...window(1, 2000), ...allowed(4) },
      { at: 0, cost: 1, ...window(9, 10_000), ...allowed(3) },
      { at: 100, settle: 0, cost: 1 },
      { at: 200, settle: 1, cost: 1 },
      { at: 200, peek: true, cost: 1, ...allowed(9, 10_000) },
    ],
  },
  {
    title: 'a quota that refills adds units evenly, to the microsecond',
    limit,
    steps: [
      { at: 0, cost: 1, ...reporting({ kind: 'refill', remaining: 0, limit: 60, reset: 60_000 }), ...allowed(0) },
      { at: 0, settle: 0, cost: 1 },
      { at: 0, cost: 1, ...rejected(0, 1000, 60_000, 1000) },
      { at: 999.999, peek: true, cost: 1, ...rejected(0, 0.001, 59_000.001, 0.001) },
      { at: 1000, cost: 1, ...allowed(0, 59_000, 1000) },
      { at: 2000, settle: 4, cost: 3 },
      { at: 2000, peek: true, cost: 1, ...rejected(0, 1000, 60_000, 1000), usage: [60, 0] },
      { at: 2000, peek: true, cost: 61, ...rejected(0, Infinity, 60_000, 1000) },
      { at: 62_000, peek: true, cost: 60, ...allowed(60) },
    ],
  },
  {
    title: 'calls leave a reserve of a quota that refills, unless they could not start otherwise',
    limit,
    steps: [
      {
        ...{ at: 0, cost: 1, ...allowed(0) },
        ...reporting({ kind: 'refill', remaining: 1, limit: 60, reset: 59_000, reserve: 3 }),
      },
      { at: 0, settle: 0, cost: 1 },
      { at: 0, charge: 1, ...rejected(0, 4000, 60_000, 4000), usage: [60, 0] },
      { at: 1000, cost: 2, ...rejected(0, 4000, 59_000, 3000) },
      { at: 4000, cost: 1, ...allowed(0, 56_000, 1000) },
      { at: 4000, peek: true, cost: 1, ...rejected(0, 1000, 56_000, 1000), retryIsEstimate: true },
      { at: 5000, refund: 4 },
      { at: 5000, peek: true, cost: 58, ...rejected(2, 55_000, 55_000, 1000) },
      { at: 60_000, peek: true, cost: 60, ...allowed(60) },
      { at: 60_000, cost: 2, ...allowed(55) },
      { at: 60_000, peek: true, cost: 56, ...waiting(55, 1000) },
      { at: 60_000, peek: true, cost: 55, ...allowed(55) },
    ],
  },
  {
    title:
      'a reserve grows by what rejected calls lacked, up to four times its least size, and shrinks with other numbers',
    limit: many,
    steps: [
      { at: 0, charge: 1, ...refilling(500, { reserve: 10 }), ...allowed(490, 500_000, 1000) },
      { at: 0, cost: 6, ...refilling(2, { reserve: 10, needed: 9 }), ...allowed(484, 500_000, 1000) },
      { at: 0, settle: 1, cost: 6 },
      { at: 0, charge: 1, ...refilling(500, { reserve: 10 }), ...allowed(483, 500_000, 1000) },
      { at: 0, cost: 25, ...refilling(0, { reserve: 10, needed: 30 }), ...allowed(458, 500_000, 1000) },
      { at: 0, settle: 4, cost: 25 },
      { at: 0, charge: 1, ...refilling(500, { reserve: 10 }), ...allowed(461, 500_000, 1000) },
      { at: 0, charge: 1, ...refilling(500, { reserve: 5 }), ...allowed(480, 500_000, 1000) },
      { at: 0, charge: 1, ...refilling(500, { reserve: 50, needed: 9 }), ...allowed(450, 500_000, 1000) },
      { at: 0, charge: 1, ...window(8, 10_000), ...allowed(8, 10_000) },
    ],
  },
  {
    title: 'calls are expected to take what the first response shows, although a call may take a full quota',
    limit: many,
    steps: [
      { at: 0, cost: 5, ...refilling(990), ...allowed(0) },
      { at: 0, settle: 0, cost: 5 },
      { at: 0, peek: true, cost: 1, ...allowed(495, 10_000, 2000) },
      { at: 0, cost: 400, ...allowed(95, 10_000, 2000) },
      { at: 0, cost: 96, ...waiting(95, 1000, 10_000), nextUnitMs: 2000 },
      { at: 2000, cost: 96, ...allowed(0, 8000, 2000) },
      { at: 2000, refund: 3 },
      { at: 2000, refund: 5 },
      { at: 2000, peek: true, cost: 600, ...rejected(496, 8000, 8000, 2000) },
      { at: 10_000, cost: 600, ...allowed(0) },
      { at: 10_000, peek: true, cost: 1, ...waiting(0, 1000) },
    ],
  },
  {
    title:
      'a first response shows nothing if others may have used the quota, after a window, or if it rejects the call',
    limit: many,
    steps: [
      { at: 0, cost: 5, ...refilling(979), ...allowed(0) },
      { at: 0, settle: 0, cost: 5 },
      { at: 0, peek: true, cost: 1, ...allowed(979, 21_000, 1000) },
      { at: 5_000_000, cost: 5, ...refilling(990, { needed: 991 }), ...allowed(0) },
      { at: 5_000_000, settle: 3, cost: 5 },
      { at: 5_000_000, peek: true, cost: 1, ...allowed(990, 10_000, 1000) },
      { at: 10_000_000, charge: 1, ...window(8, 10_000), ...allowed(8, 10_000) },
      { at: 10_000_000, cost: 5, ...refilling(990), ...allowed(3, 10_000) },
      { at: 10_000_000, settle: 7, cost: 5 },
      { at: 10_000_000, peek: true, cost: 1, ...allowed(990, 10_000, 1000) },
    ],
  },
  {
    title: 'a rejection in spite of enough units shows what calls take, and each response lowers that',
    limit: many,
    steps: [
      { at: 0, charge: 1, ...refilling(500), ...allowed(500, 500_000, 1000) },
      { at: 0, cost: 10, ...refilling(12, { needed: 15 }), ...allowed(490, 500_000, 1000) },
      { at: 0, settle: 1, cost: 10 },
      { at: 0, charge: 1, ...refilling(500), ...allowed(334, 500_000, 1000) },
      { at: 0, cost: 10, ...refilling(500, { needed: 41 }), ...allowed(324, 500_000, 1000) },
      { at: 0, settle: 4, cost: 10 },
      { at: 0, charge: 1, ...refilling(503), ...allowed(338, 497_000, 1000) },
      { at: 0, cost: 9, ...refilling(13, { reserve: 3, needed: 15 }), ...allowed(329, 497_000, 1000) },
      { at: 0, settle: 7, cost: 9 },
      { at: 0, charge: 1, ...refilling(20, { reserve: 3 }), ...allowed(10, 980_000, 1000) },
    ],
  },
  {
    title: 'a call above the reported limit never starts, until the numbers are forgotten',
    limit: { algorithm: 'reportedQuota', options: { ...many.options, maxAge: 1000 } },
    steps: [
      {
        ...{ at: 0, charge: 1, ...allowed(3, 500) },
        ...reporting({ kind: 'window', remaining: 3, limit: 4, reset: 500 }, { ...many.options, maxAge: 1000 }),
      },
      { at: 0, peek: true, cost: 5, ...rejected(3, Infinity, 500) },
      { at: 0, cost: 1, ...allowed(2, 500) },
      { at: 500, cost: 5, ...rejected(3, Infinity, 0) },
      { at: 500, refund: 2 },
      { at: 1000, cost: 6, ...allowed(0) },
    ],
  },
  {
    title: 'a limit that is forgotten rejects no call for good, although another one is open',
    limit: { algorithm: 'reportedQuota', options: { ...options, maxAge: 1000 } },
    steps: [
      {
        ...{ at: 0, charge: 1, ...allowed(4) },
        ...reporting({ kind: 'window', remaining: 4, limit: 4, reset: 500 }, { ...options, maxAge: 1000 }),
      },
      { at: 500, cost: 1, ...allowed(3) },
      { at: 999, peek: true, cost: 5, ...rejected(3, Infinity, 0) },
      { at: 1000, peek: true, cost: 5, ...waiting(3, 1000) },
      { at: 1000, refund: 1 },
      { at: 1000, cost: 5, ...allowed(0) },
    ],
  },
  {
    title: 'after a window without a reported limit, what remained is free, and a call of any cost starts alone',
    limit: many,
    steps: [
      { at: 0, charge: 1, ...reporting({ kind: 'window', remaining: 2, reset: 1000 }, many.options), ...allowed(2) },
      { at: 0, peek: true, cost: 9, ...rejected(2, 1000, 0) },
      { at: 1000, cost: 2, ...allowed(0) },
      { at: 1000, peek: true, cost: 9, ...waiting(0, 1000) },
      { at: 1000, refund: 2 },
      { at: 1000, cost: 9, ...allowed(0) },
      {
        at: 1000,
        charge: 1,
        ...reporting({ kind: 'window', remaining: 0, reset: 1000 }, many.options),
        ...waiting(0, 1000, 1000),
      },
      { at: 1000, refund: 5 },
      { at: 2000, peek: true, cost: 1, ...allowed(1) },
    ],
  },
  {
    title: 'a window that has ended lets calls start together while nothing is known, and replaces nothing',
    limit,
    steps: [
      { at: 0, charge: 1, ...reporting({ kind: 'window', remaining: 8, reset: 0 }), ...allowed(8) },
      { at: 0, charge: 1, ...reporting({ kind: 'window', remaining: 4, reset: 0 }), ...allowed(8) },
      { at: 0, cost: 6, ...allowed(2) },
      { at: 0, peek: true, cost: 3, ...waiting(2, 1000) },
      { at: 10, settle: 2, cost: 6 },
      { at: 10, peek: true, cost: 8, ...allowed(8) },
      {
        at: 10,
        charge: 1,
        ...reporting({ kind: 'refill', remaining: 0, limit: 60, reset: 60_000 }),
        ...rejected(0, 1000, 60_000, 1000),
      },
      {
        at: 10,
        charge: 1,
        ...reporting({ kind: 'window', remaining: 8, reset: 0 }),
        ...rejected(0, 1000, 60_000, 1000),
      },
    ],
  },
  {
    title: 'a response without the limit of a window leaves the known one',
    limit: many,
    steps: [
      { at: 0, cost: 1, ...window(6, 10_000), ...allowed(4) },
      { at: 0, cost: 1, ...window(5, 9000, { limit: undefined }), ...allowed(3) },
      { at: 0, settle: 0, cost: 1 },
      { at: 0, settle: 1, cost: 1 },
      { at: 0, peek: true, cost: 11, ...rejected(5, Infinity, 9000) },
      { at: 0, charge: 1, ...window(12, 9000, { limit: undefined }), ...allowed(12, 0) },
      { at: 0, charge: 1, ...window(3, 9000, { limit: undefined }), ...allowed(3, 9000) },
      { at: 9000, peek: true, cost: 12, ...allowed(12) },
    ],
  },
  {
    title: 'after the reset, late numbers without a limit matter only if they are lower than what counts then',
    limit: many,
    steps: [
      { at: 0, cost: 1, ...reporting({ kind: 'window', remaining: 5, reset: 9000 }, many.options), ...allowed(4) },
      { at: 0, cost: 1, ...reporting({ kind: 'window', remaining: 0, reset: 10_000 }, many.options), ...allowed(3) },
      { at: 0, settle: 1, cost: 1 },
      { at: 10_001, settle: 0, cost: 1 },
      { at: 10_001, peek: true, cost: 1, ...allowed(1) },
      {
        ...{ at: 10_001, charge: 1, ...rejected(0, 9000) },
        ...reporting({ kind: 'window', remaining: 0, reset: 9000, age: 10_001 }, many.options),
      },
    ],
  },
  {
    title: 'of several numbers without a limit, the lower count and the later reset stay, even after the reset',
    limit: many,
    steps: [
      { at: 0, cost: 1, ...reporting({ kind: 'window', remaining: 0, reset: 2000 }, many.options), ...allowed(4) },
      { at: 0, cost: 1, ...reporting({ kind: 'window', remaining: 0, reset: 1000 }, many.options), ...allowed(3) },
      { at: 0, cost: 1, ...reporting({ kind: 'window', remaining: 0, reset: 1500 }, many.options), ...allowed(2) },
      { at: 10, settle: 0, cost: 1 },
      { at: 20, settle: 1, cost: 1 },
      { at: 1020, peek: true, cost: 1, ...waiting(0, 1000, 990) },
      { at: 2500, settle: 2, cost: 1 },
      { at: 2500, peek: true, cost: 1, ...rejected(0, 1500) },
      { at: 4000, peek: true, cost: 1, ...allowed(1) },
    ],
  },
  {
    title: 'the time of a whole refill determines the rate of a full quota',
    limit,
    steps: [
      {
        ...{ at: 0, charge: 1, ...allowed(10) },
        ...reporting({ kind: 'refill', remaining: 10, limit: 10, reset: 0, window: 5000 }),
      },
      { at: 0, charge: 4, ...allowed(6, 2000, 500), usage: [4, 0] },
      { at: 499.999, peek: true, cost: 1, ...allowed(6, 1500.001, 0.001) },
      { at: 500, peek: true, cost: 1, ...allowed(7, 1500, 500) },
    ],
  },
  {
    title: 'a full quota whose server reports no rate refills within a minute',
    limit,
    steps: [
      { at: 0, charge: 1, ...reporting({ kind: 'refill', remaining: 60, limit: 60, reset: 0 }), ...allowed(60) },
      { at: 0, charge: 60, ...rejected(0, 1000, 60_000, 1000) },
    ],
  },
  {
    title: 'of numbers that refill, the lower count stays unless its call was sent later',
    limit: many,
    steps: [
      {
        ...{ at: 0, cost: 1, ...allowed(4) },
        ...reporting({ kind: 'refill', remaining: 5, limit: 10, reset: 5000 }, many.options),
      },
      {
        ...{ at: 0, cost: 1, ...allowed(3) },
        ...reporting({ kind: 'refill', remaining: 4, limit: 10, reset: 6000 }, many.options),
      },
      { at: 10, settle: 1, cost: 1 },
      { at: 20, settle: 0, cost: 1 },
      { at: 20, peek: true, cost: 1, ...allowed(4, 5990, 990) },
    ],
  },
  {
    title: 'a block rejects until it ends, and a shorter one does not change that',
    limit,
    steps: [
      { at: 0, charge: 1, ...reporting({ block: 2000 }), ...rejected(0, 2000) },
      { at: 1000, charge: 1, ...reporting({ block: 500 }), ...rejected(0, 1000) },
      { at: 1999.999, cost: 1, ...rejected(0, 0.001) },
      { at: 2000, cost: 1, ...allowed(0) },
    ],
  },
  {
    title: 'a block leaves the numbers as they are',
    limit: many,
    steps: [
      { at: 0, charge: 1, ...window(3, 10_000, { block: 2000 }), ...rejected(0, 2000, 10_000, 2000) },
      { at: 1000, peek: true, cost: 4, ...rejected(0, 9000, 9000, 1000) },
      { at: 2000, cost: 1, ...allowed(2, 8000) },
    ],
  },
  {
    title: 'the numbers of a key count as of the time at which their call was sent',
    limit: many,
    steps: [
      { at: 0, charge: 1, ...window(2, 1000), ...allowed(2, 1000) },
      { at: 10, charge: 1, ...window(4, 990, { age: 20 }), ...allowed(2, 990) },
      { at: 10, charge: 1, ...window(4, 990, { age: 5 }), ...allowed(4, 990) },
    ],
  },
  {
    title: 'numbers are forgotten after their greatest age, so no reset is later',
    limit: { algorithm: 'reportedQuota', options: { ...options, maxAge: 1000 } },
    steps: [
      {
        ...{ at: 0, charge: 1, ...rejected(0, 1000) },
        ...reporting(
          { kind: 'window', remaining: 0, limit: 5, reset: 3_600_000, block: 7_200_000 },
          { ...options, maxAge: 1000 },
        ),
      },
      { at: 999.999, cost: 1, ...rejected(0, 0.001) },
      { at: 1000, cost: 1, ...allowed(0) },
      { at: 1000, cost: 1, ...waiting(0, 1000) },
    ],
  },
  {
    title: 'a settlement without numbers takes the actual cost off the reported units, a refund nothing',
    limit: many,
    steps: [
      { at: 0, charge: 1, ...window(9, 10_000), ...allowed(9, 10_000) },
      { at: 0, cost: 4, ...allowed(5, 10_000) },
      { at: 1, settle: 1, cost: 1 },
      { at: 1, peek: true, cost: 1, ...allowed(8, 9999), usage: [2, 0] },
      { at: 1, cost: 4, ...allowed(4, 9999) },
      { at: 2, refund: 4 },
      { at: 2, cost: 3, ...allowed(5, 9998) },
      { at: 2, release: 6 },
      { at: 2, peek: true, cost: 1, ...allowed(5, 9998), usage: [5, 0] },
      { at: 2, settle: 6, cost: 4 },
      { at: 2, peek: true, cost: 1, ...allowed(4, 9998), usage: [6, 0] },
      { at: 10_000, charge: 7, ...allowed(10) },
    ],
  },
  {
    title: 'a reset forgets the numbers and the open calls',
    limit: many,
    steps: [
      { at: 0, charge: 1, ...window(1, 10_000), ...allowed(1, 10_000) },
      { at: 0, cost: 1, ...allowed(0, 10_000) },
      { at: 0, reset: true },
      { at: 1, settle: 1, cost: 1 },
      { at: 1, cost: 5, ...allowed(0) },
    ],
  },
  {
    title: 'a call whose lease is not renewed ends to the microsecond',
    limit,
    leasesEnd: true,
    steps: [
      { at: 0, cost: 1, ...allowed(0) },
      { at: 29_999.999, cost: 1, ...waiting(0, 0.001) },
      { at: 30_000, cost: 1, ...allowed(0) },
      { at: 40_000, renew: true },
      { at: 69_999.999, cost: 1, ...waiting(0, 0.001) },
      { at: 70_000, cost: 1, ...allowed(0) },
    ],
  },
  {
    title: 'what is counted after the end of a window frees nothing when the clock steps back',
    limit: many,
    steps: [
      { at: 5000, charge: 1, ...window(0, 800), ...rejected(0, 800) },
      { at: 5900, charge: 1, ...allowed(10) },
      { at: 5700, peek: true, cost: 1, ...rejected(0, 100) },
    ],
  },
  {
    title: 'what is counted after the numbers were forgotten ends them, even if the clock steps back',
    limit: { algorithm: 'reportedQuota', options: { ...many.options, maxAge: 1000 } },
    steps: [
      {
        ...{ at: 5000, charge: 1, ...allowed(3, 500) },
        ...reporting({ kind: 'window', remaining: 3, limit: 10, reset: 500 }, { ...many.options, maxAge: 1000 }),
      },
      { at: 6500, charge: 1, ...allowed(5) },
      { at: 5400, peek: true, cost: 1, ...allowed(5) },
    ],
  },
  {
    title: 'a settlement drops the calls whose leases have ended, so they are not open after a step back of the clock',
    limit: many,
    leasesEnd: true,
    steps: [
      { at: 0, cost: 1, ...allowed(4) },
      { at: 10_000, cost: 1, ...allowed(3) },
      { at: 30_000, settle: 1, cost: 0 },
      { at: 29_000, peek: true, cost: 1, ...allowed(5) },
    ],
  },
  {
    title: 'a clock that steps back prolongs a wait, up to twice the greatest age',
    limit: { algorithm: 'reportedQuota', options: { ...options, maxAge: 1000 } },
    steps: [
      {
        ...{ at: 5000, charge: 1, ...rejected(0, 800) },
        ...reporting({ kind: 'window', remaining: 0, limit: 5, reset: 800 }, { ...options, maxAge: 1000 }),
      },
      { at: 4500, cost: 1, ...rejected(0, 1300) },
      { at: 4000, cost: 1, ...rejected(0, 1800) },
      { at: 3999.999, cost: 1, ...allowed(0) },
    ],
  },
];
