import { ROWS, type RowName } from '../shared/settings.js';
import { element, isChartOnly, setText } from './elements.js';
import { formatSeconds, formatTimesTheLimit } from './format.js';
import type { Model } from './model.js';
import type { RowHistory } from './row-history.js';

/** The least time between two texts for screen readers. */
const MIN_ANNOUNCEMENT_MS = 3000;
const UPDATE_MS = 250;

/** The most requests that the rolling and the attacked window allowed within any window, and the same as text for screen readers. */
export class HighestCounts {
  readonly #model: Model;
  readonly #window = element('#any-window');
  readonly #announcement = element('#words');
  /** The highest counts so far, which stay when the requests have left the chart. */
  #highest: { readonly changedMs: number; readonly counts: Map<RowName, number> } = { changedMs: 0, counts: new Map() };
  #shown: { readonly rows: readonly RowHistory[]; readonly atMs: number } = { rows: [], atMs: 0 };
  #announced = '';
  #announcedMs = -Infinity;

  constructor(model: Model) {
    this.#model = model;
  }

  /** Shows the highest counts so far. Between updates only delayed requests change them, so that is enough a few times per second. */
  show(nowMs: number): void {
    const { settings, changedMs } = this.#model.state;
    const { attacked } = this.#model;
    const rows = [this.#model.row('rolling'), this.#model.row(attacked)];
    const isCurrent =
      rows.every((row, index) => row === this.#shown.rows[index]) && changedMs === this.#highest.changedMs;
    if (isCurrent && nowMs - this.#shown.atMs < UPDATE_MS) return;
    this.#shown = { rows, atMs: nowMs };
    if (this.#highest.changedMs !== changedMs) this.#highest = { changedMs, counts: new Map() };
    const window = formatSeconds(settings.windowMs);
    setText(this.#window, isChartOnly() ? `minute (here ${window})` : window); // The other page speaks of a minute.
    this.#showCount(element('#most-rolling'), 'rolling', nowMs);
    const most = this.#showCount(element('#most-fixed'), attacked, nowMs);
    const times = element('#times');
    times.classList.toggle('above', most > settings.limit);
    setText(
      times,
      most > settings.limit ? `(${formatTimesTheLimit(most, settings.limit)})` : `(limit ${settings.limit})`,
    );
  }

  #showCount(target: HTMLElement, name: RowName, nowMs: number): number {
    const { changedMs, counts } = this.#highest;
    const highest = Math.max(counts.get(name) ?? 0, this.#model.row(name).most(changedMs, nowMs));
    counts.set(name, highest);
    const isAbove = highest > this.#model.state.settings.limit;
    setText(target, highest === 0 ? '0' : `${highest} ${isAbove ? '✗' : '✓'}`);
    target.classList.toggle('above', isAbove);
    return highest;
  }

  /** Describes the chart. */
  describe(nowMs: number): string {
    const { settings, countedFromMs } = this.#model.state;
    const { limit, windowMs } = settings;
    const nowMicros = Math.round(nowMs * 1000);
    const texts = ['rolling' as const, this.#model.attacked].map((name) => {
      const allowed = this.#model.row(name).startedBetween(nowMicros - windowMs * 1000, nowMicros, countedFromMs);
      return `${ROWS[name]}: ${allowed} allowed in the last ${formatSeconds(windowMs)}.`;
    });
    const { allowed, rejected } = this.#model;
    return `${texts.join(' ')} Limit ${limit}. In all ${allowed} allowed, ${rejected} rejected.`;
  }

  /** Updates the text for screen readers after new requests, but not because time passes. */
  announce(nowMs: number, screenMs: number): void {
    const { allowed, rejected } = this.#model;
    const totals = `${allowed} ${rejected}`;
    if (totals === this.#announced || screenMs - this.#announcedMs < MIN_ANNOUNCEMENT_MS) return;
    this.#announced = totals;
    this.#announcedMs = screenMs;
    setText(this.#announcement, this.describe(nowMs));
  }
}
