import { ROWS } from '../shared/settings.js';
import { element, setText } from './elements.js';
import { formatSeconds, formatTimesTheLimit } from './format.js';
import type { Model } from './model.js';
import type { RowHistory } from './row-history.js';

/** The least time between two texts for screen readers. */
const MIN_ANNOUNCEMENT_MS = 3000;
const UPDATE_MS = 250;
const COMPARED = ['rolling', 'fixed'] as const;

/** The most requests that both windows allowed within any window, and the same as text for screen readers. */
export class HighestCounts {
  readonly #model: Model;
  readonly #window = element('#any-window');
  readonly #announcement = element('#words');
  /** The highest counts so far, which stay when the requests have left the chart. */
  #highest = { changedMs: 0, rolling: 0, fixed: 0 };
  #shown: { readonly rows: readonly RowHistory[]; readonly atMs: number } = { rows: [], atMs: 0 };
  #announced = '';
  #announcedMs = -Infinity;

  constructor(model: Model) {
    this.#model = model;
  }

  /** Shows the highest counts so far. Between updates only delayed requests change them, so that is enough a few times per second. */
  show(nowMs: number): void {
    const { settings, changedMs } = this.#model.state;
    const rows = COMPARED.map((name) => this.#model.row(name));
    const isCurrent =
      rows.every((row, index) => row === this.#shown.rows[index]) && changedMs === this.#highest.changedMs;
    if (isCurrent && nowMs - this.#shown.atMs < UPDATE_MS) return;
    this.#shown = { rows, atMs: nowMs };
    const { limit, windowMs } = settings;
    if (this.#highest.changedMs !== changedMs) this.#highest = { changedMs, rolling: 0, fixed: 0 };
    setText(this.#window, formatSeconds(windowMs));
    for (const name of COMPARED) {
      const highest = Math.max(this.#highest[name], this.#model.row(name).most(changedMs, nowMs));
      this.#highest[name] = highest;
      const isAbove = highest > limit;
      const target = element(`#most-${name}`);
      setText(target, highest === 0 ? '0' : `${highest} ${isAbove ? '✗' : '✓'}`);
      target.classList.toggle('above', isAbove);
    }
    const { fixed } = this.#highest;
    const times = element('#times');
    times.classList.toggle('above', fixed > limit);
    setText(times, fixed > limit ? `(${formatTimesTheLimit(fixed, limit)})` : `(limit ${limit})`);
  }

  /** Describes the chart. */
  describe(nowMs: number): string {
    const { settings, countedFromMs } = this.#model.state;
    const { limit, windowMs } = settings;
    const nowMicros = Math.round(nowMs * 1000);
    const texts = COMPARED.map((name) => {
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
