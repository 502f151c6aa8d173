import { setSimulatedTime } from './process-clocks.js';

/** The owner of a task. A paused process runs its tasks when it continues. */
export interface Owner {
  pausedUntilMicros: number;
}

/** The order in which an event loop runs due tasks: timers, then sockets, then immediates. */
const RANKS = { timer: 0, socket: 1, immediate: 2 } as const;
type Kind = keyof typeof RANKS;

interface Task {
  atMicros: number;
  readonly rank: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly run: () => unknown;
}

const realTimers = { setTimeout, setImmediate, clearTimeout };
/** The installed time, if any. */
let installed: VirtualTime | undefined;

type Run = (...args: unknown[]) => void;

// Replaced only once, because Jest keeps every value that a global ever had.
globalThis.setTimeout = ((run: Run, ms?: number, ...args: unknown[]) =>
  installed === undefined
    ? realTimers.setTimeout(run, ms, ...args)
    : new VirtualTimer(installed, () => run(...args), ms)) as typeof setTimeout;
globalThis.clearTimeout = (timer) => {
  if (timer instanceof VirtualTimer) timer.close();
  else realTimers.clearTimeout(timer);
};
globalThis.setImmediate = ((run: Run, ...args: unknown[]) =>
  installed === undefined
    ? realTimers.setImmediate(run, ...args)
    : installed.scheduleImmediate(() => run(...args))) as typeof setImmediate;

/**
 * The time and the event loop of all simulated processes. While it is installed, timers, immediates and the
 * process's clocks are its own, and time passes only between tasks. Real I/O continues, so a task may await it.
 */
export class VirtualTime {
  micros = 0;
  /** Ordered by time, then by rank, then by order. */
  readonly #tasks: Task[] = [];
  #immediates: Task[] = [];
  #owner: Owner | undefined;
  #order = 0;

  install(): void {
    installed = this;
    setSimulatedTime(() => this.micros);
  }

  uninstall(): void {
    installed = undefined;
    setSimulatedTime(undefined);
  }

  /** Runs `run` after all due tasks. */
  scheduleImmediate(run: () => void): void {
    this.#immediates.push(this.#task('immediate', this.micros, run));
  }

  /** Runs `run` at that time, as a timer of the owner or as an event from outside. */
  at(atMicros: number, kind: Kind, run: () => unknown, owner = this.#owner): () => void {
    const task = this.#task(kind, Math.max(atMicros, this.micros), run, owner);
    this.#insert(task);
    return () => {
      const index = this.#tasks.indexOf(task);
      if (index >= 0) this.#tasks.splice(index, 1);
    };
  }

  /** Runs all tasks that are due until then, with `onTurn` after each turn of the event loop. */
  async runUntil(endMicros: number, onTurn: () => void): Promise<void> {
    for (let next = this.#tasks[0]; next !== undefined && next.atMicros <= endMicros; next = this.#tasks[0]) {
      this.micros = Math.max(this.micros, next.atMicros);
      await this.#runTurn();
      onTurn();
    }
    this.micros = Math.max(this.micros, endMicros);
  }

  async #runTurn(): Promise<void> {
    while (this.#tasks.length > 0 && this.#tasks[0]!.atMicros <= this.micros) await this.#run(this.#tasks.shift()!);
    while (this.#immediates.length > 0) {
      const immediates = this.#immediates;
      this.#immediates = [];
      for (const task of immediates) await this.#run(task);
    }
  }

  /** Runs a task and all promises that it settles. */
  async #run(task: Task): Promise<void> {
    const pausedUntilMicros = task.owner?.pausedUntilMicros ?? 0;
    if (pausedUntilMicros > this.micros) {
      task.atMicros = pausedUntilMicros;
      this.#insert(task);
      return;
    }
    this.#owner = task.owner;
    await task.run();
    await new Promise((resolve) => realTimers.setImmediate(resolve));
    this.#owner = undefined;
  }

  #task(kind: Kind, atMicros: number, run: () => unknown, owner = this.#owner): Task {
    this.#order += 1;
    return { atMicros, rank: RANKS[kind], order: this.#order, owner, run };
  }

  #insert(task: Task): void {
    let index = this.#tasks.length;
    while (index > 0 && isBefore(task, this.#tasks[index - 1]!)) index -= 1;
    this.#tasks.splice(index, 0, task);
  }
}

function isBefore(one: Task, other: Task): boolean {
  return one.atMicros - other.atMicros < 0 || (one.atMicros === other.atMicros && isRankedBefore(one, other));
}

function isRankedBefore(one: Task, other: Task): boolean {
  return one.rank - other.rank < 0 || (one.rank === other.rank && one.order < other.order);
}

/** The part of `VirtualTime` that a timer uses. */
interface TaskQueue {
  readonly micros: number;
  at(atMicros: number, kind: 'timer', run: () => void): () => void;
}

/**
 * A timer of virtual time. Like those of Node, it counts whole milliseconds from the last whole one, so it may be early
 * by a fraction of a millisecond.
 */
class VirtualTimer {
  #cancel: () => void;

  constructor(time: TaskQueue, run: () => void, ms = 1) {
    const waitMs = ms >= 1 ? Math.trunc(ms) : 1;
    this.#cancel = time.at((Math.floor(time.micros / 1000) + waitMs) * 1000, 'timer', run);
  }

  close(): void {
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
