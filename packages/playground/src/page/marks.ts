import type { Attempt } from '../shared/protocol.js';
import type { Theme } from './theme.js';

/** A mark's size in CSS pixels, and the distance of marks in a stack. */
const SIZE = 9;
/** How many marks of a full stack are reserved for rejections. */
const RESERVED_FOR_REJECTED = 4;
/** The least distance of two labels in CSS pixels. */
const BETWEEN_TEXTS = 34;

/** The position of a row of marks, in pixels of the canvas, and what it shows. */
export interface Row {
  readonly topPx: number;
  readonly bottomPx: number;
  readonly xOf: (momentMs: number) => number;
  /** The time of the mark. A delayed request has its mark at its slot. */
  readonly momentOf: (attempt: Attempt) => number;
  readonly isAllowed: (attempt: Attempt) => boolean;
}

/** The time that a row shows. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly windowMs: number;
}

/** How many marks a row shows, including those that a stack shows as "+3". */
export interface Shown {
  allowed: number;
  rejected: number;
}

interface Stack extends Shown {
  /** The time of its first mark. */
  readonly momentMs: number;
}

/**
 * Paints marks. Allowed requests are discs that stack from the bottom. Rejected requests are crosses that stack from the
 * top. A full stack shows the number of additional marks, so a flood costs no more than a full row.
 */
export class MarkPainter {
  readonly #disc: HTMLCanvasElement;
  readonly #cross: HTMLCanvasElement;
  readonly #theme: Theme;
  /** The pixels of the canvas per CSS pixel, for which the marks were made. */
  readonly ratio: number;

  constructor(theme: Theme, ratio: number) {
    this.#theme = theme;
    this.ratio = ratio;
    this.#disc = sprite(ratio, (context, middle) => {
      context.fillStyle = theme.allowed;
      context.arc(middle, middle, 4, 0, 2 * Math.PI);
      context.fill();
    });
    this.#cross = sprite(ratio, (context, middle) => {
      context.strokeStyle = theme.rejected;
      context.lineWidth = 2;
      for (const side of [-1, 1]) {
        context.moveTo(middle - 3.2 * side, middle - 3.2);
        context.lineTo(middle + 3.2 * side, middle + 3.2);
      }
      context.stroke();
    });
  }

  /** Paints the marks in `span` of all attempts from index `first` on. */
  paint(context: CanvasRenderingContext2D, row: Row, attempts: readonly Attempt[], first: number, span: Span): Shown {
    const cellMs = this.#cellMs(row, span);
    const stacks = stacksOf(row, attempts, first, span, cellMs);
    const shown = { allowed: 0, rejected: 0 };
    context.font = `${10 * this.ratio}px ${this.#theme.font}`;
    context.fillStyle = this.#theme.quiet;
    context.textAlign = 'center';
    context.textBaseline = 'bottom';
    let labeledPx = -Infinity;
    for (const [cell, stack] of stacks) {
      shown.allowed += stack.allowed;
      shown.rejected += stack.rejected;
      // A single mark is at its exact time. Stacks have a grid, so that they do not cover each other.
      const isAlone = stack.allowed + stack.rejected === 1;
      const px = row.xOf(isAlone ? stack.momentMs : (cell + 0.5) * cellMs);
      const hidden = this.#paintStack(context, row, stack, px);
      if (hidden === 0 || Math.abs(px - labeledPx) < BETWEEN_TEXTS * this.ratio) continue;
      context.fillText(`+${hidden}`, px, row.topPx);
      labeledPx = px;
    }
    return shown;
  }

  /** The time that a stack covers. It divides the window, so that no stack crosses a boundary and marks keep their stack. */
  #cellMs(row: Row, { fromMs, toMs, windowMs }: Span): number {
    const leastMs = (SIZE * this.ratio * (toMs - fromMs)) / (row.xOf(toMs) - row.xOf(fromMs));
    return windowMs / Math.max(1, Math.floor(windowMs / leastMs));
  }

  /** Returns how many marks did not fit. */
  #paintStack(context: CanvasRenderingContext2D, row: Row, { allowed, rejected }: Stack, px: number): number {
    const stepPx = SIZE * this.ratio;
    const capacity = Math.floor((row.bottomPx - row.topPx) / stepPx);
    const discs = Math.min(allowed, capacity - Math.min(rejected, RESERVED_FOR_REJECTED));
    const crosses = Math.min(rejected, capacity - discs);
    const x = Math.round(px - stepPx / 2);
    for (let index = 0; index < discs; index++) {
      context.drawImage(this.#disc, x, Math.round(row.bottomPx - (index + 1) * stepPx));
    }
    for (let index = 0; index < crosses; index++) {
      context.drawImage(this.#cross, x, Math.round(row.bottomPx - (capacity - index) * stepPx));
    }
    return allowed + rejected - discs - crosses;
  }
}

function stacksOf(
  row: Row,
  attempts: readonly Attempt[],
  first: number,
  { fromMs, toMs }: Span,
  cellMs: number,
): ReadonlyMap<number, Stack> {
  const stacks = new Map<number, Stack>();
  for (let index = first; index < attempts.length; index++) {
    const attempt = attempts[index]!;
    const momentMs = row.momentOf(attempt);
    if (momentMs < fromMs || momentMs > toMs) continue;
    const cell = Math.floor(momentMs / cellMs);
    let stack = stacks.get(cell);
    if (stack === undefined) {
      stack = { allowed: 0, rejected: 0, momentMs };
      stacks.set(cell, stack);
    }
    if (row.isAllowed(attempt)) stack.allowed += 1;
    else stack.rejected += 1;
  }
  return stacks;
}

function sprite(ratio: number, draw: (context: CanvasRenderingContext2D, middle: number) => void): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = Math.ceil(SIZE * ratio);
  const context = canvas.getContext('2d')!;
  context.scale(ratio, ratio);
  context.beginPath();
  draw(context, SIZE / 2);
  return canvas;
}
