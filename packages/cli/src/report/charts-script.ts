/** The script of the page, which draws each chart in the colors of its style and in the available width. */
export const CHARTS_SCRIPT = `
'use strict';
const charts = JSON.parse(document.getElementById('charts').textContent);
const dark = matchMedia('(prefers-color-scheme: dark)');
let drawn = [];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).split('T');
const timeOf = (_, seconds) => (seconds == null ? '--' : clock(seconds).join(' '));
/** Shows the day where it begins. */
const times = (_, seconds) => seconds.map((at, index) => {
  const [day, minute] = clock(at);
  return index === 0 || clock(seconds[index - 1])[0] !== day ? minute + '\\n' + day : minute;
});

function seriesOf(chart) {
  return chart.series.map(({ name }, index) => {
    const stroke = colour('--series-' + (index % 6));
    const line = { label: name, stroke, width: 2, points: { show: chart.axis === 'number' } };
    if (chart.style === 'line') return line;
    return { ...line, fill: stroke, width: 0, paths: uPlot.paths.bars({ size: [0.9, 100] }) };
  });
}

/** Leaves room for half a bar at both ends. */
function timeRange({ xs, style }) {
  const half = style === 'bars' ? (xs.length > 1 ? xs[1] - xs[0] : 1) / 2 : 0;
  return [xs[0] - half, xs.at(-1) + half];
}

function optionsOf(chart, width) {
  const isTime = chart.axis === 'time';
  const axis = { stroke: colour('--ink'), grid: { stroke: colour('--faint'), width: 1 }, ticks: { stroke: colour('--faint') } };
  return {
    width,
    height: 280,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { x: isTime ? { time: true, range: timeRange(chart) } : { time: false, distr: 3 }, y: { range: (_, least, most) => [0, most || 1] } },
    axes: [isTime ? { ...axis, values: times } : axis, { ...axis, size: 70 }],
    series: [isTime ? { label: 'time (UTC)', value: timeOf } : { label: 'limit' }, ...seriesOf(chart)],
  };
}

function draw() {
  for (const chart of drawn) chart.destroy();
  drawn = charts.map((chart, index) => {
    const place = document.getElementById('chart-' + index);
    const options = optionsOf(chart, place.clientWidth);
    const [xAxis, ...series] = options.series;
    const values = chart.series.map((each) => each.values);
    // The first series matters most, so it is drawn last, above the others.
    const data = [chart.xs, ...values.reverse()];
    const plot = new uPlot({ ...options, series: [xAxis, ...series.reverse()] }, data, place);
    const canvas = place.querySelector('canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', chart.label);
    return plot;
  });
}

draw();
dark.addEventListener('change', draw);
addEventListener('resize', draw);
`;
