import type { Entry } from './entry.js';

/** One log during the merge. Its batch has a next entry, except between two rounds. */
interface Source {
  readonly batches: AsyncIterator<Entry[]>;
  batch: Entry[];
  /** The index of the next entry. */
  next: number;
}

/**
 * Merges sorted logs by time. So the order of the files does not matter, nor whether they are consecutive or parallel.
 */
export async function* mergeLogs(logs: readonly AsyncIterable<Entry[]>[]): AsyncGenerator<Entry[]> {
  let sources: Source[] = logs.map((log) => ({ batches: log[Symbol.asyncIterator](), batch: [], next: 0 }));
  try {
    for (;;) {
      const left: Source[] = [];
      for (const source of sources) if (source.next < source.batch.length || (await refill(source))) left.push(source);
      sources = left;
      if (sources.length === 0) return;
      yield sources.length === 1 ? rest(sources[0]!) : mergeUntilOneEnds(sources);
    }
  } finally {
    // If one fails, the others must be closed too.
    for (const { batches } of sources) await batches.return?.();
  }
}

function rest(source: Source): Entry[] {
  const { batch, next } = source;
  source.next = batch.length;
  return next === 0 ? batch : batch.slice(next);
}

function mergeUntilOneEnds(sources: readonly Source[]): Entry[] {
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

/** Loads the next batch that is not empty. Returns false at the end. */
async function refill(source: Source): Promise<boolean> {
  for (;;) {
    const { value, done } = await source.batches.next();
    if (done) return false;
    source.batch = value;
    source.next = 0;
    if (value.length > 0) return true;
  }
}
