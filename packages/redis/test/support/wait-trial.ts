import { setTimeout as sleep } from 'node:timers/promises';
import { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { readPackedHits } from './packed-log.js';
import { ScriptProcess } from './script-process.js';
import { type CallRecord, mostInWindow, tooCloseMs } from './start-records.js';
import type { ScheduledDisturbance, WaitSchedule } from './wait-schedule.js';

const LEASE_MS = 1000;
const PREFIX = 'schedule';
/** How far ahead turns are granted, so that a start may come after the server has forgotten it. */
const HORIZON_MS = 25;
/** How much longer than documented a wait may take on a busy machine. */
const BUSY_MS = 20_000;

/** What a schedule has shown. */
export interface WaitFigures {
  readonly seed: number;
  readonly started: number;
  /** Callers of processes that live which have neither started nor given up as scheduled. */
  readonly lost: readonly CallRecord[];
  /** How many milliseconds starts came closer than the limit allows. */
  readonly tooCloseMs: number;
  /** The most units in a window of the store's log. */
  readonly mostInLog: number;
  readonly longestWaitMs: number;
  /** How long a wait may last by the documentation. */
  readonly boundMs: number;
}

/** Runs a schedule with real processes and a real server, which writes each change to disk. */
export class WaitTrial {
  readonly #processes: readonly ScriptProcess[];
  readonly #records: readonly CallRecord[];
  readonly #killed = new Set<number>();
  readonly #boundMs: number;
  /** From when until when the server has lost its data. */
  readonly #losses: { readonly fromMs: number; readonly toMs: number }[] = [];
  #mostInLog = 0;
  #isDone = false;

  private constructor(
    private readonly schedule: WaitSchedule,
    private readonly server: RedisServer,
    program: string,
  ) {
    this.#records = schedule.calls.map(({ process, cost }, index) => ({ index, process, cost }));
    this.#boundMs = boundOf(schedule);
    const { limit, windowMs: window } = schedule;
    const options = { url: server.url, prefix: PREFIX, limit, window, lease: `${LEASE_MS}ms` };
    const record = (message: unknown) => {
      const { index } = message as Partial<CallRecord>;
      if (index !== undefined) Object.assign(this.#records[index]!, message);
      return index !== undefined;
    };
    this.#processes = Array.from({ length: schedule.processes }, () => new ScriptProcess(program, options, record));
  }

  /** @param program The bundled `waiting-process.mjs`. */
  static async run(schedule: WaitSchedule, program: string): Promise<WaitFigures> {
    const server = await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    const trial = new WaitTrial(schedule, server, program);
    try {
      return await trial.#run();
    } finally {
      trial.#isDone = true;
      for (const process of trial.#processes) process.kill();
      await server.stop();
    }
  }

  async #run(): Promise<WaitFigures> {
    await Promise.all(this.#processes.map((process) => process.request({})));
    const watching = this.#watchLog();
    const firstMs = nowMs() + 50;
    const ended = Promise.all(this.#processes.map((process, number) => this.#letCall(process, number, firstMs)));
    ended.catch(() => {}); // It is awaited later.
    const resumed: Promise<void>[] = [];
    for (const disturbance of this.schedule.disturbances) {
      await sleep(Math.max(0, firstMs + disturbance.afterMs - nowMs()));
      await this.#disturb(disturbance, resumed);
    }
    await Promise.all(resumed);
    await Promise.race([ended, sleep(2 * (this.#boundMs + BUSY_MS), undefined, { ref: false })]);
    this.#isDone = true;
    await watching;
    return this.#summarize();
  }

  /** Resolves when the calls of a process have started or ended, or it was killed. */
  async #letCall(process: ScriptProcess, number: number, firstMs: number): Promise<void> {
    try {
      await process.request({ calls: this.#callsOf(number, firstMs) });
    } catch (error) {
      if (!this.#killed.has(number)) throw error;
    }
  }

  #callsOf(number: number, firstMs: number) {
    return this.schedule.calls.flatMap(({ process, afterMs, ...call }, index) =>
      process === number ? [{ ...call, index, calledMs: firstMs + afterMs, timeoutMs: this.#boundMs + BUSY_MS }] : [],
    );
  }

  async #disturb({ what, lastsMs, process }: ScheduledDisturbance, resumed: Promise<void>[]): Promise<void> {
    const run = (...[command, ...args]: [string, ...string[]]) => this.server.run(command, ...args);
    switch (what) {
      case 'kill the first caller':
        return this.#kill([this.#processOfFirst()]);
      case 'kill half of the processes':
        return this.#kill(Array.from({ length: this.#processes.length >> 1 }, (_, number) => number));
      case 'stop a process':
        this.#processes[process]!.pause();
        resumed.push(sleep(lastsMs).then(() => this.#processes[process]!.resume()));
        return;
      case 'flush the scripts':
        await run('SCRIPT', 'FLUSH');
        return;
      case 'close the connections of the clients':
        await run('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        return;
      case 'close the connections of the subscribers':
        await run('CLIENT', 'KILL', 'TYPE', 'pubsub');
        return;
      case 'restart the server without its data': {
        const fromMs = nowMs();
        await run('FLUSHALL');
        this.#losses.push({ fromMs, toMs: nowMs() });
        return this.server.restart();
      }
      default:
        return this.server.restart();
    }
  }

  /** Kills processes, but never the last one. */
  #kill(numbers: readonly number[]): void {
    for (const number of numbers) {
      if (this.#killed.size === this.#processes.length - 1) return;
      this.#killed.add(number);
      this.#processes[number]!.kill();
    }
  }

  /** The process of the caller that has waited longest. */
  #processOfFirst(): number {
    const waiting = this.#records.filter(
      ({ process, calledMs, startedMs, endedMs }) =>
        calledMs !== undefined && startedMs === undefined && endedMs === undefined && !this.#killed.has(process),
    );
    waiting.sort((one, other) => one.calledMs! - other.calledMs!);
    return waiting[0]?.process ?? 0;
  }

  /** Reads the log again and again, because it forgets. */
  async #watchLog(): Promise<void> {
    const client = new Redis(this.server.url).on('error', () => {}); // The server restarts.
    while (!this.#isDone) {
      const text = await client.getBuffer(`${PREFIX}:{api}:default`).catch(() => null);
      const units = text === null ? 0 : mostInWindow(readPackedHits(text), this.schedule.windowMs * 1000);
      this.#mostInLog = Math.max(this.#mostInLog, units);
      await sleep(10);
    }
    client.disconnect();
  }

  #summarize(): WaitFigures {
    const { seed, calls, limit, windowMs } = this.schedule;
    const live = this.#records.filter(({ process }) => !this.#killed.has(process));
    const lost = live.filter(
      ({ index, startedMs, reason }) =>
        startedMs === undefined &&
        !(reason !== undefined && calls[index]!.abortMs !== undefined && /^(20|23)$/.test(reason)),
    );
    const startedBy = (fromMs: number, toMs: number) =>
      this.#records.filter(({ startedMs = Infinity }) => startedMs >= fromMs && startedMs < toMs);
    const waits = live.flatMap(({ calledMs, startedMs }) => (startedMs === undefined ? [] : [startedMs - calledMs!]));
    // A server cannot count what it has lost.
    const parts = [{ toMs: -Infinity }, ...this.#losses].map(({ toMs }, index) =>
      startedBy(toMs + HORIZON_MS + windowMs, this.#losses[index]?.fromMs ?? Infinity),
    );
    return {
      seed,
      started: startedBy(0, Infinity).length,
      lost,
      tooCloseMs: Math.max(...parts.map((part) => tooCloseMs(part, limit, windowMs))),
      mostInLog: this.#mostInLog,
      longestWaitMs: Math.max(0, ...waits),
      boundMs: this.#boundMs,
    };
  }
}

/** How long a wait lasts at most: the waits of all callers, and a lease and the time of each disturbance. */
function boundOf({ limit, windowMs, calls, disturbances }: WaitSchedule): number {
  const largest = Math.max(...calls.map(({ cost }) => cost));
  const units = calls.reduce((sum, { cost }) => sum + cost, 0);
  // The last units of a window may be too few for the next caller.
  const windows = Math.ceil(units / Math.max(1, limit - largest + 1));
  const disturbedMs = disturbances.reduce((sum, { lastsMs }) => sum + LEASE_MS + lastsMs, 0);
  return windows * windowMs + disturbedMs;
}

const nowMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
