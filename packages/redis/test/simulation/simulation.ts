import { verifyAdmissions } from './admission-bounds.js';
import type { StoreCall } from './call-records.js';
import { Caller } from './caller.js';
import { verifyDenial } from './denial-check.js';
import { OutageLog } from './outage-log.js';
import { type Outcome, outcomeOf } from './outcome.js';
import type { RealRedis } from './real-redis.js';
import { awaitRecovery } from './recovery.js';
import { Reference } from './reference.js';
import type { CallStep, FaultStep, Schedule } from './schedules.js';
import { SimulatedProcess } from './simulated-process.js';
import { SimulatedServer } from './simulated-server.js';
import { isCall, performCall, performFault } from './steps.js';
import { VirtualTime } from './virtual-time.js';

const SECOND = 1_000_000;

/** Runs one schedule, from an empty server until everything has recovered. */
export class Simulation {
  readonly #time = new VirtualTime();
  readonly #reference = new Reference();
  readonly #schedule: Schedule;
  readonly #server: SimulatedServer;
  readonly #processes: readonly SimulatedProcess[];
  readonly #callers: readonly Caller[];
  readonly #violations: unknown[] = [];
  readonly #outages: OutageLog;
  #drawCount = 0;
  #haveFaultsEnded = false;

  private constructor(schedule: Schedule, redis: RealRedis) {
    this.#schedule = schedule;
    const time = this.#time;
    const { isSliced } = schedule;
    const server = new SimulatedServer({ time, redis, reference: this.#reference, isSliced });
    this.#server = server;
    const draw = () => (this.#haveFaultsEnded ? 0 : (schedule.draws[this.#drawCount++] ?? 0));
    const onViolation = (error: unknown) => this.#violations.push(error);
    this.#outages = new OutageLog((...given) => this.#verifyRecovery(...given));
    const onSettled = (process: SimulatedProcess, call: StoreCall) => this.#onSettled(process, call);
    const given = { time, server, schedule, draw, onViolation, onSettled };
    this.#processes = schedule.processes.map((spec) => new SimulatedProcess({ ...given, spec }));
    this.#callers = this.#processes.map((process) => new Caller(time, process, onViolation));
  }

  /** Throws if a result is wrong. */
  static async run(schedule: Schedule, redis: RealRedis): Promise<Outcome> {
    await redis.clear();
    const simulation = new Simulation(schedule, redis);
    simulation.#time.install();
    try {
      return await simulation.#run();
    } finally {
      simulation.#outages.stop();
      simulation.#time.uninstall();
    }
  }

  async #run(): Promise<Outcome> {
    let atMicros = SECOND;
    for (const step of this.#schedule.steps) {
      atMicros += step.afterMicros;
      this.#at(atMicros, step);
    }
    await this.#runUntil(atMicros);
    await this.#endFaults();
    await awaitRecovery(this.#callers, this.#time, (micros) => this.#runUntil(micros));
    this.#outages.verifyNoOutage();
    const calls = this.#callers.flatMap(({ calls }) => calls);
    const open = calls.find(({ settledMicros }) => settledMicros === undefined);
    if (open !== undefined) throw new Error(`Never settled: the ${open.kind} of ${open.startedMicros} µs`);
    const { hasOriginalClock, executions, lost } = this.#server;
    if (hasOriginalClock && this.#reference.openResultReason === undefined)
      verifyAdmissions(calls, [...executions, ...lost]);
    return outcomeOf(this.#server, this.#callers, this.#reference.openResultReason !== undefined);
  }

  #at(atMicros: number, step: CallStep | FaultStep): void {
    const index = 'process' in step ? step.process % this.#processes.length : 0;
    const process = this.#processes[index]!;
    const faults = { time: this.#time, server: this.#server, processes: this.#processes, process };
    if (isCall(step)) this.#time.at(atMicros, 'socket', () => performCall(step, this.#callers[index]!), process);
    else this.#time.at(atMicros, 'socket', () => performFault(step, faults));
  }

  /** Ends all faults, even those that begin while the others end. */
  async #endFaults(): Promise<void> {
    this.#haveFaultsEnded = true;
    for (let time = 0; time < 2; time++) {
      this.#server.endFaults();
      for (const { client } of this.#processes) client.endFaults();
      await this.#runUntil(this.#time.micros + 4 * SECOND);
    }
  }

  /** A published outage is over when the store has responded for a second. */
  #verifyRecovery(store: object, isOutagePublished: boolean): void {
    const process = this.#processes.find((one) => one.store === store)!;
    const sinceFailureMicros = this.#time.micros - process.lastFailureMicros;
    if (isOutagePublished && sinceFailureMicros >= SECOND) return;
    this.#violations.push(new Error(`A recovery was published ${sinceFailureMicros} µs after the last failure`));
  }

  #onSettled(process: SimulatedProcess, call: StoreCall): void {
    try {
      const { spec, health, calls } = process;
      if (call.isFromCache) {
        verifyDenial(call, calls.slice(0, -1), spec.denialMaxAgeMs!, this.#reference);
      } else if (call.error === undefined) {
        health.recordResponse((call.settledMicros! - call.startedMicros) / 1000, call.kind);
        if (call.decision !== undefined) this.#reference.verify(call);
      }
    } catch (error) {
      this.#violations.push(error);
    }
  }

  async #runUntil(micros: number): Promise<void> {
    await this.#time.runUntil(micros, () => {
      if (this.#violations.length > 0) throw this.#violations[0];
    });
  }
}
