import type { Page } from 'playwright-core';

/** A connected patch of one color in the picture, in CSS pixels. */
export interface PaintedMark {
  readonly x: number;
  readonly row: 'upper' | 'lower';
  readonly width: number;
  /** The part of its box that it fills. */
  readonly fill: number;
}

/** What a person sees of the chart. */
export interface PaintedMarks {
  readonly allowed: readonly PaintedMark[];
  readonly beyond: readonly PaintedMark[];
  readonly rejected: readonly PaintedMark[];
  /** Where the line on the left of the band is, as a part of the picture's width. */
  readonly bandLeft: number;
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** The canvas's pixels in a CSS pixel. */
  readonly ratio: number;
  /** The pixels that have the color, by index. */
  readonly allowed: readonly number[];
  readonly beyond: readonly number[];
  readonly rejected: readonly number[];
}

/** Marks are no larger. */
const LARGEST = 17;
/** What the edges of texts and lines leave over is smaller than a mark, in CSS pixels. */
const SMALLEST = 4;
/** The chart's parts in CSS pixels: the title and the brackets above the marks, the texts in the lower row, and the axis. */
const [ABOVE, BELOW, AXIS] = [44, 20, 34];

/** Finds the marks in the pixels that are on the screen. */
export async function findPaintedMarks(page: Page): Promise<PaintedMarks> {
  const pixels = (await page.locator('#chart canvas').evaluate((canvas) => {
    const style = canvas.ownerDocument.defaultView.getComputedStyle(canvas.ownerDocument.documentElement);
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const find = (name: string) => {
      const hex = style.getPropertyValue(name).trim();
      const color = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
      const found: number[] = [];
      for (let index = 0; index < width * height; index++) {
        if (color.every((value, part) => Math.abs(data[4 * index + part] - value) < 60)) found.push(index);
      }
      return found;
    };
    const ratio = width / canvas.getBoundingClientRect().width;
    return { width, height, ratio, allowed: find('--allowed'), beyond: find('--beyond'), rejected: find('--rejected') };
  })) as Pixels;
  const patches = patchesOf(pixels.allowed, pixels.width);
  const line = patches.find(({ height }) => height > 5 * LARGEST * pixels.ratio);
  return {
    allowed: marksOf(patches, pixels),
    beyond: marksOf(patchesOf(pixels.beyond, pixels.width), pixels),
    rejected: marksOf(patchesOf(pixels.rejected, pixels.width), pixels),
    bandLeft: (line?.left ?? Number.NaN) / pixels.width,
  };
}

interface Patch {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly size: number;
}

function marksOf(patches: readonly Patch[], { height, ratio }: Pixels): PaintedMark[] {
  const largest = LARGEST * ratio;
  const each = (height - AXIS * ratio) / 2;
  return patches
    .filter(({ width, height }) => Math.max(width, height) <= largest && Math.min(width, height) >= SMALLEST * ratio)
    .filter(({ top }) => top % each > ABOVE * ratio && top < 2 * each - BELOW * ratio)
    .map((patch) => ({
      x: (patch.left + patch.width / 2) / ratio,
      width: patch.width / ratio,
      row: patch.top < each ? 'upper' : 'lower',
      fill: patch.size / (patch.width * patch.height),
    }));
}

/** Pixels that touch, also at their corners, are one patch. */
function patchesOf(indexes: readonly number[], width: number): Patch[] {
  const left = new Set(indexes);
  const patches: Patch[] = [];
  for (const start of indexes) {
    if (!left.delete(start)) continue;
    const members = [start];
    for (const index of members) {
      for (const step of [-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1]) {
        if (left.delete(index + step)) members.push(index + step);
      }
    }
    const [xs, ys] = [members.map((index) => index % width), members.map((index) => Math.floor(index / width))];
    const [x, y] = [Math.min(...xs), Math.min(...ys)];
    const box = { width: Math.max(...xs) - x + 1, height: Math.max(...ys) - y + 1 };
    patches.push({ left: x, top: y, ...box, size: members.length });
  }
  return patches;
}
