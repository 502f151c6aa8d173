// The colors of the playground, so that all pictures look alike.
export const INK = '#1c2226';
export const WRONG = '#d1232f';
export const FAINT = '#566068';
const [GROUND, LINE, GRID] = ['#ffffff', '#9aa5ad', '#e4e8eb'];

/** The colors of the bars, in the order of `SHOWN`. */
export const COLOURS = ['#d8dde1', '#0072b2', WRONG];

/** The color that replaces another one on a dark page. */
const DARK: Readonly<Record<string, string>> = {
  [GROUND]: '#1b2024',
  [INK]: '#e8ecef',
  [FAINT]: '#a3aeb6',
  [LINE]: '#5b666e',
  [GRID]: '#343c42',
  [COLOURS[0]!]: '#4a555c',
  [COLOURS[1]!]: '#56b4e9',
  [WRONG]: '#ff6b5e',
};

/** Adds a dark form to a picture, which follows the theme of the page that shows it. */
export function addDarkForm(svg: string): string {
  const rules = Object.entries(DARK).flatMap(([light, dark]) =>
    ['fill', 'stroke'].map((property) => `[${property}="${light}"]{${property}:${dark}}`),
  );
  return svg.replace(/<svg[^>]*>/, `$&<style>@media (prefers-color-scheme:dark){${rules.join('')}}</style>`);
}

/** Fits the width of a page, so that browsers do not shrink the text. */
export const CONFIG = {
  background: GROUND, // Otherwise the page's background would show.
  font: 'system-ui, sans-serif',
  padding: 16,
  aria: false,
  view: { stroke: null },
  facet: { spacing: { row: 56, column: 36 } },
  title: {
    anchor: 'start',
    fontSize: 18,
    color: INK,
    subtitleColor: FAINT,
    subtitleFontSize: 12,
    subtitlePadding: 6,
    offset: 10,
  },
  headerColumn: {
    labelAnchor: 'start',
    labelFontWeight: 'bold',
    labelPadding: 50,
    labelFontSize: 12,
    labelLineHeight: 15,
    labelColor: INK,
  },
  axis: { labelColor: FAINT, labelFontSize: 10, gridColor: GRID, domainColor: LINE, tickColor: LINE, tickSize: 3 },
  axisY: { domain: false, ticks: false },
  legend: { orient: 'top', labelFontSize: 12, labelLimit: 0, labelColor: INK, symbolType: 'square', columnPadding: 20 },
  text: { align: 'left', baseline: 'bottom' },
  style: {
    most: { fontSize: 11, fontWeight: 'bold' },
    rowName: { fontSize: 13, fontWeight: 'bold' },
    rowNote: { fontSize: 12 },
  },
};
