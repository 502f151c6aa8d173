import type { Algorithm, NamedQuota } from '../algorithms.js';
import type { Simulation } from '../simulate.js';
import { formatCount, formatDuration, formatInteger, formatPercent, formatQuota, formatTime } from './format.js';
import type { Report, Table } from './report.js';
import { leakyNotes, timeChart, totalsFact } from './report-parts.js';

/** Creates the report of `simulate`. */
export function describeSimulation(algorithm: Algorithm, quotas: readonly NamedQuota[], found: Simulation): Report {
  const limits = quotas.map(formatQuota).join(' and ');
  const { requests, callers, rejectedRequests, rejectedCallers, timeline } = found;
  const chart = timeChart('Requests and rejected', timeline, ['rejected', 'requests']);
  return {
    title: `rollgate simulate: ${limits}, ${algorithm}`,
    facts: [
      totalsFact(found),
      `${limits}, ${algorithm}, rejects`,
      `  ${formatCount(rejectedRequests, 'request')} (${formatPercent(rejectedRequests, requests)})`,
      `  ${formatCount(rejectedCallers, 'caller')} (${formatPercent(rejectedCallers, callers)})`,
    ],
    tables: [...(quotas.length === 1 ? [] : [limitsTable(quotas, found)]), worstHitTable(quotas, found)],
    charts: [{ ...chart, style: 'bars', ...(rejectedRequests > 0 ? { terminalTitle: 'Rejected' } : {}) }],
    notes: algorithm === 'leaky' ? leakyNotes(quotas) : [],
  };
}

function limitsTable(quotas: readonly NamedQuota[], { requests, rejectedByLimit }: Simulation): Table {
  return {
    title: 'By limit',
    heads: ['limit', '', 'rejected', 'of all'],
    rows: quotas.map((quota) => {
      const rejected = rejectedByLimit[quota.name]!;
      return [quota.name, formatQuota(quota), formatInteger(rejected), formatPercent(rejected, requests)];
    }),
  };
}

function worstHitTable(quotas: readonly NamedQuota[], { rejectedCallers, worstHit }: Simulation): Table {
  const windowOf = (limit: string) => formatDuration(quotas.find(({ name }) => name === limit)!.windowMs);
  return {
    title: `Worst hit${rejectedCallers > worstHit.length ? `, ${worstHit.length} of ${formatInteger(rejectedCallers)}` : ''}`,
    heads: ['caller', 'requests', 'rejected', 'of its own', 'worst burst', 'reached at (UTC)'],
    rows: worstHit.map(({ key, requests, rejectedRequests, worstBurst: { limit, size, atMicros } }) => [
      key,
      formatInteger(requests),
      formatInteger(rejectedRequests),
      formatPercent(rejectedRequests, requests),
      `${formatInteger(size)} in ${windowOf(limit)}`,
      formatTime(atMicros),
    ]),
    empty: rejectedCallers === 0 ? 'No request is rejected.' : '',
  };
}
