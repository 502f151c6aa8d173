import { MS, sum } from './oracle.js';

/** What a `RollingCounter` takes; durations in milliseconds. */
export interface CounterNumbers {
  readonly bucketInterval: number;
  readonly bucketSpan: number;
  readonly subjectExpiry: number;
}

interface Subject {
  readonly adds: readonly { readonly bucket: number; readonly n: number }[];
  readonly lastAdd: number;
}

/** Counts by a list of what was added, but for what the longest interval no longer reaches at an add. Times are whole microseconds, intervals milliseconds. */
export class CounterModel {
  readonly #width: number;
  readonly #span: number;
  readonly #expiry: number;
  readonly #subjects = new Map<string, Subject>();

  constructor({ bucketInterval, bucketSpan, subjectExpiry }: CounterNumbers) {
    this.#width = bucketInterval * MS;
    this.#span = bucketSpan * MS;
    this.#expiry = subjectExpiry * MS;
  }

  add(name: string, n: number, now: number): void {
    const subject = this.#read(name, now) ?? { adds: [], lastAdd: now };
    const at = this.#later(subject, now);
    const kept = subject.adds.filter(({ bucket }) => (bucket + 1) * this.#width > at - this.#span);
    const adds = [...kept, { bucket: Math.floor(at / this.#width), n }];
    this.#subjects.set(name, { adds, lastAdd: at });
  }

  count(name: string, interval: number, now: number): number {
    const subject = this.#read(name, now);
    if (subject === undefined) return 0;
    const since = this.#later(subject, now) - interval * MS;
    return sum(subject.adds.filter(({ bucket }) => (bucket + 1) * this.#width > since).map(({ n }) => n));
  }

  /** The subject, unless it has expired, or was written by a clock that was wrong: that is gone for good. */
  #read(name: string, now: number): Subject | undefined {
    const subject = this.#subjects.get(name);
    if (subject === undefined || subject.lastAdd + this.#expiry <= now) return undefined;
    if (this.#newestStart(subject) - now <= this.#expiry) return subject;
    this.#subjects.delete(name);
    return undefined;
  }

  #newestStart({ adds }: Subject): number {
    return Math.max(...adds.map(({ bucket }) => bucket)) * this.#width;
  }

  /** A moment before the newest bucket is taken for its start. */
  #later(subject: Subject, now: number): number {
    return Math.max(now, this.#newestStart(subject));
  }
}
