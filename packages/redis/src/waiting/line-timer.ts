import type { Room } from './room.js';

/** The one timer that all tickets of a line share. */
export class LineTimer {
  #stop: (() => void) | undefined;
  #atMs = Infinity;
  #dueMs = Infinity;

  constructor(
    private readonly room: Pick<Room, 'nowMs' | 'after'>,
    private readonly onTime: () => void,
  ) {}

  /** When it calls back at the earliest. Busy processes get there later. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /** Calls back at this time, and no longer at an earlier or a later one. */
  set(atMs: number): void {
    if (atMs === this.#atMs) return;
    this.#atMs = atMs;
    this.#stop?.();
    this.#stop = undefined;
    if (atMs === Infinity) return;
    const nowMs = this.room.nowMs();
    this.#dueMs = Math.max(atMs, nowMs);
    this.#stop = this.room.after(this.#dueMs - nowMs, this.onTime);
  }

  /** The time has come, so that the same time can be set again. */
  expire(): void {
    this.#atMs = Infinity;
  }
}
