import type { Row } from '../algorithm-replay.js';
import type { Quota } from '../algorithms.js';
import { type Comparison, SHIFTS } from '../comparer.js';
import { formatDuration } from '../format-duration.js';
import { formatQuota } from './format.js';
import { formatInteger, formatPercent } from './format-number.js';
import type { Report, Table } from './report.js';
import { createLeakyNotes, createTimeChart, describeTotals } from './report-parts.js';

export function describeComparison(quota: Quota, found: Comparison): Report {
  const algorithms = found.rows.map(({ algorithm }) => algorithm);
  return {
    title: `rollgate compare: ${formatQuota(quota)}`,
    facts: [...describeResult(quota, found), describeTotals(found)],
    tables: [createAlgorithmsTable(quota, found)],
    charts: [{ ...createTimeChart('Rejected', found.timeline, algorithms), style: 'panels' }],
    notes: [
      ...(quota.periods === undefined
        ? []
        : [`The other algorithms have a window of ${formatDuration(quota.windowMs)}.`]),
      `The last row is the worst of ${SHIFTS} moments at which the counter of the fixed window could restart. Your clock decides which one you get.`,
      'over: started although the last window was full. under: rejected although it had room.',
      'The window is an exact one over the requests that the algorithm itself allowed. Each counts when it starts.',
      `fixed: its windows follow the clock. Those of express-rate-limit start with a request, and allow ${formatInteger(2 * quota.limit - 1)} in a window at most.`,
      ...createLeakyNotes([quota]),
    ],
  };
}

/** Names the algorithm that allowed the most within one window. */
function describeResult(quota: Quota, { rows, worstShift }: Comparison): string[] {
  const worst = [...rows, worstShift].reduce((most, row) => (row.mostInWindow > most.mostInWindow ? row : most));
  if (worst.mostInWindow <= quota.limit) return [`No algorithm allowed more than ${formatQuota(quota)} in this log`];
  const times = `${(worst.mostInWindow / quota.limit).toFixed(2)} times the limit`;
  const name = worst === worstShift ? nameOfShift(worstShift.shiftMs) : worst.algorithm;
  const most = `${name}: one caller got ${formatInteger(worst.mostInWindow)} requests within ${formatDuration(quota.windowMs)}, ${times}`;
  return [`${most}; rolling never allows more than the limit`];
}

function nameOfShift(shiftMs: number): string {
  return shiftMs === 0 ? 'fixed, not shifted' : `fixed, ${formatDuration(shiftMs)} later`;
}

function createAlgorithmsTable(quota: Quota, { requests, callers, rows, worstShift }: Comparison): Table {
  const share = (count: number, all = requests) =>
    count === 0 ? '0' : `${formatInteger(count)} (${formatPercent(count, all)})`;
  const most = `most in ${formatDuration(quota.windowMs)}`;
  const toCells = (name: string, row: Row) => [
    name,
    formatInteger(row.allowedRequests),
    share(row.rejectedRequests),
    share(row.rejectedCallers, callers),
    share(row.overAdmitted),
    share(row.underAdmitted),
    `${formatInteger(row.mostInWindow)} (${(row.mostInWindow / quota.limit).toFixed(2)}×)`,
  ];
  return {
    title: `${formatQuota(quota)} by each algorithm`,
    heads: ['algorithm', 'allowed', 'rejected', 'callers hit', 'over', 'under', most],
    rows: [...rows.map((row) => toCells(row.algorithm, row)), toCells(nameOfShift(worstShift.shiftMs), worstShift)],
    answer: rows.findIndex(({ algorithm }) => algorithm === 'rolling'),
  };
}
