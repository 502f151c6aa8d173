import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { CHARTS_SCRIPT } from './charts-script.js';
import { escapeInvisible, escapeInvisibleJson } from './escape-invisible.js';
import { formatTime } from './format.js';
import { formatInteger } from './format-number.js';
import type { Chart, Origin, Report, Series, Table } from './report.js';
import { titleOf } from './report-parts.js';

const require = createRequire(import.meta.url);

/**
 * The colors of the series are those of Okabe and Ito, or similar, which color-blind people can distinguish. The first two are
 * rejected and all requests, in the red and the blue of the playground.
 */
const STYLE = `
:root { color-scheme: light dark; --ink: #1f2328; --paper: #fff; --faint: #d8dee4; --mark: #dcebf5; --soft: #59636e;
  --series-0: #d1232f; --series-1: #0072b2; --series-2: #009e73; --series-3: #cc79a7; --series-4: #56b4e9; --series-5: #e69f00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #30363d; --mark: #1e3a4d; --soft: #9198a1;
  --series-0: #ff6b5e; --series-1: #56b4e9; --series-2: #2bbd94; --series-3: #cc79a7; --series-4: #0072b2; --series-5: #e69f00; } }
body { margin: 1rem auto 2rem; padding: 0 1rem; max-width: 60rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: clamp(1.15rem, 4.5vw, 1.5rem); line-height: 1.3; margin: 0.5rem 0; text-wrap: balance; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 0.5rem; }
h1, p { overflow-wrap: anywhere; }
p { margin: 0.2rem 0; white-space: pre-wrap; } .note, .origin { color: var(--soft); }
pre { margin: 0.5rem 0; padding: 0.5rem 0.75rem; overflow-x: auto; border: 1px solid var(--faint); border-radius: 6px; }
.origin { margin-top: 2rem; font-size: 0.875rem; }
.panels { display: grid; gap: 0.5rem 1rem; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); }
.chart { min-width: 0; } .panels h3 { font-size: 0.95rem; margin: 0; }
.wide { overflow-x: auto; } .answer { background: var(--mark); font-weight: 600; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.8rem; border-bottom: 1px solid var(--faint); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; max-width: min(28rem, 45vw); overflow: hidden; text-overflow: ellipsis; }
@media (max-width: 40rem) { body { font-size: 15px; } th, td { padding: 0.25rem 0.4rem; } }
`;

/** Forbids the page to load anything, whatever a log contains. */
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/** Creates one self-contained page that sends no requests. */
export function toHtml({ title, facts, tables, charts, notes }: Report, origin: Origin): string {
  const [headline = '', ...others] = facts;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${fileOf('uplot/dist/uPlot.min.css')}${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(headline)}</h1>
${others.map(toFact).join('\n')}
${charts.map(toChartPlace).join('\n')}
${tables.map(toTable).join('\n')}
${notes.map((note) => `<p class="note">${escapeHtml(note)}</p>`).join('\n')}
${toOrigin(origin)}
<script type="application/json" id="charts">${toData(charts)}</script>
<script>${fileOf('uplot/dist/uPlot.iife.min.js')}</script>
<script>${CHARTS_SCRIPT}</script>
</body>
</html>
`;
}

function toFact(fact: string): string {
  if (!fact.startsWith('  ')) return `<p>${escapeHtml(fact)}</p>`;
  const lines = fact.split('\n').map((line) => escapeHtml(line.slice(2)));
  return `<pre><code>${lines.join('\n')}</code></pre>`;
}

function toOrigin({ command, logs, version, date }: Origin): string {
  const made = `Made by rollgate ${version} on ${formatTime(date.getTime() * 1000)} UTC from ${logs.join(', ')}`;
  return `<p class="origin">${escapeHtml(made)}:<br><code>${escapeHtml(command)}</code></p>`;
}

function toTable({ title, heads, rows, answer, empty = '' }: Table): string {
  if (rows.length === 0) return `<p>${escapeHtml(empty)}</p>`;
  const toRow = (cells: readonly string[], tag: 'th' | 'td', isAnswer = false) =>
    `<tr${isAnswer ? ' class="answer"' : ''}>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
  return `<h2>${escapeHtml(title)}</h2>
<div class="wide"><table>
<thead>${toRow(heads, 'th')}</thead>
<tbody>
${rows.map((row, index) => toRow(row, 'td', index === answer)).join('\n')}
</tbody>
</table></div>`;
}

/** The elements in which the script draws the chart. */
function toChartPlace({ title, widthMs, style, series }: Chart, index: number): string {
  const places =
    style === 'panels'
      ? series.map(
          ({ name }, panel) =>
            `<div><h3>${escapeHtml(name)}</h3><div class="chart" id="chart-${index}-${panel}"></div></div>`,
        )
      : [`<div class="chart" id="chart-${index}-0"></div>`];
  return `<h2>${escapeHtml(titleOf(title, widthMs))}</h2>\n<div class="${style}">${places.join('\n')}</div>`;
}

/** Creates JSON that cannot end a script element, whatever it contains. */
function toData(charts: readonly Chart[]): string {
  const labelled = charts.map((chart) => ({ ...chart, parts: partsOf(chart) }));
  return escapeInvisibleJson(JSON.stringify(labelled)).replaceAll('<', '\\u003c');
}

/** What is drawn in each element, and its label. */
function partsOf(chart: Chart): { readonly series: readonly Series[]; readonly label: string }[] {
  const parts = chart.style === 'panels' ? chart.series.map((each) => [each]) : [chart.series];
  return parts.map((series) => ({ series, label: labelOf({ ...chart, series }) }));
}

/** Creates the label for screen readers: title, range, and the sums of a chart along the time. */
function labelOf({ title, widthMs, axis, xs, series }: Chart): string {
  const [first, last] = [xs[0]!, xs.at(-1)!].map((x) =>
    axis === 'time' ? `${formatTime(x * 1e6)} UTC` : formatInteger(x),
  );
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const shown = series.map(({ name, values }) => (axis === 'time' ? `${name} ${formatInteger(sum(values))}` : name));
  return `${titleOf(title, widthMs)}, from ${first} to ${last}: ${shown.join(', ')}`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes HTML and also invisible characters, which could change the order or the look of the text next to them. */
function escapeHtml(text: string): string {
  return escapeInvisible(text).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

function fileOf(path: string): string {
  return readFileSync(require.resolve(path), 'utf8');
}
