import type { Chart } from './chart.js';
import { element } from './elements.js';
import { explain } from './explain.js';
import { capacityOf } from './marks.js';
import type { Model } from './model.js';
import type { Mark } from './row-marks.js';
import { LABEL_HEIGHT, momentAt, type RowBox, type Scene, xOf } from './scene.js';
import { fitCounts, marksOfStack } from './stacks.js';
import type { Viewport } from './viewport.js';

/** How far a finger may move while it still presses, in CSS pixels. */
const TAP_TOLERANCE_PX = 8;
/** A finger that rests this long begins to send. Before, it may begin to scrub. */
const HOLD_DELAY_MS = 250;

/** A finger on the chart, and the gesture that it has turned into. */
interface Touch {
  readonly x: number;
  readonly timer: ReturnType<typeof setTimeout>;
  action: 'nothing' | 'scrub' | 'hold';
}

/** What the pointer does on the chart: it sends requests, looks back, and shows why a request was allowed or rejected. */
export class Pointer {
  readonly #chart: Chart;
  readonly #model: Model;
  readonly #viewport: Viewport;
  readonly #send: { start(): void; end(): void };
  readonly #tip = element('#tip');
  readonly #slider = element<HTMLInputElement>('#look-back');
  #touch: Touch | undefined;
  /** Where a mouse is over the chart, in CSS pixels. */
  #mouse: { x: number; y: number } | undefined;

  /** @param send Starts and ends sending, once and then again and again. */
  constructor(chart: Chart, model: Model, viewport: Viewport, send: { start(): void; end(): void }) {
    this.#chart = chart;
    this.#model = model;
    this.#viewport = viewport;
    this.#send = send;
    const { canvas } = chart;
    canvas.addEventListener('pointerdown', (event) => this.#down(event));
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    for (const type of ['pointerup', 'pointercancel'] as const) canvas.addEventListener(type, () => this.#up());
    canvas.addEventListener('pointerleave', () => this.#leave());
    this.#slider.addEventListener('input', () => this.#slide());
  }

  /** Keeps the explanation next to its mark. */
  show(): void {
    const { scene } = this.#chart;
    if (!this.#viewport.isStill && document.activeElement !== this.#slider) this.#slider.value = this.#slider.max;
    const found =
      scene !== undefined && this.#mouse !== undefined
        ? this.#explainAt(scene, this.#mouse.x, this.#mouse.y)
        : undefined;
    this.#tip.hidden = found === undefined;
    if (scene === undefined || found === undefined) return;
    const { text, x, y } = found;
    if (this.#tip.textContent !== text) this.#tip.textContent = text;
    const width = this.#tip.offsetWidth;
    this.#tip.style.left = `${Math.min(Math.max(x - width / 2, 4), scene.width - width - 4)}px`;
    this.#tip.style.top = `${y - this.#tip.offsetHeight - 8}px`;
  }

  #down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#chart.canvas.setPointerCapture(event.pointerId);
    if (event.pointerType !== 'touch') {
      this.#leave();
      this.#send.start();
      return;
    }
    const hold = () => {
      touch.action = 'hold';
      this.#send.start();
    };
    const touch: Touch = { x: event.offsetX, timer: setTimeout(hold, HOLD_DELAY_MS), action: 'nothing' };
    this.#touch = touch;
  }

  #move({ offsetX, offsetY, pointerType, buttons }: PointerEvent): void {
    if (pointerType === 'touch') this.#scrub(offsetX);
    else if (buttons === 0) {
      this.#mouse = { x: offsetX, y: offsetY };
      this.#lookAt(offsetX);
    }
  }

  #scrub(x: number): void {
    const touch = this.#touch;
    if (touch === undefined || touch.action === 'hold') return;
    if (touch.action === 'nothing' && Math.abs(x - touch.x) < TAP_TOLERANCE_PX) return;
    clearTimeout(touch.timer);
    touch.action = 'scrub';
    this.#lookAt(x);
  }

  #lookAt(x: number): void {
    const { scene } = this.#chart;
    if (scene === undefined) return;
    const momentMs = momentAt(scene, x);
    if (momentMs < scene.view.nowMs) this.#viewport.lookAt(momentMs, scene.view.nowMs);
    else this.#viewport.follow();
  }

  #up(): void {
    const touch = this.#touch;
    this.#touch = undefined;
    if (touch !== undefined) {
      clearTimeout(touch.timer);
      if (touch.action === 'scrub') this.#viewport.follow();
      else this.#send.start(); // A tap, or the end of a hold, which has started already.
    }
    this.#send.end();
  }

  #leave(): void {
    this.#mouse = undefined;
    this.#viewport.follow();
  }

  /** The slider does the same for the keyboard. Its value is the distance from now in thousandths of the past. */
  #slide(): void {
    const { scene } = this.#chart;
    if (scene === undefined) return;
    const part = this.#slider.valueAsNumber / Number(this.#slider.min);
    const { fromMs, nowMs } = scene.view;
    if (part === 0) this.#viewport.follow();
    else this.#viewport.lookAt(nowMs - part * (nowMs - fromMs), nowMs, true);
  }

  #explainAt(scene: Scene, x: number, y: number): { text: string; x: number; y: number } | undefined {
    const row = scene.rows.find(({ marksPx, floorPx }) => y >= marksPx + LABEL_HEIGHT && y <= floorPx);
    if (row === undefined) return undefined;
    const cell = Math.floor(momentAt(scene, x) / this.#chart.cellMs);
    // A single mark is at its exact moment, which may be at the edge of its cell.
    for (const near of [cell, cell - 1, cell + 1]) {
      const marks = marksOfStack(this.#model.row(row.name), near, this.#chart.cellMs);
      const found = this.#findMark(scene, row, marks, near, x, y);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #findMark(scene: Scene, row: RowBox, marks: readonly Mark[], cell: number, x: number, y: number) {
    if (marks.length === 0) return undefined;
    const { markSize: size, cellMs } = this.#chart;
    const middle = xOf(scene, marks.length === 1 ? marks[0]!.momentMs : (cell + 0.5) * cellMs);
    if (Math.abs(x - middle) > size / 2) return undefined;
    const capacity = capacityOf(row, size);
    const counts = { allowed: 0, beyond: 0, rejected: 0 };
    for (const { state } of marks) counts[state] += 1;
    const visible = fitCounts(counts, capacity);
    const level = Math.floor((row.floorPx - y) / size);
    const rejected = capacity - 1 - level;
    const mark =
      level < visible.allowed
        ? marks[level]
        : level < visible.allowed + visible.beyond
          ? marks[counts.allowed + level - visible.allowed]
          : rejected < visible.rejected
            ? marks[counts.allowed + counts.beyond + rejected]
            : undefined;
    if (mark === undefined) return undefined;
    const text = explain(this.#model.row(row.name), mark);
    return { text, x: middle, y: row.floorPx - (level + 1) * size };
  }
}
