import type { Attempt } from '../shared/protocol.js';
import type { Theme } from './theme.js';

/** A mark's size in CSS pixels, and so how far apart marks of one moment are stacked. */
const SIZE = 9;
/** The places of a full stack that are kept for rejections, if there are any. */
const FOR_REJECTED = 4;
/** In CSS pixels. */
const BETWEEN_TEXTS = 34;

/** Where one row of marks is, in the canvas's own pixels, and what it shows. */
export interface Row {
  readonly topPx: number;
  readonly bottomPx: number;
  readonly xOf: (momentMs: number) => number;
  /** When the mark is due; a request that is held has its mark at its turn. */
  readonly momentOf: (attempt: Attempt) => number;
  readonly isAllowed: (attempt: Attempt) => boolean;
}

/** The time that a row shows. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly windowMs: number;
}

/** How many marks a row shows, those that a stack tells as "+3" included. */
export interface Shown {
  allowed: number;
  rejected: number;
}

interface Stack extends Shown {
  /** Of its first mark. */
  readonly momentMs: number;
}

/**
 * Paints marks: full discs for what was allowed, standing; crosses for what was rejected, hanging. Those of about the same
 * moment are stacked. A stack that is full says how many more there are: so a flood costs no more than a full row.
 */
export class MarkPainter {
  readonly #disc: HTMLCanvasElement;
  readonly #cross: HTMLCanvasElement;
  readonly #theme: Theme;
  /** The canvas's own pixels in a CSS pixel, for which the marks were made. */
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
    let toldPx = -Infinity;
    for (const [cell, stack] of stacks) {
      shown.allowed += stack.allowed;
      shown.rejected += stack.rejected;
      // One by itself is where it belongs; stacks side by side must not cover each other.
      const isAlone = stack.allowed + stack.rejected === 1;
      const px = row.xOf(isAlone ? stack.momentMs : (cell + 0.5) * cellMs);
      const hidden = this.#paintStack(context, row, stack, px);
      if (hidden === 0 || Math.abs(px - toldPx) < BETWEEN_TEXTS * this.ratio) continue;
      context.fillText(`+${hidden}`, px, row.topPx);
      toldPx = px;
    }
    return shown;
  }

  /** How long a stack lasts: by the clock, so that marks keep their place while they move, and never across a boundary. */
  #cellMs(row: Row, { fromMs, toMs, windowMs }: Span): number {
    const leastMs = (SIZE * this.ratio * (toMs - fromMs)) / (row.xOf(toMs) - row.xOf(fromMs));
    return windowMs / Math.max(1, Math.floor(windowMs / leastMs));
  }

  /** Returns how many marks had no room. */
  #paintStack(context: CanvasRenderingContext2D, row: Row, { allowed, rejected }: Stack, px: number): number {
    const stepPx = SIZE * this.ratio;
    const places = Math.floor((row.bottomPx - row.topPx) / stepPx);
    const discs = Math.min(allowed, places - Math.min(rejected, FOR_REJECTED));
    const crosses = Math.min(rejected, places - discs);
    const x = Math.round(px - stepPx / 2);
    for (let place = 0; place < discs; place++) {
      context.drawImage(this.#disc, x, Math.round(row.bottomPx - (place + 1) * stepPx));
    }
    for (let place = 0; place < crosses; place++) {
      context.drawImage(this.#cross, x, Math.round(row.bottomPx - (places - place) * stepPx));
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
