import type { Execution } from './call-records.js';
import type { Call, Caller } from './caller.js';
import { type Coverage, coverageOf } from './coverage.js';
import type { SimulatedServer } from './simulated-server.js';

/** The outcome of a schedule without a violation. */
export interface Outcome {
  readonly coverage: Coverage;
  /** All executions of the server and results of the limiters, with times. A schedule always yields the same trace. */
  readonly trace: string;
}

export function outcomeOf(server: SimulatedServer, callers: readonly Caller[], hasOpenResults: boolean): Outcome {
  const calls = callers.flatMap(({ calls }) => calls);
  const executions = [...server.executions, ...server.lost];
  return {
    coverage: coverageOf(server, callers, hasOpenResults),
    trace: [...executions.map(toLine), ...calls.map(toCallLine)].join('\n'),
  };
}

function toLine({ serverMicros, message, value, expired }: Execution): string {
  const states = expired.filter((key) => !key.endsWith(':#done')); // The name of a mark is random.
  return JSON.stringify([serverMicros, message.values, value, states]);
}

function toCallLine({ kind, startedMicros, settledMicros, decision }: Call): string {
  return JSON.stringify([kind, startedMicros, settledMicros, decision]);
}
