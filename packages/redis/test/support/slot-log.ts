import { readFileSync } from 'node:fs';

/** The log of one process. See `slot-process.mjs`. */
export interface SlotLog {
  /** When the process used each of its slots, in microseconds of the system's monotonic clock. */
  readonly uses: readonly SlotUse[];
  /** The number of its slots that were lost, or still in use when it was killed. */
  readonly unreleased: number;
}

/** A slot is in use from `from` until just before `to`. */
interface SlotUse {
  readonly from: number;
  readonly to: number;
}

/** Reads the log of a process. If it was killed, its last slots count as in use for as long as its log shows that it ran. */
export function readSlotLog(file: string): SlotLog {
  const open = new Map<string, number>();
  const uses: SlotUse[] = [];
  let lastMicros = 0;
  for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const [event, text, slot = ''] = line.split(' ');
    const micros = Number(text);
    if (event === 'alive') lastMicros = micros;
    else if (event === 'start') open.set(slot, micros);
    else if (event === 'end') {
      uses.push({ from: open.get(slot)!, to: micros });
      open.delete(slot);
    }
  }
  for (const from of open.values()) uses.push({ from, to: lastMicros });
  return { uses, unreleased: open.size };
}

/** The most slots that were in use at any instant, and for how many microseconds they were more than `limit`. */
export function summarizeUses(uses: readonly SlotUse[], limit: number): { most: number; excessMicros: number } {
  const changes = uses
    .filter(({ from, to }) => to > from)
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ])
    .sort((one, other) => one.at - other.at || one.by - other.by);
  let [inUse, most, excessMicros, sinceMicros] = [0, 0, 0, 0];
  for (const { at, by } of changes) {
    if (inUse > limit) excessMicros += at - sinceMicros;
    inUse += by;
    most = Math.max(most, inUse);
    sinceMicros = at;
  }
  return { most, excessMicros };
}
