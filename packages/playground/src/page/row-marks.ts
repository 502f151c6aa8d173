import { startMicros } from '@rollgate/core/store';
import type { Attempt } from '../shared/protocol.js';
import type { RowName } from '../shared/settings.js';

/** `beyond` is allowed although the last window then contains more than the limit. */
export type MarkState = 'allowed' | 'beyond' | 'rejected';

/** One request in one row. */
export interface Mark {
  readonly attempt: Attempt;
  /** When an allowed request starts, after its delay, or when it was rejected. In whole microseconds. */
  readonly micros: number;
  /** The same in milliseconds. */
  readonly momentMs: number;
  readonly state: MarkState;
  /** How many requests the row had allowed in the window that ends with this mark, including this one. */
  readonly count: number;
  /** Of an allowed mark: the first request of that window. */
  readonly firstMs: number;
}

/** Returns a mark for each attempt, sorted by moment. */
export function toMarks(name: RowName, attempts: readonly Attempt[]): Mark[] {
  const starts = attempts.map((attempt) => ({
    attempt,
    micros: startMicros(attempt.atMs, attempt.delays[name] ?? 0),
  }));
  if (name === 'leaky') starts.sort((a, b) => a.micros - b.micros);
  /** When requests started, by when all limits had started over. */
  const eras = new Map<number, { micros: number[]; first: number }>();
  return starts.map(({ attempt, micros }) => {
    let era = eras.get(attempt.countedFromMs);
    if (era === undefined) {
      era = { micros: [], first: 0 };
      eras.set(attempt.countedFromMs, era);
    }
    while (era.micros[era.first]! <= micros - attempt.windowMs * 1000) era.first += 1;
    const isAllowed = attempt.delays[name] !== null;
    if (isAllowed) era.micros.push(micros);
    const count = era.micros.length - era.first;
    const state = isAllowed ? (count > attempt.limit ? 'beyond' : 'allowed') : 'rejected';
    const firstMs = (era.micros[era.first] ?? micros) / 1000;
    return { attempt, micros, momentMs: micros / 1000, state, count, firstMs };
  });
}
