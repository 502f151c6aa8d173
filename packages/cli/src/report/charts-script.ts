/** The script of the page, which draws each chart in the colors of its style and in the available width. */
export const CHARTS_SCRIPT = `
'use strict';
const charts = JSON.parse(document.getElementById('charts').textContent);
const dark = matchMedia('(prefers-color-scheme: dark)');
let drawn = [];

const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).split('T');
const timeOf = (_, seconds) => (seconds == null ? '--' : clock(seconds).join(' '));
/** Shows the day where it begins. */
const times = (isNarrow) => (_, seconds) => seconds.map((at, index) => {
  const [date, minute] = clock(at);
  const day = isNarrow ? date.slice(5) : date;
  return index === 0 || clock(seconds[index - 1])[0] !== date ? minute + '\\n' + day : minute;
});

function seriesOf(chart, shown) {
  return shown.map((each) => {
    const { name } = each;
    const stroke = cssColor('--series-' + (chart.series.findIndex((other) => other.name === name) % 6));
    const line = { label: name, stroke, width: 2, points: { show: chart.axis === 'number' } };
    if (chart.style === 'line') return line;
    if (chart.style === 'panels') return { ...line, fill: stroke + '40', width: 1.5 };
    return { ...line, fill: stroke, width: 0, paths: uPlot.paths.bars({ size: [0.9, 100] }) };
  });
}

/** Leaves room for half a bar at both ends. */
function timeRange({ xs, style }) {
  const half = style === 'bars' ? (xs.length > 1 ? xs[1] - xs[0] : 1) / 2 : 0;
  return [xs[0] - half, xs.at(-1) + half];
}

/** Draws the mark of a chart as a dashed line with its label. */
function drawMark(chart) {
  return (plot) => {
    if (!chart.mark) return;
    const { ctx, bbox } = plot;
    const x = Math.round(plot.valToPos(chart.mark.x, 'x', true));
    const isRight = x > bbox.left + bbox.width * 0.7;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = cssColor('--ink');
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = 'bold ' + 13 * devicePixelRatio + 'px system-ui, sans-serif';
    ctx.textAlign = isRight ? 'right' : 'left';
    ctx.fillText(chart.mark.label, x + (isRight ? -6 : 6) * devicePixelRatio, bbox.top + 14 * devicePixelRatio);
    ctx.restore();
  };
}

function optionsOf(chart, shown, width) {
  const isTime = chart.axis === 'time';
  const isPanel = chart.style === 'panels';
  const highest = Math.max(1, ...chart.series.flatMap((each) => each.values));
  const axis = { stroke: cssColor('--ink'), grid: { stroke: cssColor('--faint'), width: 1 }, ticks: { stroke: cssColor('--faint') } };
  const isNarrow = width < 480;
  return {
    width,
    height: isPanel ? 150 : isNarrow ? 220 : 280,
    legend: { show: !isPanel },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      x: isTime ? { time: true, range: timeRange(chart) } : { time: false, distr: 3 },
      y: { range: (_, least, most) => [0, isPanel ? highest : most || 1] },
    },
    axes: [isTime ? { ...axis, values: times(isPanel || isNarrow) } : axis, { ...axis, size: isPanel || isNarrow ? 50 : 70 }],
    series: [isTime ? { label: 'time (UTC)', value: timeOf } : { label: 'limit' }, ...seriesOf(chart, shown)],
    hooks: { draw: [drawMark(chart)] },
  };
}

function drawPart(chart, { series, label }, id) {
  const place = document.getElementById(id);
  const options = optionsOf(chart, series, place.clientWidth);
  const [xAxis, ...shown] = options.series;
  const values = series.map((each) => each.values);
  // The first series matters most, so it is drawn last, above the others.
  const plot = new uPlot({ ...options, series: [xAxis, ...shown.reverse()] }, [chart.xs, ...values.reverse()], place);
  const canvas = place.querySelector('canvas');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', label);
  return plot;
}

function draw() {
  for (const chart of drawn) chart.destroy();
  drawn = charts.flatMap((chart, index) =>
    chart.parts.map((part, panel) => drawPart(chart, part, 'chart-' + index + '-' + panel)));
}

draw();
dark.addEventListener('change', draw);
addEventListener('resize', draw);
`;
