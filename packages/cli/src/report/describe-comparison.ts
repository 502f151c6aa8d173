import type { Comparison } from '../compare.js';
import type { Quota } from '../limits.js';
import { leakyNotes, timeChart, totalsFact } from './common.js';
import type { Report, Table } from './report.js';
import { duration, percent, quotaText, whole } from './words.js';

/** What `compare` found. */
export function describeComparison(quota: Quota, found: Comparison): Report {
  const algorithms = found.rows.map(({ algorithm }) => algorithm);
  return {
    title: `rollgate compare: ${quotaText(quota)}`,
    facts: [totalsFact(found)],
    tables: [algorithmsTable(quota, found)],
    charts: [{ ...timeChart('Refused', found.timeline, algorithms), style: 'line' }],
    notes: [
      'over: let through although the last window had no room for it; under: refused although it had.',
      'The window is an exact one over what the algorithm itself let through.',
      'What leaky holds in its queue counts when it is let in.',
      ...leakyNotes([quota]),
    ],
  };
}

function algorithmsTable(quota: Quota, { requests, callers, rows }: Comparison): Table {
  const share = (count: number, all = requests) => (count === 0 ? '0' : `${whole(count)} (${percent(count, all)})`);
  const most = `most in ${duration(quota.windowMs)}`;
  return {
    title: `${quotaText(quota)} by each algorithm`,
    heads: ['algorithm', 'let through', 'refused', 'callers hit', 'over', 'under', most],
    rows: rows.map((row) => [
      row.algorithm,
      whole(row.letThrough),
      share(row.refusedRequests),
      share(row.refusedCallers, callers),
      share(row.overAdmitted),
      share(row.underAdmitted),
      `${whole(row.mostInWindow)} (${(row.mostInWindow / quota.limit).toFixed(2)}×)`,
    ]),
  };
}
