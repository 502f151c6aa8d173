import type { RowName, Settings } from '../shared/settings.js';
import type { Model } from './model.js';
import type { Theme } from './theme.js';

/** The height of a row's title above its marks, in CSS pixels. */
export const TITLE_HEIGHT = 24;
/** The height of a bracket with its text. */
export const BRACKET_HEIGHT = 20;
/** The height of a label such as "+12" above the marks. */
export const LABEL_HEIGHT = 11;
/** The height of the texts below the marks of a row whose counter restarts. */
export const STRIP_HEIGHT = 15;
/** The height of the axis below the rows. */
export const AXIS_HEIGHT = 34;

/** The rows whose counter restarts, which texts below the marks say. */
const RESTARTING: ReadonlySet<RowName> = new Set(['fixed', 'first']);

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
  const hasStrips = each >= 110;
  const stripOf = (name: RowName) => (hasStrips && RESTARTING.has(name) ? STRIP_HEIGHT : 0);
  // Marks have the same room in all rows, so that stacks can be compared.
  const stripsPx = names.reduce((sum, name) => sum + stripOf(name), 0);
  const withoutStripPx = (height - AXIS_HEIGHT - stripsPx) / names.length;
  let topPx = 0;
  return names.map((name) => {
    const row = { name, topPx, bottomPx: topPx + withoutStripPx + stripOf(name) - 3 };
    topPx = row.bottomPx + 3;
    return { ...row, floorPx: row.bottomPx - stripOf(name), marksPx: row.topPx + TITLE_HEIGHT + BRACKET_HEIGHT };
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
