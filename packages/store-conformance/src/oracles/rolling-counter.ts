import { bucketBefore, usedWidth } from './bucket-widths.js';
import { MS, sum } from './oracle.js';

/** What a `RollingCounter` takes; durations in milliseconds. */
export interface CounterSettings {
  readonly bucketInterval: number;
  readonly bucketSpan: number;
  readonly subjectExpiry: number;
}

interface Add {
  readonly bucket: number;
  readonly n: number;
}

interface Subject {
  readonly width: number;
  readonly adds: readonly Add[];
  readonly expires: number;
}

const unitsOf = (adds: readonly Add[]) => sum(adds.map(({ n }) => n));

/** A moment before the newest bucket is taken for its start. */
const newestStart = ({ adds, width }: Subject) => Math.max(...adds.map(({ bucket }) => bucket)) * width;
const later = (subject: Subject, now: number) => Math.max(now, newestStart(subject));

/** What a moment `length` microseconds before `at` has not left behind. */
const within = ({ adds, width }: Subject, at: number, length: number) =>
  adds.filter(({ bucket }) => (bucket + 1) * width > at - length);

/**
 * Counts by a list of what was added, but for what the longest interval no longer reaches at an add. Counters with
 * different settings may count for the same subject. Times are whole microseconds, intervals milliseconds.
 */
export class CounterModel {
  readonly #subjects = new Map<string, Subject>();

  add(name: string, n: number, now: number, numbers: CounterSettings): void {
    const own = numbers.bucketInterval * MS;
    const span = numbers.bucketSpan * MS;
    const subject = this.#read(name, now, numbers) ?? { width: own, adds: [], expires: -Infinity };
    const at = later(subject, now);
    const left = within(subject, at, span);
    const width = usedWidth(subject.width, own, span, left.length > 0);
    const newest = Math.floor(at / width);
    const moved = left.map(({ bucket, n }) => ({
      bucket: width === subject.width ? bucket : bucketBefore((bucket + 1) * subject.width, width, newest),
      n,
    }));
    const added = Math.min(n, Number.MAX_SAFE_INTEGER - unitsOf(left));
    const adds = added > 0 ? [...moved, { bucket: newest, n: added }] : moved;
    this.#subjects.set(name, { width, adds, expires: at + numbers.subjectExpiry * MS });
  }

  count(name: string, interval: number, now: number, numbers: CounterSettings): number {
    const subject = this.#read(name, now, numbers);
    return subject === undefined ? 0 : unitsOf(within(subject, later(subject, now), interval * MS));
  }

  /** The subject, unless it has expired, or was written by a clock that was wrong: that is gone for good. */
  #read(name: string, now: number, { subjectExpiry }: CounterSettings): Subject | undefined {
    const subject = this.#subjects.get(name);
    if (subject === undefined || subject.expires <= now) return undefined;
    if (newestStart(subject) - now <= subjectExpiry * MS) return subject;
    this.#subjects.delete(name);
    return undefined;
  }
}
