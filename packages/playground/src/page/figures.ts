import { ALGORITHMS } from '../shared/settings.js';
import type { Counts } from './counts.js';
import { element, say, seconds } from './elements.js';
import type { Model } from './model.js';

/** What is read aloud comes no more often. */
const LEAST_MS = 3000;

const targets = {
  count: element('#count'),
  fixedCount: element('#fixed-count'),
  fixedRolling: element('#fixed-rolling'),
  rollingNote: element('#rolling-note'),
  words: element('#words'),
};
const limits = [...document.querySelectorAll<HTMLElement>('[data-says="limit"]')];

/** The figures above the chart, and the same in words, for those who hear the page. */
export class Figures {
  readonly #model: Model;
  #said = '';
  #saidMs = -Infinity;

  constructor(model: Model) {
    this.#model = model;
  }

  show({ rolling, fixed, fixedRolling }: Counts): void {
    const { algorithm, limit, windowMs } = this.#model.state.settings;
    say(targets.count, String(rolling));
    say(targets.fixedCount, String(fixed));
    say(targets.rollingNote, `${ALGORITHMS[algorithm].toLowerCase()}, last ${seconds(windowMs)}`);
    for (const target of limits) say(target, String(limit));
    targets.count.classList.toggle('above', rolling > limit);
    say(targets.fixedRolling, `${fixedRolling} in the last ${seconds(windowMs)}`);
    targets.fixedRolling.classList.toggle('above', fixedRolling > limit);
  }

  /** What the chart shows, in words. */
  words({ rolling, fixedRolling }: Counts): string {
    const { settings } = this.#model.state;
    const { letThrough, refused } = this.#model;
    return (
      `Last window: ${rolling} of ${settings.limit}. ${letThrough} let through, ${refused} refused. ` +
      `The fixed window let ${fixedRolling} through in the same time.`
    );
  }

  /** Says it when requests came since it was said last; not because time goes by. */
  announce(counts: Counts, nowMs: number): void {
    const { letThrough, refused } = this.#model;
    const what = `${letThrough} ${refused}`;
    if (what === this.#said || nowMs - this.#saidMs < LEAST_MS) return;
    this.#said = what;
    this.#saidMs = nowMs;
    say(targets.words, this.words(counts));
  }
}
