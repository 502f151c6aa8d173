import { formatSeconds, formatSecondsRoundedUp } from './format.js';
import { AXIS_HEIGHT, BRACKET_HEIGHT, paintLine, type RowBox, type Scene, TITLE_HEIGHT, xOf } from './scene.js';

/** Half the height of an arrow's head. */
const HALF_HEAD = 4;

/** A bracket over each excess of a row, such as "20 within 0.8 s". None is of an earlier scenario. */
export function paintExcesses(scene: Scene, row: RowBox): void {
  const { context, theme, view, model, width } = scene;
  const y = row.topPx + TITLE_HEIGHT + BRACKET_HEIGHT - 5;
  context.font = `700 13px ${theme.font}`;
  context.textBaseline = 'bottom';
  const present = Math.min(xOf(scene, view.nowMs), width) - 2; // To the right is the text of the wait.
  let freePx = Infinity;
  // The newest first, because there may be no room for all texts.
  for (const { run, fromMs, toMs, count } of [...model.row(row.name).excesses].reverse()) {
    if (run !== undefined && run !== model.describedRun) continue;
    if (toMs < view.fromMs || fromMs > view.toMs) continue;
    const [left, right] = [xOf(scene, fromMs) - 7, xOf(scene, toMs) + 7];
    context.strokeStyle = theme.beyond;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(left, y + 5);
    context.lineTo(left, y);
    context.lineTo(right, y);
    context.lineTo(right, y + 5);
    context.stroke();
    const text = `${count} within ${formatSeconds(toMs - fromMs)}`;
    const half = context.measureText(text).width / 2 + 4;
    const x = Math.max(Math.min((left + right) / 2, present - half), half);
    if (x + half > freePx) continue;
    freePx = x - half;
    context.textAlign = 'center';
    context.fillStyle = theme['beyond-text'];
    context.fillText(text, x, y - 2);
  }
}

/** The wait until the next request is allowed, as a distance from now. */
export function paintWait(scene: Scene, row: RowBox): void {
  const { context, theme, view, model, width } = scene;
  const next = model.next?.[row.name];
  if (next === undefined || next.allowedAtMs <= view.nowMs) return;
  const left = xOf(scene, view.nowMs);
  const end = xOf(scene, next.allowedAtMs);
  const right = Math.min(end, width - 2);
  const y = row.topPx + TITLE_HEIGHT + BRACKET_HEIGHT - 5;
  context.strokeStyle = theme.text;
  context.fillStyle = theme.text;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(right, y);
  if (end === right) {
    context.moveTo(right, y - HALF_HEAD - 1);
    context.lineTo(right, y + HALF_HEAD + 1);
  }
  context.stroke();
  context.beginPath();
  context.moveTo(right, y);
  context.lineTo(right - 7, y - HALF_HEAD);
  context.lineTo(right - 7, y + HALF_HEAD);
  context.fill();
  context.font = `12px ${theme.font}`;
  context.textAlign = 'left';
  context.textBaseline = 'bottom';
  const wait = formatSecondsRoundedUp(next.allowedAtMs - view.nowMs);
  const long = `next allowed in ${wait}`;
  const room = width - left - 8;
  context.fillText(context.measureText(long).width < room ? long : wait, left + 6, y - 3);
}

/** The line of the present, with its mark at the axis. */
export function paintNow(scene: Scene): void {
  const { context, theme, view, height } = scene;
  const x = Math.round(xOf(scene, view.nowMs)) - 1;
  paintLine(scene, x, 2, theme.text);
  context.fillRect(x, height - AXIS_HEIGHT, 2, 6);
}
