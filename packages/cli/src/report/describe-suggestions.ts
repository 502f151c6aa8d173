import type { Refusals, Suggestion } from '../suggest.js';
import { type LogTotals, totalsFact } from './common.js';
import type { Chart, Report, Table } from './report.js';
import { duration, percent, quotaText, whole } from './words.js';

const HEADS = ['limit', 'refused', 'of requests', 'callers hit', 'of callers'];

/** What `suggest` found. */
export function describeSuggestions(share: number, found: readonly Suggestion[], all: LogTotals): Report {
  const most = percent(share, 1);
  const rows = found.flatMap(({ windowMs, forRequests, forCallers, forAll }) => [
    [`at most ${most} of requests`, ...cellsOf(forRequests, windowMs, all)],
    [`at most ${most} of callers`, ...cellsOf(forCallers, windowMs, all)],
    ['nobody', ...cellsOf(forAll, windowMs, all)],
  ]);
  return {
    title: `rollgate suggest: at most ${most} refused`,
    facts: [totalsFact(all)],
    tables: [
      { title: 'The smallest rolling limit that refuses', heads: ['', ...HEADS], rows },
      ...found.map((suggestion) => curveTable(suggestion, all)),
    ],
    charts: found.map((suggestion) => curveChart(suggestion, all)),
    notes: [],
  };
}

function curveTable({ windowMs, curve }: Suggestion, all: LogTotals): Table {
  return {
    title: `What a limit for ${duration(windowMs)} refuses`,
    heads: HEADS,
    rows: curve.map((point) => cellsOf(point, windowMs, all)),
    bars: curve.map(({ refusedRequests }) => refusedRequests / all.requests),
  };
}

function curveChart({ windowMs, curve }: Suggestion, all: LogTotals): Chart {
  return {
    title: `Refused, % of all, by limit for ${duration(windowMs)}`,
    axis: 'number',
    style: 'line',
    xs: curve.map(({ limit }) => limit),
    series: [
      { name: 'requests', values: curve.map(({ refusedRequests }) => (refusedRequests / all.requests) * 100) },
      { name: 'callers', values: curve.map(({ refusedCallers }) => (refusedCallers / all.callers) * 100) },
    ],
  };
}

function cellsOf({ limit, refusedRequests, refusedCallers }: Refusals, windowMs: number, all: LogTotals): string[] {
  return [
    quotaText({ limit, windowMs }),
    whole(refusedRequests),
    percent(refusedRequests, all.requests),
    whole(refusedCallers),
    percent(refusedCallers, all.callers),
  ];
}
