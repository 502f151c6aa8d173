import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Call, Caller } from './caller.js';
import { verifyDenial } from './denial-check.js';
import { type Outcome, outcomeOf } from './outcome.js';
import type { RealRedis } from './real-redis.js';
import type { StoreCall } from './records.js';
import { Reference } from './reference.js';
import type { CallStep, FaultStep, Names, Schedule } from './schedule.js';
import { type ProcessLimiter, SimulatedProcess } from './simulated-process.js';
import { SimulatedServer } from './simulated-server.js';
import { calmDown, isCall, performCall, performFault } from './steps.js';
import { VirtualTime } from './virtual-time.js';

const SECOND = 1_000_000;
/** A probe is due every eight seconds at least. */
const RECOVERY_ROUNDS = 44;
const ROUND_MICROS = SECOND / 4;

/** One schedule, from an empty server to a quiet end. */
export class Simulation {
  readonly #time = new VirtualTime();
  readonly #reference = new Reference();
  readonly #schedule: Schedule;
  readonly #server: SimulatedServer;
  readonly #processes: readonly SimulatedProcess[];
  readonly #callers: readonly Caller[];
  readonly #violations: unknown[] = [];
  #drawn = 0;

  private constructor(schedule: Schedule, redis: RealRedis) {
    this.#schedule = schedule;
    const time = this.#time;
    const { isSliced } = schedule;
    const server = new SimulatedServer({ time, redis, reference: this.#reference, isSliced });
    this.#server = server;
    const draw = () => schedule.draws[this.#drawn++] ?? 0;
    const onViolation = (error: unknown) => this.#violations.push(error);
    const onSettled = (process: SimulatedProcess, call: StoreCall) => this.#onSettled(process, call);
    const given = { time, server, schedule, draw, onViolation, onSettled };
    this.#processes = schedule.processes.map((spec) => new SimulatedProcess({ ...given, spec }));
    this.#callers = this.#processes.map((process) => new Caller(time, process, onViolation));
  }

  /** Throws when anything is wrong. */
  static async run(schedule: Schedule, redis: RealRedis): Promise<Outcome> {
    await redis.clear();
    const simulation = new Simulation(schedule, redis);
    simulation.#time.install();
    const listen = () => {};
    subscribe('rollgate:store:failure', listen);
    subscribe('rollgate:store:recovery', listen);
    try {
      return await simulation.#run();
    } finally {
      unsubscribe('rollgate:store:failure', listen);
      unsubscribe('rollgate:store:recovery', listen);
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
    await this.#recover();
    const calls = this.#callers.flatMap(({ calls }) => calls);
    const open = calls.find(({ settledMicros }) => settledMicros === undefined);
    if (open !== undefined) throw new Error(`Never settled: the ${open.kind} of ${open.startedMicros} µs`);
    return outcomeOf(this.#server, this.#callers, this.#reference.isVague !== undefined);
  }

  #at(atMicros: number, step: CallStep | FaultStep): void {
    const index = 'process' in step ? step.process % this.#processes.length : 0;
    const process = this.#processes[index]!;
    const faults = { time: this.#time, server: this.#server, processes: this.#processes, process };
    if (isCall(step)) this.#time.at(atMicros, 'socket', () => performCall(step, this.#callers[index]!), process);
    else this.#time.at(atMicros, 'socket', () => performFault(step, faults));
  }

  /** When everything works again, every limiter is soon answered by the store, and the limits hold what they should. */
  async #recover(): Promise<void> {
    calmDown(this.#server, this.#processes);
    await this.#runUntil(this.#time.micros + 4 * SECOND);
    calmDown(this.#server, this.#processes);
    let ill = this.#callers.flatMap((caller) => caller.limiters.map((limiter) => ({ caller, limiter })));
    for (let round = 0; round < RECOVERY_ROUNDS && ill.length > 0; round++) {
      const asked = await this.#ask(ill, ['ann', 'all']);
      ill = ill.filter((_, index) => asked[index]!.decision?.degraded !== false);
    }
    if (ill.length > 0) throw new Error(`Never recovered: ${JSON.stringify(ill.map(({ limiter }) => limiter.spec))}`);
    const all = this.#callers.flatMap((caller) => caller.limiters.map((limiter) => ({ caller, limiter })));
    await this.#ask(all, ['bob', 'ann']);
    await this.#runUntil(this.#time.micros + SECOND);
  }

  async #ask(whom: readonly { caller: Caller; limiter: ProcessLimiter }[], names: Names): Promise<Call[]> {
    const calls: Call[] = [];
    for (const { caller, limiter } of whom) {
      this.#time.at(
        this.#time.micros,
        'socket',
        () => calls.push(caller.ask('peek', limiter, names, 1)),
        caller.process,
      );
    }
    await this.#runUntil(this.#time.micros + ROUND_MICROS);
    return calls;
  }

  #onSettled(process: SimulatedProcess, call: StoreCall): void {
    try {
      const { spec, health, calls } = process;
      if (call.isFromCache) {
        verifyDenial(call, calls.slice(0, -1), spec.denialMaxAgeMs!, this.#reference);
      } else if (call.error === undefined) {
        health.answered((call.settledMicros! - call.startedMicros) / 1000);
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
