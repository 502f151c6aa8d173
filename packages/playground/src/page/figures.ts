import { element, setText } from './elements.js';
import type { Model } from './model.js';
import { type Counts, lastWindow, thisWindow } from './window-counts.js';

/** The least time between two texts for screen readers. */
const LEAST_MS = 3000;

const targets = {
  count: element('#count'),
  fixedCount: element('#fixed-count'),
  fixedRolling: element('#fixed-rolling'),
  fixedNote: element('#fixed-note'),
  rollingNote: element('#rolling-note'),
  words: element('#words'),
};

/** The figures above the chart, and the same as text for screen readers. */
export class Figures {
  readonly #model: Model;
  #announced = '';
  #announcedMs = -Infinity;

  constructor(model: Model) {
    this.#model = model;
  }

  show(counts: Counts): void {
    const { rolling, fixed, fixedRolling } = counts;
    const { limit, windowMs } = this.#model.state.settings;
    setText(targets.count, String(rolling));
    setText(targets.fixedCount, String(fixed));
    setText(targets.rollingNote, `${lastWindow(counts, windowMs)}, limit ${limit}`);
    setText(targets.fixedNote, counts.isFixedCut ? thisWindow(counts) : `${thisWindow(counts)};`);
    targets.count.classList.toggle('above', rolling > limit);
    setText(targets.fixedRolling, counts.isFixedCut ? '' : `${fixedRolling} ${lastWindow(counts, windowMs)}`);
    targets.fixedRolling.classList.toggle('above', fixedRolling > limit);
  }

  /** Describes the chart. */
  words(counts: Counts): string {
    const { rolling, fixedRolling } = counts;
    const { limit, windowMs } = this.#model.state.settings;
    const { allowed, rejected } = this.#model;
    return (
      `${rolling} allowed ${lastWindow(counts, windowMs)}, limit ${limit}. ` +
      `In all ${allowed} allowed, ${rejected} rejected. The fixed window allowed ${fixedRolling} in the same time.`
    );
  }

  /** Updates the text for screen readers after new requests, but not because time passes. */
  announce(counts: Counts, nowMs: number): void {
    const { allowed, rejected } = this.#model;
    const totals = `${allowed} ${rejected}`;
    if (totals === this.#announced || nowMs - this.#announcedMs < LEAST_MS) return;
    this.#announced = totals;
    this.#announcedMs = nowMs;
    setText(targets.words, this.words(counts));
  }
}
