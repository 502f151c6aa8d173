import type { RowName, Settings } from '../shared/settings.js';
import type { Model } from './model.js';
import type { Theme } from './theme.js';

/** The height of a row's title above its marks, in CSS pixels. */
export const TITLE_HEIGHT = 24;
/** The height of a bracket with its text. */
export const BRACKET_HEIGHT = 20;
/** The height of a label such as "+12" above the marks. */
export const LABEL_HEIGHT = 11;
/** The height of the texts below the marks of a fixed window. */
export const STRIP_HEIGHT = 15;
/** The height of the axis below the rows. */
export const AXIS_HEIGHT = 34;

/** One row of the chart, in CSS pixels. */
export interface RowBox {
  readonly name: RowName;
  readonly topPx: number;
  readonly bottomPx: number;
  /** Marks are below `marksPx` and above `floorPx`. */
  readonly marksPx: number;
  readonly floorPx: number;
}

/** What the chart shows: moments, in milliseconds by the engine's clock. */
export interface View {
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  /** The end of the band: now, or the moment that the user looks at. */
  readonly cursorMs: number;
}

/** What painting a frame needs. All lengths are CSS pixels. */
export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly theme: Theme;
  readonly model: Model;
  readonly settings: Settings;
  readonly view: View;
  readonly width: number;
  readonly height: number;
  readonly rows: readonly RowBox[];
}

export function xOf({ view, width }: Pick<Scene, 'view' | 'width'>, momentMs: number): number {
  return ((momentMs - view.fromMs) / (view.toMs - view.fromMs)) * width;
}

export function momentAt({ view, width }: Pick<Scene, 'view' | 'width'>, x: number): number {
  return view.fromMs + (x / width) * (view.toMs - view.fromMs);
}

/** Where the rows are, below each other. */
export function layOutRows(names: readonly RowName[], height: number): readonly RowBox[] {
  const each = (height - AXIS_HEIGHT) / names.length;
  // A low row has room for marks only.
  const hasStrip = each >= 110;
  return names.map((name, index) => {
    const topPx = index * each;
    const bottomPx = topPx + each - 3;
    const floorPx = bottomPx - (name === 'fixed' && hasStrip ? STRIP_HEIGHT : 0);
    return { name, topPx, bottomPx, floorPx, marksPx: topPx + TITLE_HEIGHT + BRACKET_HEIGHT };
  });
}

/** Paints a vertical line behind the marks of each row. It ends below the row's texts, so that it crosses none of them. */
export function paintLine({ context, rows }: Scene, x: number, width: number, color: string): void {
  context.fillStyle = color;
  for (const { marksPx, floorPx } of rows) {
    const topPx = marksPx + LABEL_HEIGHT;
    context.fillRect(x, topPx, width, floorPx - topPx);
  }
}

/** Writes a text whose middle is at `x`, moved so that it is inside the chart. */
export function writeInside({ context, width }: Scene, text: string, x: number, y: number): void {
  const half = context.measureText(text).width / 2 + 2;
  context.textAlign = 'center';
  context.fillText(text, Math.min(Math.max(x, half), width - half), y);
}
