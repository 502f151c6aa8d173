import { ROW_NAMES, type RowName, type Settings } from '../shared/settings.js';
import { paintExcesses, paintNow, paintWait } from './annotations.js';
import { paintBackdrop } from './backdrop.js';
import { element, isChartOnly } from './elements.js';
import { paintMarks, paintPlanned } from './marks.js';
import type { Model } from './model.js';
import type { RowHistory } from './row-history.js';
import { RowTitles } from './row-titles.js';
import { AXIS_HEIGHT, LABEL_HEIGHT, layOutRows, type RowBox, type Scene, type View } from './scene.js';
import { Sprites } from './sprites.js';
import { cellLength, type ShownCounts, type Stack, toStacks } from './stacks.js';
import { followTheme, type Theme } from './theme.js';
import type { Viewport } from './viewport.js';

/** The sizes of marks in CSS pixels. Few requests get large ones. */
const [SMALLEST_MARK, LARGEST_MARK] = [6, 16];
/** Their size where even the smallest ones would leave no room for the whole limit. */
const CROWDED_MARK = 8;
/** A chart is at least this many marks wide, so that those of an attack stay apart. */
const MARKS_ACROSS = 60;
/** The least height of a row if all are shown. */
const MIN_ROW_HEIGHT = 96;

/** What a frame showed, by row. */
export type Drawn = Readonly<Partial<Record<RowName, ShownCounts>>>;

/** The chart. Time runs from right to left, and each algorithm has a row. */
export class Chart {
  readonly canvas = element<HTMLCanvasElement>('#chart canvas');
  readonly #root = element('#chart');
  readonly #titles = new RowTitles(element('#titles'));
  readonly #model: Model;
  readonly #viewport: Viewport;
  #theme!: Theme;
  #sprites: Sprites | undefined;
  #size = { width: 0, height: 0 };
  #showsAll = false;
  #scene: Scene | undefined;
  #cellMs = 1;
  readonly #stacks = new Map<RowName, { key: string; history: RowHistory; stacks: readonly Stack[] }>();

  constructor(model: Model, viewport: Viewport) {
    this.#model = model;
    this.#viewport = viewport;
    followTheme((theme) => {
      this.#theme = theme;
      this.#sprites = undefined;
    });
    new ResizeObserver(() => this.#measure()).observe(this.#root);
    this.#measure();
  }

  /** The last frame. */
  get scene(): Scene | undefined {
    return this.#scene;
  }

  /** The time that one stack covers in the last frame. */
  get cellMs(): number {
    return this.#cellMs;
  }

  get markSize(): number {
    return this.#sprites?.size ?? 10;
  }

  /** Shows all rows, or the rolling and the fixed window, the real limit, and the one that a scenario attacks. */
  showAll(showsAll: boolean): void {
    this.#showsAll = showsAll;
    this.#root.style.minHeight = showsAll ? `${ROW_NAMES.length * MIN_ROW_HEIGHT + AXIS_HEIGHT}px` : '';
  }

  /** Draws the state at this moment. */
  draw(nowMs: number): Drawn {
    const { settings } = this.#model.state;
    const view = this.#viewport.view(nowMs, settings, this.#size.width);
    const scene = this.#toScene(view, settings);
    const sprites = this.#spritesFor(scene.rows, settings.limit);
    this.#scene = scene;
    const { context } = scene;
    const ratio = sprites.ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#cellMs = cellLength(settings.windowMs, (sprites.size * (view.toMs - view.fromMs)) / this.#size.width);
    paintBackdrop(scene);
    const drawn: Partial<Record<RowName, ShownCounts>> = {};
    for (const row of scene.rows) {
      drawn[row.name] = paintMarks(scene, sprites, row, this.#stacksOf(row.name), this.#cellMs);
      paintExcesses(scene, row);
      paintWait(scene, row);
    }
    paintPlanned(scene, sprites, this.#cellMs);
    paintNow(scene);
    this.#titles.show(scene);
    return drawn;
  }

  #toScene(view: View, settings: Settings): Scene {
    const { width, height } = this.#size;
    const rows = layOutRows(this.#rowNames(settings.algorithm), height);
    const context = this.canvas.getContext('2d')!;
    return { context, theme: this.#theme, model: this.#model, settings, view, width, height, rows };
  }

  #rowNames(real: RowName): readonly RowName[] {
    if (this.#showsAll) return ROW_NAMES;
    const compared = ['rolling', this.#model.attacked, real];
    return ROW_NAMES.filter((name) => compared.includes(name) || (name === 'fixed' && !isChartOnly()));
  }

  #stacksOf(name: RowName): readonly Stack[] {
    const history = this.#model.row(name);
    const { countedFromMs } = this.#model.state;
    const key = `${this.#cellMs} ${countedFromMs}`;
    const last = this.#stacks.get(name);
    if (last?.history === history && last.key === key) return last.stacks;
    const stacks = toStacks(history, this.#cellMs, countedFromMs);
    this.#stacks.set(name, { key, history, stacks });
    return stacks;
  }

  /** A user may zoom the page or move it to another screen. */
  #spritesFor(rows: readonly RowBox[], limit: number): Sprites {
    const size = markSize(rows, limit, this.#size.width);
    if (this.#sprites?.size !== size || this.#sprites.ratio !== devicePixelRatio) {
      if (this.#sprites?.ratio !== devicePixelRatio) this.#measure();
      this.#sprites = new Sprites(this.#theme, size, devicePixelRatio);
    }
    return this.#sprites;
  }

  #measure(): void {
    const { clientWidth, clientHeight } = this.#root;
    this.#size = { width: clientWidth, height: clientHeight };
    this.canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.canvas.height = Math.round(clientHeight * devicePixelRatio);
  }
}

/** As large as each row has room for with a stack of the whole limit, within bounds. */
function markSize(rows: readonly RowBox[], limit: number, width: number): number {
  const room = Math.min(...rows.map(({ marksPx, floorPx }) => floorPx - marksPx - LABEL_HEIGHT));
  const size = Math.floor(Math.min(room / limit, width / MARKS_ACROSS, LARGEST_MARK));
  return size < SMALLEST_MARK ? CROWDED_MARK : size;
}
