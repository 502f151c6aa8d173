import type { Caller } from './caller.js';
import type { CallStep, FaultStep } from './schedules.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { SimulatedServer } from './simulated-server.js';
import type { VirtualTime } from './virtual-time.js';

const MS = 1000;

/** The objects that a fault can affect. */
export interface FaultContext {
  readonly time: VirtualTime;
  readonly server: SimulatedServer;
  readonly processes: readonly SimulatedProcess[];
  /** The process of the step. */
  readonly process: SimulatedProcess;
}

export function isCall(step: CallStep | FaultStep): step is CallStep {
  return ['check', 'peek', 'charge', 'refund', 'settle', 'reset'].includes(step.kind);
}

export function performCall(step: CallStep, caller: Caller): void {
  if (step.kind === 'refund') {
    for (let time = 0; time < step.times; time++) caller.refund(step.back);
    return;
  }
  if (step.kind === 'settle') {
    caller.settle(step.back, step.settled);
    return;
  }
  const limiter = caller.limiters[step.limiter % caller.limiters.length]!;
  if (step.kind === 'reset') caller.reset(limiter, step.names);
  else for (let time = 0; time < step.times; time++) caller.decide(step.kind, limiter, step.names, step.cost);
}

type Faults = {
  [Kind in FaultStep['kind']]: (step: Extract<FaultStep, { kind: Kind }>, context: FaultContext) => void;
};

const faults: Faults = {
  cut: ({ arriving, reconnectMs }, { process }) => process.client.cut(arriving, reconnectMs * MS),
  loseReply: ({ reconnectMs }, { process }) => process.client.loseReply(reconnectMs * MS),
  silence: ({ forMs, reconnectMs }, { process }) => process.client.silence(forMs * MS, reconnectMs * MS),
  slow({ byMs }, { process }) {
    process.client.extraLatencyMicros = byMs * MS;
  },
  pause: ({ forMs }, { time, process }) => process.pause(time.micros, forMs * MS),
  stall: ({ forMs }, { server }) => server.stall(forMs * MS),
  fail: ({ forMs }, { server }) => server.fail(forMs * MS),
  clock: ({ byMs }, { server }) => server.setClock(byMs * MS),
  flush: (_, { server }) => server.forgetScripts(),
  restart({ lost, downMs, clockMs }, { time, server, processes }) {
    server.crash();
    for (const { client } of processes) client.cut(0, MS);
    time.at(time.micros + downMs * MS, 'socket', () => server.restart(lost, clockMs * MS));
  },
};

export function performFault<Kind extends FaultStep['kind']>(
  step: Extract<FaultStep, { kind: Kind }>,
  context: FaultContext,
): void {
  (faults[step.kind as Kind] as (step: FaultStep, context: FaultContext) => void)(step, context);
}
