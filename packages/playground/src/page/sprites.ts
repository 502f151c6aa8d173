import type { Theme } from './theme.js';

/** Every shape of a mark. `waiting` is allowed and waits for its start, `planned` is not sent yet. */
export type Shape = 'allowed' | 'beyond' | 'rejected' | 'waiting' | 'planned';

/** The most marks of a stack. */
export const MAX_STACK = 60;

type Draw = (context: CanvasRenderingContext2D, theme: Theme) => void;

/** Shapes in a box of 10 by 10. Each has its own form, so that none is recognized by its color only. */
const SHAPES: Readonly<Record<Shape, Draw>> = {
  allowed: (context, theme) => {
    context.fillStyle = theme.allowed;
    context.arc(5, 5, 4.2, 0, 2 * Math.PI);
    context.fill();
  },
  beyond: (context, theme) => {
    context.fillStyle = theme.beyond;
    context.moveTo(5, 0.2);
    context.lineTo(9.9, 9.4);
    context.lineTo(0.1, 9.4);
    context.fill();
  },
  rejected: (context, theme) => {
    context.strokeStyle = theme.rejected;
    context.lineWidth = 1.7;
    for (const side of [-1, 1]) {
      context.moveTo(5 - 3.2 * side, 1.8);
      context.lineTo(5 + 3.2 * side, 8.2);
    }
    context.stroke();
  },
  waiting: (context, theme) => {
    context.strokeStyle = theme.allowed;
    context.lineWidth = 1.6;
    context.arc(5, 5, 3.5, 0, 2 * Math.PI);
    context.stroke();
  },
  planned: (context, theme) => {
    context.strokeStyle = theme.quiet;
    context.lineWidth = 1.2;
    context.setLineDash([2, 1.6]);
    context.arc(5, 5, 3.6, 0, 2 * Math.PI);
    context.stroke();
  },
};

/** Pictures of all marks, drawn once per theme and size, because copying a picture is faster than drawing a shape. */
export class Sprites {
  readonly size: number;
  readonly ratio: number;
  readonly #pictures: Readonly<Record<Shape, HTMLCanvasElement>>;

  /** @param size The size of a mark in CSS pixels. @param ratio The pixels of the screen per CSS pixel. */
  constructor(theme: Theme, size: number, ratio: number) {
    this.size = size;
    this.ratio = ratio;
    this.#pictures = Object.fromEntries(
      Object.entries(SHAPES).map(([name, draw]) => [name, drawStrip(draw, theme, size * ratio)]),
    ) as Record<Shape, HTMLCanvasElement>;
  }

  /** Paints marks above each other, with this left lower corner, in CSS pixels, on whole pixels of the screen. */
  paint(context: CanvasRenderingContext2D, shape: Shape, count: number, x: number, bottom: number): void {
    if (count <= 0) return;
    const { ratio, size } = this;
    const strip = this.#pictures[shape];
    const [left, top] = [Math.round(x * ratio) / ratio, Math.round((bottom - count * size) * ratio) / ratio];
    context.drawImage(strip, 0, 0, strip.width, count * strip.width, left, top, size, count * size);
  }
}

/** A strip of marks above each other, so that a stack is painted at once. */
function drawStrip(draw: Draw, theme: Theme, pixels: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(pixels);
  canvas.height = canvas.width * MAX_STACK;
  const context = canvas.getContext('2d')!;
  for (let index = 0; index < MAX_STACK; index++) {
    const scale = canvas.width / 10;
    context.setTransform(scale, 0, 0, scale, 0, index * canvas.width);
    context.beginPath();
    draw(context, theme);
  }
  return canvas;
}
