import type { Entry } from './entry.js';

/** One log while it is merged: its batch is never used up, but between two rounds. */
interface Source {
  readonly batches: AsyncIterator<Entry[]>;
  batch: Entry[];
  /** The place of the next entry. */
  next: number;
}

/**
 * Sorted logs as one. So it does not matter in which order the parts of a log are named, nor whether they follow on each
 * other or ran side by side.
 */
export async function* merged(logs: readonly AsyncIterable<Entry[]>[]): AsyncGenerator<Entry[]> {
  let sources: Source[] = logs.map((log) => ({ batches: log[Symbol.asyncIterator](), batch: [], next: 0 }));
  try {
    for (;;) {
      const left: Source[] = [];
      for (const source of sources) if (source.next < source.batch.length || (await refill(source))) left.push(source);
      sources = left;
      if (sources.length === 0) return;
      yield sources.length === 1 ? rest(sources[0]!) : untilOneIsUsedUp(sources);
    }
  } finally {
    // When one fails, the others are to be closed as well.
    for (const { batches } of sources) await batches.return?.();
  }
}

function rest(source: Source): Entry[] {
  const { batch, next } = source;
  source.next = batch.length;
  return next === 0 ? batch : batch.slice(next);
}

function untilOneIsUsedUp(sources: readonly Source[]): Entry[] {
  const entries: Entry[] = [];
  for (;;) {
    const first = earliest(sources);
    const untilMicros = sources.reduce(
      (least, source) => (source === first ? least : Math.min(least, timeOf(source))),
      Infinity,
    );
    const { batch } = first;
    while (first.next < batch.length && timeOf(first) <= untilMicros) entries.push(batch[first.next++]!);
    if (first.next === batch.length) return entries;
  }
}

function earliest(sources: readonly Source[]): Source {
  return sources.reduce((first, source) => (timeOf(source) < timeOf(first) ? source : first));
}

function timeOf({ batch, next }: Source): number {
  return batch[next]!.micros;
}

/** Whether there was more. */
async function refill(source: Source): Promise<boolean> {
  for (;;) {
    const { value, done } = await source.batches.next();
    if (done) return false;
    source.batch = value;
    source.next = 0;
    if (value.length > 0) return true;
  }
}
