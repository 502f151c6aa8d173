import type { ProcessReport, Task } from './hammers.js';
import type { Look, RanScript } from './script-record.js';

/** What a limit has admitted for a key: the time of each action, in microseconds, by the server's clock. */
export interface Admitted {
  readonly limit: number;
  readonly windowMicros: number;
  readonly times: number[];
}

/** The Redis keys that a task's key has, one for each of its limits, in their order. */
export function redisKeysOf({ prefix, limits }: Task, key: Task['keys'][number]): string[] {
  return Object.keys(limits).map((name) => `${prefix}:{${typeof key === 'string' ? key : key[name]}}:${name}`);
}

/** Whether the limit had no room at this moment. */
function isFull({ limit, windowMicros, times }: Admitted, atMicros: number): boolean {
  let live = 0;
  for (let index = times.length - 1; index >= 0; index--) {
    const time = times[index]!;
    if (time <= atMicros - windowMicros) break;
    if (time <= atMicros && ++live >= limit) return true;
  }
  return false;
}

/** Goes through what a server did, once more and naively: every action that was ever admitted is remembered. */
export class NaiveReplay {
  readonly #tasks: readonly Task[];
  readonly #admitted = new Map<string, Admitted>();
  decided = 0;

  constructor(tasks: readonly Task[]) {
    this.#tasks = tasks;
    for (const task of tasks) {
      for (const key of task.keys) {
        for (const [index, redisKey] of redisKeysOf(task, key).entries()) {
          const { limit, window } = Object.values(task.limits)[index]!;
          this.#admitted.set(redisKey, { limit, windowMicros: window * 1000, times: [] });
        }
      }
    }
  }

  /** All limits of all keys, with what they admitted. */
  get admitted(): ReadonlyMap<string, Admitted> {
    return this.#admitted;
  }

  /** What the script should have done: at what it should have looked, and with which times it should have recorded. */
  run({ askedMicros, looks }: RanScript): Look[] {
    const checks: [Look, ...Look[]][] = [];
    for (let place = 0; place < looks.length; place += checks.at(-1)!.length) {
      const task = this.#tasks.find(({ prefix }) => looks[place]!.key.startsWith(`${prefix}:`))!;
      checks.push(looks.slice(place, place + Object.keys(task.limits).length) as [Look]);
    }
    // A script reads the clock once, and each check is a microsecond after the one before. When nothing was recorded,
    // nobody else knows the time but for a few microseconds.
    const [known] = checks.flatMap(([{ recordedMicros }], index) => (recordedMicros ? recordedMicros - index : []));
    return checks.flatMap((looks, index) => {
      const nowMicros = (known ?? askedMicros) + index;
      const keys = looks.map(({ key }) => key);
      const isAllowed = this.decide(keys, nowMicros).length === 0;
      return keys.map((key) => (isAllowed ? { key, recordedMicros: nowMicros } : { key }));
    });
  }

  /** Which of these keys are full; when none is, the action is remembered for all of them. */
  decide(redisKeys: readonly string[], nowMicros: number): string[] {
    this.decided += 1;
    const full = redisKeys.filter((key) => isFull(this.#admitted.get(key)!, nowMicros));
    if (full.length === 0) for (const key of redisKeys) this.#admitted.get(key)!.times.push(nowMicros);
    return full;
  }

  /** The rejections during which no limit was full at any moment between the check and its result. */
  unfounded({ rejections }: ProcessReport): ProcessReport['rejections'] {
    return rejections.filter(([taskIndex, keyIndex, startMs, endMs]) => {
      const task = this.#tasks[taskIndex]!;
      return !redisKeysOf(task, task.keys[keyIndex]!).some((key) => {
        const admitted = this.#admitted.get(key)!;
        const [from, to] = [(startMs - 1) * 1000, (endMs + 1) * 1000]; // A clock of whole milliseconds.
        const meanwhile = admitted.times.filter((time) => time > from && time <= to);
        return [from, ...meanwhile].some((moment) => isFull(admitted, moment));
      });
    });
  }
}
