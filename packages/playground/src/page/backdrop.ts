import { clockWindowStart } from '../shared/settings.js';
import { formatSeconds, formatSecondsRoundedUp } from './format.js';
import { AXIS_HEIGHT, LABEL_HEIGHT, paintLine, type RowBox, type Scene, type View, writeInside, xOf } from './scene.js';

const STEPS = [1, 2, 5, 10, 15, 30, 60].map((length) => length * 1000);
/** The least distance of two times at the axis. */
const MIN_STEP_PX = 64;

/** Paints what is behind the marks: the future, the last window, and the times. */
export function paintBackdrop(scene: Scene): void {
  const { context, theme, view, width, height } = scene;
  const nowX = xOf(scene, view.nowMs);
  context.clearRect(0, 0, width, height);
  context.fillStyle = theme.future;
  context.fillRect(nowX, 0, width - nowX, height - AXIS_HEIGHT);
  paintBand(scene);
  paintTimes(scene);
  paintRestarts(scene);
  for (const { topPx } of scene.rows.slice(1)) {
    context.fillStyle = theme.grid;
    context.fillRect(0, topPx - 1, width, 1);
  }
}

/** The last window, one band over all rows. It does not reach back to requests that no longer count. */
function paintBand(scene: Scene): void {
  const { context, theme, view, height, settings, model } = scene;
  const sinceMs = view.cursorMs - settings.windowMs;
  const fromMs = model.hasOld ? Math.max(sinceMs, Math.min(model.state.countedFromMs, view.cursorMs)) : sinceMs;
  const [left, right] = [xOf(scene, fromMs), xOf(scene, view.cursorMs)];
  const bottom = height - AXIS_HEIGHT;
  context.fillStyle = theme.band;
  context.fillRect(left, 0, right - left, bottom);
  paintLine(scene, left, 2, theme.accent);
  context.fillRect(left, bottom, 2, 6);
  context.fillRect(left, bottom + 4, right - left, 2);
  context.fillRect(right - 2, bottom, 2, 6);
}

/** Times relative to now, and the name of the band. */
function paintTimes(scene: Scene): void {
  const { context, theme, view, width, height, settings } = scene;
  const perMs = width / (view.toMs - view.fromMs);
  const step = STEPS.find((length) => length * perMs >= MIN_STEP_PX) ?? STEPS.at(-1)!;
  const y = height - 8;
  context.font = `12px ${theme.font}`;
  context.textBaseline = 'alphabetic';
  for (let at = Math.ceil((view.fromMs - view.nowMs) / step); at * step < view.toMs - view.nowMs; at++) {
    const x = xOf(scene, view.nowMs + at * step);
    paintLine(scene, Math.round(x), 1, theme.grid);
    context.fillStyle = at === 0 ? theme.text : theme.quiet;
    if (x > 20 && x < width - 20) writeInside(scene, toTime(at * step), x, y);
  }
  context.font = `600 12px ${theme.font}`;
  context.fillStyle = theme.text;
  const middleMs = view.cursorMs - settings.windowMs / 2;
  const name =
    view.cursorMs === view.nowMs ? `the last ${formatSeconds(settings.windowMs)}` : formatSeconds(settings.windowMs);
  const half = context.measureText(name).width / 2 + 4;
  const x = xOf(scene, middleMs);
  context.clearRect(x - half, height - AXIS_HEIGHT + 1, 2 * half, 11);
  writeInside(scene, name, x, height - AXIS_HEIGHT + 11);
}

function toTime(ms: number): string {
  if (ms === 0) return 'now';
  return `${ms < 0 ? '−' : '+'}${formatSeconds(Math.abs(ms))}`;
}

/** The moments at which the counters of fixed windows restart, in their rows. */
function paintRestarts(scene: Scene): void {
  const { view, settings, model, rows } = scene;
  for (const row of rows) {
    if (row.name === 'fixed') paintRestartsOf(scene, row, clockRestarts(view, settings.windowMs));
    if (row.name === 'first') paintRestartsOf(scene, row, model.row('first').restarts(settings.windowMs));
  }
}

/** Where the windows of the clock begin. */
function clockRestarts({ fromMs, toMs }: View, windowMs: number): number[] {
  const restarts: number[] = [];
  const firstMs = clockWindowStart(fromMs, windowMs) + windowMs;
  for (let startMs = firstMs; startMs < toMs; startMs += windowMs) restarts.push(startMs);
  return restarts;
}

function paintRestartsOf(scene: Scene, row: RowBox, restarts: readonly number[]): void {
  const { context, theme, view, settings } = scene;
  context.font = `12px ${theme.font}`;
  context.textBaseline = 'bottom';
  context.strokeStyle = theme.text;
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  for (const startMs of restarts) {
    if (startMs < view.fromMs || startMs > view.toMs) continue;
    const x = xOf(scene, startMs);
    context.beginPath();
    context.moveTo(x, row.marksPx + LABEL_HEIGHT);
    context.lineTo(x, row.floorPx + 2);
    context.stroke();
    if (row.floorPx === row.bottomPx) continue;
    const isNext = startMs > view.nowMs && startMs - settings.windowMs <= view.nowMs;
    context.fillStyle = theme.text;
    writeInside(
      scene,
      isNext ? `counter restarts in ${formatSecondsRoundedUp(startMs - view.nowMs)}` : 'counter restarts',
      x,
      row.bottomPx,
    );
  }
  context.setLineDash([]);
}
