export const INK = '#1f2328';
export const WRONG = '#cf222e';
export const FAINT = '#59636e';
const LINE = '#afb8c1';

/** The colors of the bars, in the order of `SHOWN`. */
export const COLOURS = ['#d8dce1', '#2a7fc4', WRONG];

/** Fits the width of a page, so that browsers do not shrink the text. */
export const CONFIG = {
  background: '#ffffff', // Otherwise the page's background would show.
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
  axis: { labelColor: FAINT, labelFontSize: 10, gridColor: '#eaecef', domainColor: LINE, tickColor: LINE, tickSize: 3 },
  axisY: { domain: false, ticks: false },
  legend: { orient: 'top', labelFontSize: 12, labelLimit: 0, labelColor: INK, symbolType: 'square', columnPadding: 20 },
  text: { align: 'left', baseline: 'bottom' },
  style: {
    most: { fontSize: 11, fontWeight: 'bold' },
    rowName: { fontSize: 13, fontWeight: 'bold' },
    rowNote: { fontSize: 12 },
  },
};
