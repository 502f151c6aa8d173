import type { ProcessReport, Task } from './hammers.js';
import type { KeyRead, ScriptRun } from './script-record.js';

/** The actions that a limit has admitted for a key: their times in microseconds, by the server's clock. */
export interface Admitted {
  readonly limit: number;
  readonly windowMicros: number;
  readonly times: number[];
}

/** The Redis keys of a task's key, one for each limit, in order. */
export function redisKeysOf({ prefix, limits }: Task, key: Task['keys'][number]): string[] {
  return Object.keys(limits).map((name) => `${prefix}:{${typeof key === 'string' ? key : key[name]}}:${name}`);
}

/** Whether the limit was full at this moment. */
function isFull({ limit, windowMicros, times }: Admitted, atMicros: number): boolean {
  let live = 0;
  for (let index = times.length - 1; index >= 0; index--) {
    const time = times[index]!;
    if (time <= atMicros - windowMicros) break;
    if (time <= atMicros && ++live >= limit) return true;
  }
  return false;
}

/** Replays a server's scripts with a naive model, which keeps every admitted action. */
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

  /** What each limit of each key admitted, by its Redis key. */
  get admitted(): ReadonlyMap<string, Admitted> {
    return this.#admitted;
  }

  /** Returns the expected reads of the script, with the times that it should have recorded. */
  run({ requestedMicros, keyReads }: ScriptRun): KeyRead[] {
    const checks: [KeyRead, ...KeyRead[]][] = [];
    for (let start = 0; start < keyReads.length; start += checks.at(-1)!.length) {
      const task = this.#tasks.find(({ prefix }) => keyReads[start]!.key.startsWith(`${prefix}:`))!;
      checks.push(keyReads.slice(start, start + Object.keys(task.limits).length) as [KeyRead]);
    }
    // A script reads the clock once, and each check is a microsecond after the one before. If it recorded nothing,
    // its time is known only to a few microseconds.
    const [known] = checks.flatMap(([{ recordedMicros }], index) => (recordedMicros ? recordedMicros - index : []));
    return checks.flatMap((keyReads, index) => {
      const nowMicros = (known ?? requestedMicros) + index;
      const keys = keyReads.map(({ key }) => key);
      const isAllowed = this.decide(keys, nowMicros).length === 0;
      return keys.map((key) => (isAllowed ? { key, recordedMicros: nowMicros } : { key }));
    });
  }

  /** Returns which of these keys are full. If none is, records the action in all of them. */
  decide(redisKeys: readonly string[], nowMicros: number): string[] {
    this.decided += 1;
    const full = redisKeys.filter((key) => isFull(this.#admitted.get(key)!, nowMicros));
    if (full.length === 0) for (const key of redisKeys) this.#admitted.get(key)!.times.push(nowMicros);
    return full;
  }

  /** The rejections during which no limit was full at any moment between the check and its result. */
  unjustifiedRejections({ rejections }: ProcessReport): ProcessReport['rejections'] {
    return rejections.filter(([taskIndex, keyIndex, startMs, endMs]) => {
      const task = this.#tasks[taskIndex]!;
      return !redisKeysOf(task, task.keys[keyIndex]!).some((key) => {
        const admitted = this.#admitted.get(key)!;
        const [from, to] = [(startMs - 1) * 1000, (endMs + 1) * 1000]; // The clock counts whole milliseconds.
        const between = admitted.times.filter((time) => time > from && time <= to);
        return [from, ...between].some((moment) => isFull(admitted, moment));
      });
    });
  }
}
