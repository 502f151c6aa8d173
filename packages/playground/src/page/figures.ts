import { ROWS } from '../shared/settings.js';
import { element, setText } from './elements.js';
import type { Model } from './model.js';
import type { RowHistory } from './row-history.js';
import { seconds, timesTheLimit } from './words.js';

/** The least time between two texts for screen readers. */
const LEAST_MS = 3000;
const EVERY_MS = 250;
const COMPARED = ['rolling', 'fixed'] as const;

/** The most requests that both windows allowed within any window, and the same as text for screen readers. */
export class Figures {
  readonly #model: Model;
  readonly #window = element('#any-window');
  readonly #words = element('#words');
  /** The most so far, which stays when the requests have left the chart. */
  #most = { changedMs: 0, rolling: 0, fixed: 0 };
  #shown: { readonly rows: readonly RowHistory[]; readonly atMs: number } = { rows: [], atMs: 0 };
  #announced = '';
  #announcedMs = -Infinity;

  constructor(model: Model) {
    this.#model = model;
  }

  /** Shows the most so far. Between updates only delayed requests change it, so that is enough a few times per second. */
  show(nowMs: number): void {
    const { settings, changedMs } = this.#model.state;
    const rows = COMPARED.map((name) => this.#model.row(name));
    const isCurrent = rows.every((row, index) => row === this.#shown.rows[index]) && changedMs === this.#most.changedMs;
    if (isCurrent && nowMs - this.#shown.atMs < EVERY_MS) return;
    this.#shown = { rows, atMs: nowMs };
    const { limit, windowMs } = settings;
    if (this.#most.changedMs !== changedMs) this.#most = { changedMs, rolling: 0, fixed: 0 };
    setText(this.#window, seconds(windowMs));
    for (const name of COMPARED) {
      const most = Math.max(this.#most[name], this.#model.row(name).most(changedMs, nowMs));
      this.#most[name] = most;
      const isAbove = most > limit;
      const target = element(`#most-${name}`);
      setText(target, most === 0 ? '0' : `${most} ${isAbove ? '✗' : '✓'}`);
      target.classList.toggle('above', isAbove);
    }
    const { fixed } = this.#most;
    const times = element('#times');
    times.classList.toggle('above', fixed > limit);
    setText(times, fixed > limit ? `(${timesTheLimit(fixed, limit)})` : `(limit ${limit})`);
  }

  /** Describes the chart. */
  words(nowMs: number): string {
    const { settings, countedFromMs } = this.#model.state;
    const { limit, windowMs } = settings;
    const nowMicros = Math.round(nowMs * 1000);
    const texts = COMPARED.map((name) => {
      const allowed = this.#model.row(name).startedBetween(nowMicros - windowMs * 1000, nowMicros, countedFromMs);
      return `${ROWS[name]}: ${allowed} allowed in the last ${seconds(windowMs)}.`;
    });
    const { allowed, rejected } = this.#model;
    return `${texts.join(' ')} Limit ${limit}. In all ${allowed} allowed, ${rejected} rejected.`;
  }

  /** Updates the text for screen readers after new requests, but not because time passes. */
  announce(nowMs: number, screenMs: number): void {
    const { allowed, rejected } = this.#model;
    const totals = `${allowed} ${rejected}`;
    if (totals === this.#announced || screenMs - this.#announcedMs < LEAST_MS) return;
    this.#announced = totals;
    this.#announcedMs = screenMs;
    setText(this.#words, this.words(nowMs));
  }
}
