import type { Mark } from './row-marks.js';

/** More requests than the limit within `fromMs` and `toMs`, which are less than a window apart. */
export interface Excess {
  /** The run of a scenario that sent them. Absent for other requests. */
  readonly run: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** The excesses of each scenario and those of all other requests, without what an earlier scenario had sent. */
export function toExcesses(marks: readonly Mark[]): Excess[] {
  const groups = new Map<string, Mark[]>();
  for (const mark of marks) {
    if (mark.state === 'rejected') continue;
    const { run, countedFromMs } = mark.attempt;
    const name = `${countedFromMs} ${run}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [mark]);
    else group.push(mark);
  }
  return [...groups.values()].flatMap(excessesOf).sort((a, b) => a.toMs - b.toMs);
}

/** Of excesses that follow each other within a window, the one with the highest count represents all. */
function excessesOf(marks: readonly Mark[]): Excess[] {
  const excesses: Excess[] = [];
  let first = 0;
  let lastMicros = -Infinity;
  for (const [index, { micros, momentMs, attempt }] of marks.entries()) {
    const windowMicros = attempt.windowMs * 1000;
    while (marks[first]!.micros <= micros - windowMicros) first += 1;
    const count = index - first + 1;
    if (count <= attempt.limit) continue;
    const excess = { run: attempt.run, fromMs: marks[first]!.momentMs, toMs: momentMs, count };
    if (micros - lastMicros >= windowMicros) excesses.push(excess);
    else if (count >= excesses.at(-1)!.count) excesses[excesses.length - 1] = excess;
    lastMicros = micros;
  }
  return excesses;
}
