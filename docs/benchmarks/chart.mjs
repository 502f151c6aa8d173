import { parse, View } from 'vega';
import { compile } from 'vega-lite';

const BAR_WIDTH = 120;
const BAR_HEIGHT = 18;

/** The theme sets these colors. The text has the color of the page, light or dark. */
const ROLLGATE_COLOR = 'var(--chart-rollgate)';
const OTHER_COLOR = 'var(--chart-other)';

/**
 * Draws horizontal bars as SVG on one line.
 *
 * @param bars `{ name, value, text, isRollgate }` of each bar, from top to bottom.
 */
export async function drawBars(bars) {
  const { spec } = compile({
    data: { values: bars },
    width: BAR_WIDTH,
    height: { step: BAR_HEIGHT },
    background: null,
    config: { view: { stroke: null }, axis: { grid: false, domain: false, ticks: false } },
    encoding: {
      y: { field: 'name', type: 'nominal', sort: null, axis: { title: null, labelLimit: 0, labelFontSize: 11 } },
      x: { field: 'value', type: 'quantitative', axis: null, scale: { domainMin: 0, nice: false, padding: 0 } },
    },
    layer: [
      { mark: { type: 'bar', height: { band: 0.7 } }, encoding: { color: colorOf() } },
      { mark: { type: 'text', align: 'left', dx: 4, fontSize: 11 }, encoding: { text: { field: 'text' } } },
    ],
    padding: { left: 0, right: 0, top: 2, bottom: 2 },
  });
  const view = new View(parse(spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return forTheme(svg);
}

function colorOf() {
  return {
    field: 'isRollgate',
    type: 'nominal',
    legend: null,
    scale: { domain: [true, false], range: [ROLLGATE_COLOR, OTHER_COLOR] },
  };
}

/** The figures are also in a table, so assistive technology skips the drawing. */
function forTheme(svg) {
  return svg
    .replaceAll(/fill="(?:black|#000)"/g, 'fill="currentColor"')
    .replaceAll(/ (?:role|aria-[a-z]+)="[^"]*"/g, '')
    .replaceAll(/\s*\n\s*/g, '')
    .replace('<svg', '<svg aria-hidden="true" focusable="false"');
}
