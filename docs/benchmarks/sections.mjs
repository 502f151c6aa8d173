import { drawBars } from './chart.mjs';

const HOSTS = ['express', 'fastify', 'hono', 'koa', 'nest'];

/** The charts of each part. A `pattern` draws one chart per row, and `charts` draw one column of many rows. */
const METRICS = [
  { part: 'memory', title: 'Checks per second', pattern: /^memory, checks\/s: (.+)$/, better: 'Longer is better.' },
  { part: 'bytes', title: 'Bytes per key', pattern: /^(bytes per key .+)$/, better: 'Shorter is better.' },
  {
    part: 'scaling',
    title: 'Nanoseconds per allowed check',
    charts: [
      { name: 'number of keys', pattern: /^([\d,]+) keys$/, column: 'allowed' },
      { name: 'limit, when its log is full', pattern: /^limit ([\d,]+), log full$/, column: 'allowed' },
    ],
    better: 'Shorter is better.',
  },
  ...HOSTS.map((part) => ({
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
  { part: 'redis-state', title: 'Bytes per key', pattern: /^(bytes per key .+)$/, better: 'Shorter is better.' },
];

/** Columns without a bar: the bare framework, whose figure is a total, and checks of two limits instead of one. */
const LEFT_OUT = ['none', 'rollgate, two windows'];

/** A part of the benchmark as Markdown: its date and machine, its charts, and in a box to open all figures and the method. */
export async function toMarkdown(result) {
  const { machine, method } = result;
  const when = `Measured on ${machine.date}, on Node ${machine.node.replace('v', '')} and ${machine.cpu} with ${machine.cores} cores.`;
  const metrics = METRICS.filter(({ part }) => part === result.part);
  const charts = await Promise.all(metrics.map((metric) => drawCharts(metric, result)));
  return [when, ...charts, '::: details All figures', allFigures(result), method.join('\n'), ':::'].join('\n\n');
}

async function drawCharts({ title, better, ...metric }, result) {
  const charts = metric.charts ? chartsOfColumns(metric, result) : chartsOfRows(metric, result);
  const figures = await Promise.all(
    charts.map(async ({ name, bars }) => `<figure><figcaption>${name}</figcaption>${await drawBars(bars)}</figure>`),
  );
  return `#### ${title}\n\n${better}\n\n<div class="charts">${figures.join('')}</div>`;
}

/** One chart for each row that compares libraries. */
function chartsOfRows({ pattern }, { headers, rows }) {
  return rows
    .filter(({ what }) => pattern.test(what))
    .map(({ what, cells }) => ({ name: pattern.exec(what)[1], bars: barsOf(headers, cells) }))
    .filter(({ bars }) => bars.length > 1);
}

/** Charts of Rollgate's own figures, with one bar for each row. */
function chartsOfColumns({ charts }, { rows }) {
  return charts.map(({ name, pattern, column }) => ({
    name,
    bars: rows
      .filter(({ what }) => pattern.test(what))
      .map(({ what, cells }) => ({ ...cells[column], name: pattern.exec(what)[1], isRollgate: true })),
  }));
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
  const libraries = Object.keys(headers).filter((library) => rows.some(({ cells }) => cells[library] !== undefined));
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const table = [
    line(['measured', ...libraries.map((library) => headers[library])]),
    line([':--', ...libraries.map(() => '--:')]),
    ...rows.map(({ what, cells }) => line([what, ...libraries.map((library) => toText(cells[library]))])),
  ];
  return table.join('\n');
}

function toText(cell) {
  if (cell === undefined) return '';
  if (typeof cell === 'string') return cell;
  return cell.ratio === undefined ? cell.text : `${cell.text} (${cell.ratio.toFixed(2)}×)`;
}
