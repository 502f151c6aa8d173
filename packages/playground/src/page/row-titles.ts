import { ALGORITHMS, fixedStart } from '../shared/settings.js';
import { setText } from './elements.js';
import type { RowBox, Scene } from './scene.js';
import { seconds } from './words.js';

/** The names of the rows and their counts, as text over the chart. */
export class RowTitles {
  readonly #root: HTMLElement;
  #shown = '';

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  show(scene: Scene): void {
    const layout = JSON.stringify([scene.rows, scene.settings.algorithm]);
    if (layout !== this.#shown) {
      this.#shown = layout;
      this.#root.replaceChildren(
        ...scene.rows.map((row) => createTitle(row, row.algorithm === scene.settings.algorithm)),
      );
    }
    for (const [index, row] of scene.rows.entries())
      this.#update(this.#root.children[index] as HTMLElement, scene, row);
  }

  #update(title: HTMLElement, { model, view, settings }: Scene, { algorithm }: RowBox): void {
    const { windowMs, limit } = settings;
    const { countedFromMs } = model.state;
    const { cursorMs } = view;
    const row = model.row(algorithm);
    const allowed = row.allowedBetween(cursorMs - windowMs, cursorMs, countedFromMs);
    const [count, note] = [title.querySelector<HTMLElement>('.count')!, title.querySelector<HTMLElement>('.more')!];
    setText(count, `${allowed} of ${limit}`);
    count.classList.toggle('above', allowed > limit);
    const isCut = model.hasOld && countedFromMs > cursorMs - windowMs;
    const when = isCut
      ? 'since all limits started over'
      : cursorMs === view.nowMs
        ? `in the last ${seconds(windowMs)}`
        : `in the ${seconds(windowMs)} before`;
    const own = row.allowedBetween(fixedStart(cursorMs, windowMs) - 0.001, cursorMs, countedFromMs);
    setText(note, algorithm === 'fixed' ? `${when}, its counter is at ${own}` : when);
  }
}

function createTitle({ algorithm, topPx }: RowBox, isReal: boolean): HTMLElement {
  const title = document.createElement('p');
  title.dataset.row = algorithm;
  title.style.top = `${topPx}px`;
  const name = document.createElement('b');
  name.textContent = ALGORITHMS[algorithm];
  const count = document.createElement('span');
  count.className = 'count';
  const more = document.createElement('span');
  more.className = 'more';
  const parts: (Node | string)[] = [name, ' ', count, ' ', more];
  if (isReal) {
    const real = document.createElement('span');
    real.className = 'real';
    real.textContent = 'real limit';
    parts.push(real);
  }
  title.append(...parts);
  return title;
}
