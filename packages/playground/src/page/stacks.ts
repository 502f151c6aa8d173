import type { RowHistory } from './row-history.js';
import type { Mark } from './row-marks.js';

/** How many marks there are of each state. */
export interface MarkCounts {
  allowed: number;
  beyond: number;
  rejected: number;
}

/** How many requests a row shows. Those in labels such as "+12" count, too. */
export interface ShownCounts extends MarkCounts {
  /** Allowed requests that wait for their start. */
  waiting: number;
}

export const sumCounts = ({ allowed, beyond, rejected }: Readonly<MarkCounts>): number => allowed + beyond + rejected;

/** The marks of one cell, which are above each other. */
export interface Stack extends MarkCounts {
  /** The number of the cell since the epoch. */
  readonly cell: number;
  /** Where the stack is. A single mark is at its exact moment, others are in the middle of their cell. */
  momentMs: number;
  /** The moment of its first mark. */
  readonly firstMs: number;
  /** Whether its requests no longer count, because all limits have started over. */
  readonly isOld: boolean;
}

/** The time that a stack covers. It divides the window, so that no stack crosses a boundary. */
export function cellLength(windowMs: number, leastMs: number): number {
  return windowMs / Math.max(1, Math.floor(windowMs / leastMs));
}

/** Puts all marks of a row into stacks, sorted by time. */
export function toStacks({ marks }: RowHistory, cellMs: number, countedFromMs: number): readonly Stack[] {
  const stacks: Stack[] = [];
  for (const { momentMs, state, attempt } of marks) {
    const cell = Math.floor(momentMs / cellMs);
    const isOld = attempt.countedFromMs < countedFromMs;
    let stack = stacks.at(-1);
    if (stack?.cell !== cell || stack.isOld !== isOld) {
      stack = { cell, momentMs, firstMs: momentMs, isOld, allowed: 0, beyond: 0, rejected: 0 };
      stacks.push(stack);
    } else stack.momentMs = (cell + 0.5) * cellMs;
    stack[state] += 1;
  }
  return stacks;
}

/** How many marks of each state there is room for. Those allowed come first, but each state has some room. */
export function fitCounts({ allowed, beyond, rejected }: Readonly<MarkCounts>, capacity: number): MarkCounts {
  const reserved = Math.floor(capacity / 3);
  const shownBeyond = Math.min(beyond, Math.max(reserved, capacity - allowed - Math.min(rejected, reserved)));
  const shownAllowed = Math.min(allowed, capacity - shownBeyond - Math.min(rejected, reserved));
  return {
    allowed: shownAllowed,
    beyond: shownBeyond,
    rejected: Math.min(rejected, capacity - shownAllowed - shownBeyond),
  };
}

/** The marks of a cell in the order of their stack: what was allowed from the bottom, then the rejections. */
export function marksOfStack({ marks }: RowHistory, cell: number, cellMs: number): readonly Mark[] {
  const order = ['allowed', 'beyond', 'rejected'];
  return marks
    .filter(({ momentMs }) => Math.floor(momentMs / cellMs) === cell)
    .sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
}
