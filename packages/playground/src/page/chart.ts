import uPlot from 'uplot';
import { WINDOWS_SHOWN } from '../shared/settings.js';
import { paintBoundaries, paintFixedBand, paintRollingBand, paintTexts, type Scene } from './bands.js';
import { MarkPainter, type Row, type Shown } from './marks.js';
import type { Model } from './model.js';
import { followTheme, type Theme } from './theme.js';
import { type Counts, startOf } from './window-counts.js';

const HEIGHT = 400;
/** The space above the marks of a row, for its texts. */
const TITLE = 40;
const BELOW = 5;
/** Half the width of a time at the axis. */
const HALF_LABEL = 18;
const SECONDS = [1, 2, 5, 10, 15, 30, 60].map((length) => length * 1000);

/** The marks of both rows that a frame showed. */
export interface Drawn {
  readonly rolling: Shown;
  readonly fixed: Shown;
}

/** The chart. Time runs from right to left, with the limiter's row above the fixed window's. uPlot draws the axis. */
export class Chart {
  readonly #root: HTMLElement;
  readonly #model: Model;
  readonly #onDrawn: (drawn: Drawn) => void;
  #plot!: uPlot;
  #theme!: Theme;
  #painter!: MarkPainter;
  #nowMs = 0;
  #counts: Counts = { rolling: 0, fixed: 0, fixedRolling: 0, isCut: false, isFixedCut: false };

  /** Calls `onDrawn` after each frame. */
  constructor(root: HTMLElement, model: Model, onDrawn: (drawn: Drawn) => void) {
    this.#root = root;
    this.#model = model;
    this.#onDrawn = onDrawn;
    followTheme((theme) => this.#make(theme));
    new ResizeObserver(() => this.#plot.setSize(this.#size())).observe(root);
  }

  get canvas(): HTMLCanvasElement {
    return this.#plot.ctx.canvas;
  }

  /** Draws the state at this moment. It is visible with the next frame. */
  draw(nowMs: number, counts: Counts): void {
    this.#nowMs = nowMs;
    this.#counts = counts;
    this.#plot.setScale('x', { min: nowMs - this.#model.state.settings.windowMs * WINDOWS_SHOWN, max: nowMs });
  }

  #make(theme: Theme): void {
    this.#theme = theme;
    this.#plot?.destroy();
    this.#plot = new uPlot(
      {
        ...this.#size(),
        legend: { show: false },
        cursor: { show: false },
        padding: [0, 0, 0, 0],
        scales: { x: { time: false, auto: false }, y: { auto: false, range: [0, 1] } },
        axes: [timeAxis(theme), { show: false }],
        series: [{}, { show: false }],
        hooks: { drawClear: [() => this.#paintBelow()], draw: [() => this.#paintAbove()] },
      },
      [
        [0, 1],
        [null, null],
      ],
      this.#root,
    );
    this.#painter = new MarkPainter(theme, uPlot.pxRatio);
    this.canvas.setAttribute('role', 'img');
  }

  #size(): { width: number; height: number } {
    return { width: this.#root.clientWidth, height: HEIGHT };
  }

  #rows(): readonly [Row, Row] {
    const { top, height } = this.#plot.bbox;
    const { left, width } = this.#plot.bbox;
    const { min, max } = this.#plot.scales.x as { min: number; max: number };
    const xOf = (momentMs: number) => left + ((momentMs - min) / (max - min)) * width;
    const ratio = uPlot.pxRatio;
    const middle = top + height / 2;
    return [
      {
        ...{ topPx: top + TITLE * ratio, bottomPx: middle - BELOW * ratio, xOf },
        ...{ momentOf: startOf, isAllowed: ({ allowed }) => allowed },
      },
      {
        ...{ topPx: middle + TITLE * ratio, bottomPx: top + height - BELOW * ratio, xOf },
        ...{ momentOf: ({ atMs }) => atMs, isAllowed: ({ fixedAllowed }) => fixedAllowed },
      },
    ];
  }

  #scene(): Scene {
    const { ctx, bbox } = this.#plot;
    const { settings } = this.#model.state;
    return { ctx, bbox, theme: this.#theme, ratio: uPlot.pxRatio, nowMs: this.#nowMs, settings };
  }

  #paintBelow(): void {
    if (this.#plot === undefined) return; // uPlot paints once before its constructor returns.
    const [rolling, fixed] = this.#rows();
    paintRollingBand(this.#scene(), rolling.xOf);
    paintFixedBand(this.#scene(), fixed.xOf);
  }

  #paintAbove(): void {
    if (this.#plot === undefined) return;
    const scene = this.#scene();
    const { ctx, bbox, nowMs, theme, ratio } = scene;
    // A user may zoom the page or move it to another screen.
    if (this.#painter.ratio !== ratio) this.#painter = new MarkPainter(theme, ratio);
    const { windowMs } = scene.settings;
    const span = { fromMs: nowMs - windowMs * WINDOWS_SHOWN, toMs: nowMs, windowMs };
    // A delayed request is shown at its slot, which is up to a window later.
    const first = this.#model.firstAfter(span.fromMs - windowMs);
    const [rolling, fixed] = this.#rows();
    const paint = (row: Row) => this.#painter.paint(ctx, row, this.#model.attempts, first, span);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    paintBoundaries(scene, fixed.xOf);
    const drawn = { rolling: paint(rolling), fixed: paint(fixed) };
    paintTexts(scene, this.#counts);
    ctx.restore();
    this.#onDrawn(drawn);
  }
}

function timeAxis(theme: Theme): uPlot.Axis {
  return {
    stroke: theme.quiet,
    font: `12px ${theme.font}`,
    size: 32,
    space: 64,
    incrs: SECONDS,
    values: ({ scales, width }, moments) => {
      const { min, max } = scales.x as { min: number; max: number };
      const pxOf = (momentMs: number) => ((momentMs - min) / (max - min)) * width;
      // Omits labels that the edge would cut off.
      return moments.map((momentMs) =>
        pxOf(momentMs) < HALF_LABEL || pxOf(momentMs) > width - HALF_LABEL ? null : toMinutes(momentMs),
      );
    },
    grid: { stroke: theme.grid, width: 1 },
    ticks: { show: false },
  };
}

/** Formats minutes and seconds of the clock, such as `59:07`. */
function toMinutes(momentMs: number): string {
  const all = Math.round(momentMs / 1000);
  return `${Math.floor(all / 60) % 60}:${String(all % 60).padStart(2, '0')}`;
}
