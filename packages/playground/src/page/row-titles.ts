import { ROWS } from '../shared/settings.js';
import { isChartOnly, setText } from './elements.js';
import { formatSeconds } from './format.js';
import type { RowBox, Scene } from './scene.js';

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
      this.#root.replaceChildren(...scene.rows.map((row) => createTitle(row, row.name === scene.settings.algorithm)));
    }
    for (const [index, row] of scene.rows.entries())
      this.#update(this.#root.children[index] as HTMLElement, scene, row);
  }

  #update(title: HTMLElement, { model, view, settings }: Scene, { name }: RowBox): void {
    const { windowMs, limit } = settings;
    const { countedFromMs } = model.state;
    const { cursorMs } = view;
    const row = model.row(name);
    const [toMicros, windowMicros] = [Math.round(cursorMs * 1000), windowMs * 1000];
    const allowed = row.startedBetween(toMicros - windowMicros, toMicros, countedFromMs);
    const [count, note] = [title.querySelector<HTMLElement>('.count')!, title.querySelector<HTMLElement>('.more')!];
    setText(count, `${allowed} of ${limit}`);
    count.classList.toggle('above', allowed > limit);
    const isCut = model.hasOld && countedFromMs > cursorMs - windowMs;
    const when = isCut
      ? 'since all limits started over'
      : cursorMs === view.nowMs
        ? `in the last ${formatSeconds(windowMs)}`
        : `in the ${formatSeconds(windowMs)} before`;
    const ownMicros = toMicros % windowMicros; // The counter includes a request at the restart.
    const own = row.startedBetween(toMicros - ownMicros - 1, toMicros, countedFromMs);
    const more = { fixed: `, its counter is at ${own}`, first: ', counted as by express-rate-limit' };
    setText(note, `${when}${name === 'fixed' || name === 'first' ? more[name] : ''}`);
  }
}

function createTitle({ name: row, topPx }: RowBox, isReal: boolean): HTMLElement {
  const title = document.createElement('p');
  title.dataset.row = row;
  title.style.top = `${topPx}px`;
  const name = document.createElement('b');
  name.textContent = ROWS[isChartOnly() && row === 'first' ? 'fixed' : row];
  const count = document.createElement('span');
  count.className = 'count';
  const more = document.createElement('span');
  more.className = 'more';
  const parts: (Node | string)[] = [name, ' ', count, ' ', more];
  if (isReal) {
    const real = document.createElement('span');
    real.className = 'real';
    real.textContent = 'your code';
    parts.push(real);
  }
  title.append(...parts);
  return title;
}
