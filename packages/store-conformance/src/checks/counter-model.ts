import { bucketBefore, usedWidth } from '../algorithms/bucket-widths.js';
import { MS, sum } from '../algorithms/oracle.js';

/** The settings of a `RollingCounter`, in milliseconds. */
export interface CounterSettings {
  readonly bucketInterval: number;
  readonly bucketSpan: number;
  readonly subjectExpiry: number;
}

interface Addition {
  readonly bucket: number;
  readonly units: number;
}

interface Subject {
  readonly width: number;
  readonly additions: readonly Addition[];
  readonly expires: number;
}

const unitsOf = (additions: readonly Addition[]) => sum(additions.map(({ units }) => units));

/** A time before the newest bucket counts as its start. */
const newestStart = ({ additions, width }: Subject) => Math.max(...additions.map(({ bucket }) => bucket)) * width;
const clampToNewest = (subject: Subject, now: number) => Math.max(now, newestStart(subject));

/** The additions that are at most `length` microseconds before `at`. */
const within = ({ additions, width }: Subject, at: number, length: number) =>
  additions.filter(({ bucket }) => (bucket + 1) * width > at - length);

/** The newest of these units, because their sum with an addition must stay exact. */
function keepNewest(additions: readonly Addition[], most: number): Addition[] {
  let left = most;
  return additions
    .toReversed()
    .map(({ bucket, units }) => {
      const kept = Math.min(units, left);
      left -= kept;
      return { bucket, units: kept };
    })
    .filter(({ units }) => units > 0)
    .toReversed();
}

/**
 * Counts by a list of all additions. Each addition drops those that no interval reaches any more. Counters with
 * different settings may count for the same subject. Times are whole microseconds, intervals milliseconds.
 */
export class CounterModel {
  readonly #subjects = new Map<string, Subject>();

  add(name: string, units: number, now: number, settings: CounterSettings): void {
    const own = settings.bucketInterval * MS;
    const span = settings.bucketSpan * MS;
    const subject = this.#read(name, now, settings) ?? { width: own, additions: [], expires: -Infinity };
    const at = clampToNewest(subject, now);
    const left = within(subject, at, span);
    const width = usedWidth(subject.width, own, span, left.length > 0);
    const newest = Math.floor(at / width);
    const moved = left.map(({ bucket, units }) => ({
      bucket: width === subject.width ? bucket : bucketBefore((bucket + 1) * subject.width, width, newest),
      units,
    }));
    const additions = [...keepNewest(moved, Number.MAX_SAFE_INTEGER - units), { bucket: newest, units }];
    this.#subjects.set(name, { width, additions, expires: at + settings.subjectExpiry * MS });
  }

  count(name: string, interval: number, now: number, settings: CounterSettings): number {
    const subject = this.#read(name, now, settings);
    return subject === undefined ? 0 : unitsOf(within(subject, clampToNewest(subject, now), interval * MS));
  }

  /** Returns the subject, unless it has expired. Drops a subject that a wrong clock has written. */
  #read(name: string, now: number, { subjectExpiry }: CounterSettings): Subject | undefined {
    const subject = this.#subjects.get(name);
    if (subject === undefined || subject.expires <= now) return undefined;
    if (newestStart(subject) - now <= subjectExpiry * MS) return subject;
    this.#subjects.delete(name);
    return undefined;
  }
}
