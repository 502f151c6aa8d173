import { ALGORITHMS, type Settings, WINDOWS_SHOWN } from '../shared/settings.js';
import type { Theme } from './theme.js';
import { type Counts, fixedStart, lastWindow, thisWindow } from './window-counts.js';

/** What painting a frame needs. `bbox` is the plot in pixels of the canvas. */
export interface Scene {
  readonly ctx: CanvasRenderingContext2D;
  readonly bbox: { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
  readonly theme: Theme;
  readonly ratio: number;
  readonly nowMs: number;
  readonly settings: Settings;
}

/** Lines begin below the texts, in CSS pixels. */
const BELOW_TEXT = 26;
/** Charts narrower than this have shorter texts, in CSS pixels. */
const NARROW = 480;

type ToX = (momentMs: number) => number;

/** Paints the last window, which moves with the time. */
export function paintRollingBand({ ctx, bbox, theme, nowMs, settings, ratio }: Scene, xOf: ToX): void {
  const x = xOf(nowMs - settings.windowMs);
  ctx.fillStyle = theme.band;
  ctx.fillRect(x, bbox.top, bbox.left + bbox.width - x, bbox.height / 2 - ratio);
  ctx.fillStyle = theme.allowed;
  ctx.fillRect(x, bbox.top, 2 * ratio, bbox.height / 2 - ratio);
}

/** Paints the current fixed window. */
export function paintFixedBand({ ctx, bbox, theme, nowMs, settings, ratio }: Scene, xOf: ToX): void {
  const top = bbox.top + bbox.height / 2 + ratio;
  const x = xOf(fixedStart(nowMs, settings.windowMs));
  ctx.fillStyle = theme.fixedBand;
  ctx.fillRect(x, top, bbox.left + bbox.width - x, bbox.top + bbox.height - top);
}

/** Paints the ends of the fixed windows. */
export function paintBoundaries({ ctx, bbox, theme, nowMs, settings, ratio }: Scene, xOf: ToX): void {
  const { windowMs } = settings;
  ctx.strokeStyle = theme.quiet;
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([5 * ratio, 4 * ratio]);
  ctx.beginPath();
  for (let endMs = fixedStart(nowMs, windowMs); endMs > nowMs - windowMs * WINDOWS_SHOWN; endMs -= windowMs) {
    ctx.moveTo(xOf(endMs), bbox.top + bbox.height / 2 + BELOW_TEXT * ratio);
    ctx.lineTo(xOf(endMs), bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Writes the name of each row on the left, and how much it allowed on the right. */
export function paintTexts({ ctx, bbox, theme, ratio, settings }: Scene, counts: Counts): void {
  const { limit, windowMs, algorithm } = settings;
  const write = (text: string, x: number, row: number) => {
    ctx.font = `650 ${14 * ratio}px ${theme.font}`;
    ctx.fillText(text, x, bbox.top + (row * bbox.height) / 2 + 7 * ratio);
  };
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  ctx.fillStyle = theme.text;
  const name = ALGORITHMS[algorithm];
  const isNarrow = bbox.width < NARROW * ratio;
  write(isNarrow ? name : `Rollgate: ${name.toLowerCase()}`, bbox.left + 8 * ratio, 0);
  write('Fixed window', bbox.left + 8 * ratio, 1);
  ctx.textAlign = 'right';
  const right = bbox.left + bbox.width - 8 * ratio;
  ctx.fillStyle = counts.rolling > limit ? theme.rejectedText : theme.text;
  // A narrow chart is right below the figures, which show the rest.
  const label = (count: number, when: string) => (isNarrow ? String(count) : `${count} ${when}, limit ${limit}`);
  write(label(counts.rolling, lastWindow(counts, windowMs)), right, 0);
  ctx.fillStyle = theme.text;
  write(label(counts.fixed, thisWindow(counts)), right, 1);
}
