import { LABEL_HEIGHT, type RowBox, type Scene, writeInside, xOf } from './scene.js';
import { MAX_STACK, type Shape, type Sprites } from './sprites.js';
import { fitCounts, type ShownCounts, type Stack, sumCounts } from './stacks.js';

/** The least distance of two labels in CSS pixels. */
const MIN_LABEL_DISTANCE = 36;
/** How many marks a stack has room for. */
export const capacityOf = ({ floorPx, marksPx }: RowBox, size: number): number =>
  Math.min(MAX_STACK, Math.max(3, Math.floor((floorPx - marksPx - LABEL_HEIGHT) / size)));

/**
 * Paints the stacks of a row. Allowed requests stack from the bottom, and those beyond the limit are above them. Rejected
 * requests stack from the top. A label such as "+12" counts the marks around it for which there is no room. So every
 * request is either a mark or in a label, and a flood costs no more than a full row.
 */
export function paintMarks(
  scene: Scene,
  sprites: Sprites,
  row: RowBox,
  stacks: readonly Stack[],
  cellMs: number,
): ShownCounts {
  const { view } = scene;
  const shown: ShownCounts = { allowed: 0, beyond: 0, rejected: 0, waiting: 0 };
  const cellPx = xOf(scene, view.fromMs + cellMs);
  const perLabel = Math.max(1, Math.ceil(MIN_LABEL_DISTANCE / cellPx));
  const capacity = capacityOf(row, sprites.size);
  const hidden = new Map<number, number>();
  for (let index = firstFrom(stacks, Math.floor(view.fromMs / cellMs)); index < stacks.length; index++) {
    const stack = stacks[index]!;
    if (stack.momentMs > view.toMs) break;
    const isWaiting = stack.firstMs > view.nowMs;
    const visible = paintStack(scene, sprites, row, stack, capacity, isWaiting);
    addStack(shown, stack, isWaiting);
    const hiddenCount = sumCounts(stack) - visible;
    const label = Math.floor(stack.cell / perLabel);
    if (hiddenCount > 0) hidden.set(label, (hidden.get(label) ?? 0) + hiddenCount);
  }
  paintLabels(scene, row, hidden, perLabel * cellMs);
  return shown;
}

/** Requests that a scenario has not sent yet. */
export function paintPlanned(scene: Scene, sprites: Sprites, cellMs: number): void {
  const { model, view, rows } = scene;
  const counts = new Map<number, number>();
  for (const { atMs, count } of model.run?.planned ?? []) {
    if (atMs <= view.nowMs || atMs > view.toMs) continue;
    const cell = Math.floor(atMs / cellMs);
    counts.set(cell, (counts.get(cell) ?? 0) + count);
  }
  for (const row of rows) {
    const capacity = capacityOf(row, sprites.size);
    for (const [cell, count] of counts) {
      const x = xOf(scene, (cell + 0.5) * cellMs) - sprites.size / 2;
      sprites.paint(scene.context, 'planned', Math.min(count, capacity), x, row.floorPx);
    }
  }
}

/** The index of the first stack from this cell on. */
function firstFrom(stacks: readonly Stack[], cell: number): number {
  let low = 0;
  let high = stacks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stacks[middle]!.cell >= cell) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns how many marks there was room for. */
function paintStack(
  scene: Scene,
  sprites: Sprites,
  row: RowBox,
  stack: Stack,
  capacity: number,
  isWaiting: boolean,
): number {
  const { context } = scene;
  const { size } = sprites;
  const visible = fitCounts(stack, capacity);
  const x = xOf(scene, stack.momentMs) - size / 2;
  const paintColumn = (shape: Shape, count: number, below: number) =>
    sprites.paint(context, shape, count, x, row.floorPx - below * size);
  if (stack.isOld) context.globalAlpha = 0.35;
  paintColumn(isWaiting ? 'waiting' : 'allowed', visible.allowed, 0);
  paintColumn('beyond', visible.beyond, visible.allowed);
  paintColumn('rejected', visible.rejected, capacity - visible.rejected);
  context.globalAlpha = 1;
  return sumCounts(visible);
}

function addStack(shown: ShownCounts, { allowed, beyond, rejected }: Stack, isWaiting: boolean): void {
  if (isWaiting) shown.waiting += allowed + beyond;
  else {
    shown.allowed += allowed;
    shown.beyond += beyond;
  }
  shown.rejected += rejected;
}

function paintLabels(scene: Scene, row: RowBox, hidden: ReadonlyMap<number, number>, labelMs: number): void {
  const { context, theme } = scene;
  context.font = `600 10px ${theme.font}`;
  context.fillStyle = theme.text;
  context.textBaseline = 'top';
  for (const [label, count] of hidden) {
    writeInside(scene, `+${count}`, xOf(scene, (label + 0.5) * labelMs), row.marksPx);
  }
}
