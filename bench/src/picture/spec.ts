import type { TopLevelSpec } from 'vega-lite';
import { type Bar, BIN_SECONDS, type Cell, SHOWN } from './cells.js';
import { ROWS } from './rows.js';
import { COLOURS, CONFIG, FAINT, INK, WRONG } from './style.js';
import { END_SECONDS, LIMIT, TRAFFIC } from './traffic.js';

const PIXELS_PER_BAR = 4; // A fraction would blur the bars.
const LABEL = 'label';

/** Creates the picture's specification for vega-lite: a column for each traffic, and the rows. */
export function toSpec(bars: readonly Bar[], cells: readonly Cell[]): TopLevelSpec {
  const heads = Object.fromEntries(TRAFFIC.map(({ title, note }) => [title, [title, note]]));
  const notes = new Map(ROWS.map(({ name, note }) => [name, note]));
  const labels = cells.map((cell) => ({ ...cell, shown: LABEL, note: notes.get(cell.row) }));
  return {
    title: {
      text: `Seven ways to limit requests to “${LIMIT} a minute”`,
      subtitle: [
        `Requests in each ${BIN_SECONDS} seconds. Those of the leaky bucket count when they start, after their delay.`,
        'Above them the most that started in any rolling minute. Real runs of Rollgate.',
      ],
    },
    data: { values: [...bars, ...labels] },
    facet: {
      row: { field: 'row', sort: ROWS.map(({ name }) => name), title: null, header: { labels: false } },
      column: {
        field: 'traffic',
        sort: TRAFFIC.map(({ title }) => title),
        title: null,
        header: { labelExpr: `${JSON.stringify(heads)}[datum.value]` },
      },
    },
    spec: {
      width: (END_SECONDS / BIN_SECONDS) * PIXELS_PER_BAR,
      height: 60,
      layer: [
        barsOf(SHOWN.slice(0, 1)),
        barsOf(SHOWN.slice(1)),
        mostOfEach(),
        rowHead(0, 'row', INK, 'rowName'),
        rowHead(1, 'note', FAINT, 'rowNote'),
      ],
    },
    bounds: 'flush', // The headers of rows overlap their neighbors.
    resolve: { scale: { y: 'independent' } },
    config: CONFIG,
  } as unknown as TopLevelSpec; // The compiler widens its literals to strings.
}

function barsOf(shown: readonly string[]): object {
  return {
    transform: [{ filter: { field: 'shown', oneOf: shown } }],
    mark: { type: 'bar', binSpacing: 1 },
    encoding: {
      x: {
        field: 'from',
        bin: 'binned',
        title: null,
        scale: { domain: [0, END_SECONDS], nice: false },
        axis: { values: [0, 60, 120, 180], grid: true, labelExpr: "floor(datum.value / 60) + ':00'" },
      },
      x2: { field: 'to' },
      y: { field: 'requests', type: 'quantitative', title: null, axis: { tickCount: 2 } },
      color: { field: 'shown', scale: { domain: SHOWN, range: COLOURS }, title: null },
      order: { field: 'shown', sort: 'ascending' }, // Draws the excess on top.
    },
  };
}

function mostOfEach(): object {
  const isBeyond = `datum.most > ${LIMIT}`;
  const text = `${isBeyond} ? datum.most + ' in a minute: ' + (datum.most - ${LIMIT}) + ' beyond' : datum.most + ' in a minute'`;
  return {
    transform: [{ filter: { field: 'shown', equal: LABEL } }, { calculate: text, as: 'text' }],
    mark: { type: 'text', style: 'most' },
    encoding: {
      x: { value: 1 },
      y: { value: -4 },
      text: { field: 'text' },
      color: { condition: { test: isBeyond, value: WRONG }, value: INK },
    },
  };
}

/** A header above a row, which starts at this column's cell. Vega-lite itself would draw it above each cell, or next to the row. */
function rowHead(column: number, field: string, color: string, style: string): object {
  return {
    transform: [
      { filter: { field: 'shown', equal: LABEL } },
      { filter: { field: 'traffic', equal: TRAFFIC[column]!.title } },
    ],
    mark: { type: 'text', style },
    encoding: { x: { value: 1 }, y: { value: -22 }, text: { field }, color: { value: color } },
  };
}
