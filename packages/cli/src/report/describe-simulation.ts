import { type Algorithm, type NamedQuota, toRateLimitCode } from '../algorithms.js';
import { nameSpan } from '../calendar-span.js';
import type { Simulation } from '../simulator.js';
import { toPlainText } from './escape-invisible.js';
import { formatQuota, formatTime } from './format.js';
import { formatInteger, formatPercent } from './format-number.js';
import type { Report, Table } from './report.js';
import { createLeakyNotes, createTimeChart, describeTotals, describeVerdict, toCodeFact } from './report-parts.js';

export function describeSimulation(
  algorithm: Algorithm,
  quotas: readonly NamedQuota[],
  found: Simulation,
  hasCosts: boolean,
): Report {
  const limits = `${quotas.map(formatQuota).join(' and ')}${algorithm === 'rolling' ? '' : ` (${algorithm})`}`;
  const { rejectedRequests, units, rejectedUnits, timeline } = found;
  const chart = createTimeChart('Requests and rejected', timeline, ['rejected', 'requests']);
  const costs = `These are ${formatInteger(rejectedUnits)} of ${formatInteger(units)} units (${formatPercent(rejectedUnits, units)})`;
  return {
    title: `rollgate simulate: ${quotas.map(formatQuota).join(' and ')}, ${algorithm}`,
    facts: [
      describeVerdict(limits, found, found),
      ...(hasCosts && rejectedRequests > 0 ? [costs] : []),
      toCodeFact(toRateLimitCode(algorithm, quotas)),
      ...(rejectedRequests === 0 ? quotas.map((quota) => describeHeadroom(quota, found, hasCosts)) : []),
      describeTotals(found),
    ],
    tables: [
      ...(quotas.length === 1 ? [] : [createLimitsTable(quotas, found)]),
      createWorstHitTable(quotas, found, hasCosts),
    ],
    charts: [{ ...chart, style: 'bars', ...(rejectedRequests > 0 ? { terminalTitle: 'Rejected' } : {}) }],
    notes: algorithm === 'leaky' ? createLeakyNotes(quotas.filter(({ periods }) => periods === undefined)) : [],
  };
}

function describeHeadroom(quota: NamedQuota, { demands }: Simulation, hasCosts: boolean): string {
  const { key, size } = demands[quota.name]!;
  const most = `The highest demand of any caller in ${nameSpan(quota)} was ${formatInteger(size)}`;
  const unit = hasCosts ? ' units' : '';
  return `${most}${unit} (${toPlainText(key)}), ${formatPercent(size, quota.limit)} of the limit`;
}

function createLimitsTable(
  quotas: readonly NamedQuota[],
  { requests, rejectedByLimit, rejectedAlone }: Simulation,
): Table {
  return {
    title: 'By limit',
    heads: ['limit', '', 'rejected', 'of all', 'only by it'],
    rows: quotas.map((quota) => {
      const rejected = rejectedByLimit[quota.name]!;
      const alone = formatInteger(rejectedAlone[quota.name]!);
      return [quota.name, formatQuota(quota), formatInteger(rejected), formatPercent(rejected, requests), alone];
    }),
  };
}

function createWorstHitTable(
  quotas: readonly NamedQuota[],
  { rejectedCallers, worstHit }: Simulation,
  hasCosts: boolean,
): Table {
  const windowOf = (limit: string) => nameSpan(quotas.find(({ name }) => name === limit)!);
  return {
    title: `Worst hit${rejectedCallers > worstHit.length ? `, ${worstHit.length} of ${formatInteger(rejectedCallers)}` : ''}`,
    heads: ['caller', 'requests', 'rejected', 'share', 'worst burst', 'at (UTC)'],
    rows: worstHit.map(({ key, requests, rejectedRequests, worstBurst: { limit, size, atMicros } }) => [
      key,
      formatInteger(requests),
      formatInteger(rejectedRequests),
      formatPercent(rejectedRequests, requests),
      `${formatInteger(size)}${hasCosts ? ' units' : ''} in ${windowOf(limit)}`,
      formatTime(atMicros),
    ]),
    empty: rejectedCallers === 0 ? 'No request is rejected.' : '',
  };
}
