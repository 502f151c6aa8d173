import type { TopLevelSpec } from 'vega-lite';
import type { Results } from '../readme.js';
import type { Figure } from '../table.js';
import { COLOURS, CONFIG, FAINT, INK } from './style.js';

const STORES = { plain: 'RedisStore', leased: 'LeasingStore' } as const;
type StoreName = keyof typeof STORES;

/** A bar: a figure of one store under one load. */
interface Bar {
  readonly load: string;
  readonly store: string;
  readonly value: number;
  readonly text: string;
}

/** Creates the specification of the picture of one hot key: how fast it is, and what it costs. */
export function toHotKeySpec({ rows }: Pick<Results, 'rows'>): TopLevelSpec {
  /** The figures of the rows that this pattern finds. Its group is the load. */
  const barsOf = (pattern: RegExp): Bar[] =>
    rows.flatMap(({ what, cells }) => {
      const load = pattern.exec(what)?.[1];
      if (load === undefined) return [];
      return Object.entries(STORES).map(([name, store]) => {
        const { value, text } = cells[name as StoreName] as Figure;
        return { load, store, value, text };
      });
    });
  return {
    title: {
      text: 'One key, checked by several processes',
      subtitle: ['With a RedisStore, and with a LeasingStore in front of it.'],
    },
    hconcat: [
      panelOf('Decisions a second', 'processes that check without a pause', barsOf(/^decisions\/s, (\d+) process/)),
      panelOf(
        'Redis commands per 1,000 decisions',
        'load, as a part of the limit',
        barsOf(/^scripts .* load of (.+)$/),
      ),
    ],
    spacing: 48,
    resolve: { scale: { xOffset: 'independent' } },
    config: CONFIG,
  } as unknown as TopLevelSpec; // The compiler widens its literals to strings.
}

function panelOf(title: string, loads: string, bars: readonly Bar[]): object {
  const x = {
    field: 'load',
    sort: null,
    title: loads,
    axis: { labelAngle: 0, titleColor: FAINT, titleFontWeight: 'normal' },
  };
  const place = { x, xOffset: { field: 'store', sort: Object.values(STORES) } };
  const height = { field: 'value', type: 'quantitative', title: null, axis: { tickCount: 3, format: '~s' } };
  return {
    title: { text: title, anchor: 'start', fontSize: 13, color: INK, offset: 14 },
    width: 320,
    height: 160,
    data: { values: bars },
    layer: [
      {
        mark: { type: 'bar' },
        encoding: {
          ...place,
          y: height,
          color: { field: 'store', scale: { domain: Object.values(STORES), range: COLOURS.slice(0, 2) }, title: null },
        },
      },
      {
        mark: { type: 'text', align: 'center', dy: -2, fontSize: 10, color: INK },
        encoding: { ...place, y: height, text: { field: 'text' } },
      },
    ],
  };
}
