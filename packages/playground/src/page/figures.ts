import { type Counts, lastWindow, thisWindow } from './count-window.js';
import { element, say } from './elements.js';
import type { Model } from './model.js';

/** What is read aloud comes no more often. */
const LEAST_MS = 3000;

const targets = {
  count: element('#count'),
  fixedCount: element('#fixed-count'),
  fixedRolling: element('#fixed-rolling'),
  fixedNote: element('#fixed-note'),
  rollingNote: element('#rolling-note'),
  words: element('#words'),
};

/** The figures above the chart, and the same in words, for those who hear the page. */
export class Figures {
  readonly #model: Model;
  #said = '';
  #saidMs = -Infinity;

  constructor(model: Model) {
    this.#model = model;
  }

  show(counts: Counts): void {
    const { rolling, fixed, fixedRolling } = counts;
    const { limit, windowMs } = this.#model.state.settings;
    say(targets.count, String(rolling));
    say(targets.fixedCount, String(fixed));
    say(targets.rollingNote, `${lastWindow(counts, windowMs)}, limit ${limit}`);
    say(targets.fixedNote, counts.isFixedCut ? thisWindow(counts) : `${thisWindow(counts)};`);
    targets.count.classList.toggle('above', rolling > limit);
    say(targets.fixedRolling, counts.isFixedCut ? '' : `${fixedRolling} ${lastWindow(counts, windowMs)}`);
    targets.fixedRolling.classList.toggle('above', fixedRolling > limit);
  }

  /** What the chart shows, in words. */
  words(counts: Counts): string {
    const { rolling, fixedRolling } = counts;
    const { limit, windowMs } = this.#model.state.settings;
    const { allowed, rejected } = this.#model;
    return (
      `${rolling} allowed ${lastWindow(counts, windowMs)}, limit ${limit}. ` +
      `In all ${allowed} allowed, ${rejected} rejected. The fixed window allowed ${fixedRolling} in the same time.`
    );
  }

  /** Says it when requests came since it was said last; not because time goes by. */
  announce(counts: Counts, nowMs: number): void {
    const { allowed, rejected } = this.#model;
    const what = `${allowed} ${rejected}`;
    if (what === this.#said || nowMs - this.#saidMs < LEAST_MS) return;
    this.#said = what;
    this.#saidMs = nowMs;
    say(targets.words, this.words(counts));
  }
}
