import { drawBars } from './chart.mjs';

/** The measurement that a row of a chart shows, apart from its metric. */
const METRICS = [
  { part: 'memory', title: 'Checks per second', pattern: /^memory, checks\/s: (.+)$/, better: 'Longer is better.' },
  { part: 'bytes', title: 'Bytes per key', pattern: /^(bytes per key .+)$/, better: 'Shorter is better.' },
  {
    part: 'scaling',
    title: 'Nanoseconds per check',
    pattern: /^Rollgate, ns\/check: (.+)$/,
    better: 'Shorter is better.',
  },
  ...['express', 'fastify', 'hono', 'koa'].map((part) => ({
    part,
    title: 'Processor time added to each request, in microseconds',
    pattern: /^[^:]*?(allowed|rejected).*µs\/request, added/,
    better: 'Shorter is better.',
  })),
  { part: 'redis', title: 'Checks per second', pattern: /^checks\/s: (.+)$/, better: 'Longer is better.' },
  {
    part: 'redis',
    title: 'Processor time of the server for each check, in microseconds',
    pattern: /^server CPU µs\/check: (.+)$/,
    better: 'Shorter is better.',
  },
];

/** The bare framework, whose figure is a total and not an addition. */
const LEFT_OUT = ['none'];

/** A part of the benchmark as Markdown: its date and machine, its charts, and a table of all figures. */
export async function toMarkdown(result) {
  const { machine } = result;
  const when = `Measured on ${machine.date}, on Node ${machine.node.replace('v', '')} and ${machine.cpu} with ${machine.cores} cores.`;
  const charts = await Promise.all(
    METRICS.filter(({ part }) => part === result.part).map((each) => chartsOf(each, result)),
  );
  return [when, ...charts.filter((text) => text !== ''), allFigures(result)].join('\n\n');
}

async function chartsOf({ title, pattern, better }, { headers, rows }) {
  const figures = [];
  for (const { what, cells } of rows) {
    const [, name] = pattern.exec(what) ?? [];
    const bars = barsOf(headers, cells);
    if (name !== undefined && bars.length > 1)
      figures.push(`<figure><figcaption>${name}</figcaption>${await drawBars(bars)}</figure>`);
  }
  return figures.length === 0 ? '' : `### ${title}\n\n${better}\n\n<div class="charts">${figures.join('')}</div>`;
}

function barsOf(headers, cells) {
  return Object.entries(cells)
    .filter(([library, { value }]) => !LEFT_OUT.includes(library) && Number.isFinite(value))
    .map(([library, { value, text }]) => ({
      name: (headers[library] ?? library).replace(/ \d+\.\d+\.\d+/, ''),
      value: Math.max(0, value),
      text,
      isRollgate: library.startsWith('rollgate') || library === 'by hand',
    }));
}

function allFigures({ headers, rows }) {
  const libraries = Object.keys(headers);
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const table = [
    line(['measured', ...libraries.map((library) => headers[library])]),
    line([':--', ...libraries.map(() => '--:')]),
    ...rows.map(({ what, cells }) => line([what, ...libraries.map((library) => toText(cells[library]))])),
  ];
  return `### All figures\n\n${table.join('\n')}`;
}

function toText(cell) {
  if (cell === undefined) return '';
  return cell.ratio === undefined ? cell.text : `${cell.text} (${cell.ratio.toFixed(2)}×)`;
}
