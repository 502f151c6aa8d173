import type { Algorithm, NamedQuota } from '../limits.js';
import type { Simulation } from '../simulate.js';
import { leakyNotes, timeChart, totalsFact } from './common.js';
import type { Report, Table } from './report.js';
import { counted, duration, percent, quotaText, time, whole } from './words.js';

/** What `simulate` found. */
export function describeSimulation(algorithm: Algorithm, quotas: readonly NamedQuota[], found: Simulation): Report {
  const limits = quotas.map(quotaText).join(' and ');
  const { requests, callers, refusedRequests, refusedCallers, timeline } = found;
  const chart = timeChart('Requests and refused', timeline, ['refused', 'requests']);
  return {
    title: `rollgate simulate: ${limits}, ${algorithm}`,
    facts: [
      totalsFact(found),
      `${limits}, ${algorithm}, refuses`,
      `  ${counted(refusedRequests, 'request')} (${percent(refusedRequests, requests)})`,
      `  ${counted(refusedCallers, 'caller')} (${percent(refusedCallers, callers)})`,
    ],
    tables: [...(quotas.length === 1 ? [] : [limitsTable(quotas, found)]), worstHitTable(quotas, found)],
    charts: [{ ...chart, style: 'bars', ...(refusedRequests > 0 ? { terminalTitle: 'Refused' } : {}) }],
    notes: algorithm === 'leaky' ? leakyNotes(quotas) : [],
  };
}

function limitsTable(quotas: readonly NamedQuota[], { requests, refusedByLimit }: Simulation): Table {
  return {
    title: 'By limit',
    heads: ['limit', '', 'refused', 'of all'],
    rows: quotas.map((quota) => {
      const refused = refusedByLimit[quota.name]!;
      return [quota.name, quotaText(quota), whole(refused), percent(refused, requests)];
    }),
  };
}

function worstHitTable(quotas: readonly NamedQuota[], { refusedCallers, worstHit }: Simulation): Table {
  const windowOf = (limit: string) => duration(quotas.find(({ name }) => name === limit)!.windowMs);
  return {
    title: `Worst hit${refusedCallers > worstHit.length ? `, ${worstHit.length} of ${whole(refusedCallers)}` : ''}`,
    heads: ['caller', 'requests', 'refused', 'of its own', 'worst burst', 'reached at (UTC)'],
    rows: worstHit.map(({ key, requests, refusedRequests, worstBurst: { limit, size, atMicros } }) => [
      key,
      whole(requests),
      whole(refusedRequests),
      percent(refusedRequests, requests),
      `${whole(size)} in ${windowOf(limit)}`,
      time(atMicros),
    ]),
    empty: refusedCallers === 0 ? 'Nobody is refused.' : '',
  };
}
