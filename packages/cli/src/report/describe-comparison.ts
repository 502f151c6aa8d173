import type { Quota } from '../algorithms.js';
import type { Comparison } from '../compare.js';
import { formatDuration, formatInteger, formatPercent, formatQuota } from './format.js';
import type { Report, Table } from './report.js';
import { leakyNotes, timeChart, totalsFact } from './report-parts.js';

/** Creates the report of `compare`. */
export function describeComparison(quota: Quota, found: Comparison): Report {
  const algorithms = found.rows.map(({ algorithm }) => algorithm);
  return {
    title: `rollgate compare: ${formatQuota(quota)}`,
    facts: [totalsFact(found)],
    tables: [algorithmsTable(quota, found)],
    charts: [{ ...timeChart('Rejected', found.timeline, algorithms), style: 'line' }],
    notes: [
      'over: allowed although the last window was full. under: rejected although it had room.',
      'The window is an exact one over the requests that the algorithm itself allowed.',
      'A request that leaky delays counts from the moment it enters the queue.',
      ...leakyNotes([quota]),
    ],
  };
}

function algorithmsTable(quota: Quota, { requests, callers, rows }: Comparison): Table {
  const share = (count: number, all = requests) =>
    count === 0 ? '0' : `${formatInteger(count)} (${formatPercent(count, all)})`;
  const most = `most in ${formatDuration(quota.windowMs)}`;
  return {
    title: `${formatQuota(quota)} by each algorithm`,
    heads: ['algorithm', 'allowed', 'rejected', 'callers hit', 'over', 'under', most],
    rows: rows.map((row) => [
      row.algorithm,
      formatInteger(row.allowedRequests),
      share(row.rejectedRequests),
      share(row.rejectedCallers, callers),
      share(row.overAdmitted),
      share(row.underAdmitted),
      `${formatInteger(row.mostInWindow)} (${(row.mostInWindow / quota.limit).toFixed(2)}×)`,
    ]),
  };
}
