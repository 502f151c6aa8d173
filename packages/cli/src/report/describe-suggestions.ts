import { toRateLimitCode } from '../algorithms.js';
import { nameSpan, type Span } from '../calendar-span.js';
import type { Rejections, Suggestion } from '../suggestion.js';
import { toPlainText } from './escape-invisible.js';
import { formatQuota } from './format.js';
import { formatInteger, formatPercent } from './format-number.js';
import type { Chart, Report, Table } from './report.js';
import { describeTotals, describeVerdict, type LogTotals, toCodeFact } from './report-parts.js';

const HEADS = ['limit', 'rejected', 'of requests', 'callers hit', 'of callers'];

export function describeSuggestions(share: number, found: readonly Suggestion[], all: LogTotals): Report {
  const most = formatPercent(share, 1);
  const kind = found.some(({ span }) => span.periods !== undefined) ? 'limit' : 'rolling limit';
  const rows = found.flatMap(({ span, forRequests, forCallers, forAll }) => [
    [`at most ${most} of requests`, ...cellsOf(forRequests, span, all)],
    [`at most ${most} of callers`, ...cellsOf(forCallers, span, all)],
    ['no request', ...cellsOf(forAll, span, all)],
  ]);
  return {
    title: `rollgate suggest: at most ${most} rejected`,
    facts: [...found.flatMap((suggestion) => describeResult(suggestion, all)), describeTotals(all)],
    tables: [
      { title: `The smallest ${kind} that rejects`, heads: ['', ...HEADS], rows },
      ...found.map((suggestion) => createCurveTable(suggestion, all)),
    ],
    charts: found.map((suggestion) => createCurveChart(suggestion, all)),
    notes: [],
  };
}

/** The result, the line to paste, and the caller that makes the limit so high. */
function describeResult({ span, forRequests, heaviest }: Suggestion, all: LogTotals): string[] {
  const toCode = (limit: number) => toCodeFact(toRateLimitCode('rolling', [{ limit, ...span, name: '' }]));
  const describe = (found: Rejections) => describeVerdict(formatQuota({ limit: found.limit, ...span }), found, all);
  const { key, demand, withoutIt } = heaviest;
  const cause = `The heaviest caller is ${toPlainText(key)}, with up to ${formatInteger(demand)} in ${nameSpan(span)}`;
  const isSetByOne = withoutIt !== undefined && withoutIt.limit < forRequests.limit;
  return [
    describe(forRequests),
    toCode(forRequests.limit),
    ...(isSetByOne
      ? [`${cause}. Chosen for the other callers, ${describe(withoutIt)}`, toCode(withoutIt.limit)]
      : [cause]),
  ];
}

function createCurveTable({ span, curve, forRequests }: Suggestion, all: LogTotals): Table {
  return {
    title: `What a limit for ${nameSpan(span)} rejects`,
    heads: HEADS,
    rows: curve.map((point) => cellsOf(point, span, all)),
    answer: curve.findIndex(({ limit }) => limit === forRequests.limit),
    bars: curve.map(({ rejectedRequests }) => rejectedRequests / all.requests),
  };
}

function createCurveChart({ span, curve, forRequests: { limit } }: Suggestion, all: LogTotals): Chart {
  return {
    title: `Rejected, % of all, by limit for ${nameSpan(span)}`,
    axis: 'number',
    style: 'line',
    mark: { x: limit, label: formatQuota({ limit, ...span }) },
    xs: curve.map(({ limit }) => limit),
    series: [
      { name: 'requests', values: curve.map(({ rejectedRequests }) => (rejectedRequests / all.requests) * 100) },
      { name: 'callers', values: curve.map(({ rejectedCallers }) => (rejectedCallers / all.callers) * 100) },
    ],
  };
}

function cellsOf({ limit, rejectedRequests, rejectedCallers }: Rejections, span: Span, all: LogTotals): string[] {
  return [
    formatQuota({ limit, ...span }),
    formatInteger(rejectedRequests),
    formatPercent(rejectedRequests, all.requests),
    formatInteger(rejectedCallers),
    formatPercent(rejectedCallers, all.callers),
  ];
}
