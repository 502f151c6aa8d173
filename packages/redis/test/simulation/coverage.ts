import type { Execution, StoreCall } from './call-records.js';
import type { Call, Caller } from './caller.js';
import type { SimulatedServer } from './simulated-server.js';

/** The number of each event that the schedules must cover. */
export type Coverage = ReturnType<typeof coverageOf>;

export function coverageOf(server: SimulatedServer, callers: readonly Caller[], hasOpenResults: boolean) {
  const executions = [...server.executions, ...server.lost];
  return {
    ...coverageOfCalls(callers.flatMap(({ calls }) => calls)),
    ...coverageOfExecutions(executions.flatMap(({ calls }) => calls)),
    lost: server.lost.length,
    'left for the next script': executions.filter(isPartial).length,
    'without a known script': server.unknownScriptCount,
    recovered: callers.filter(({ process }) => process.health.recoveredCount > 0).length,
    'without a model': Number(hasOpenResults),
  };
}

function coverageOfCalls(calls: readonly Call[]) {
  const late = calls.filter(({ storeCall, settledMicros }) => {
    return storeCall !== undefined && (storeCall.settledMicros ?? Infinity) > settledMicros!;
  });
  const degraded = (policy: string) => calls.filter(({ decision }) => decision?.degraded === policy).length;
  return {
    'decided by Redis': calls.filter(({ decision, storeCall }) => !decision?.degraded && storeCall?.execution).length,
    'decided by the denial cache': calls.filter(({ storeCall }) => storeCall?.isFromCache).length,
    'decided by the fallback': degraded('fallback'),
    'allowed by policy': degraded('allow'),
    'denied by policy': degraded('deny'),
    rejected: calls.filter(({ error }) => error !== undefined).length,
    'settled by the deadline': late.length,
    'with a late reply': late.filter(({ storeCall }) => storeCall!.execution !== undefined).length,
  };
}

/** Counts events of the executed calls. A call that was executed twice appears twice. */
function coverageOfExecutions(executed: readonly StoreCall[]) {
  const repeated = executed.filter((call, index) => executed.indexOf(call) < index);
  return {
    'executed twice': repeated.length,
    'settled twice': repeated.filter(({ kind }) => kind === 'refund' || kind === 'settle').length,
    'charged twice': repeated.filter(({ kind }) => kind === 'charge').length,
    'settled after a reset': executed.filter(({ kind, settledCheck: settled }, index) => {
      const since = executed.slice(executed.indexOf(settled!), index);
      return (
        settled !== undefined &&
        kind !== 'check' &&
        since.some((call) => call.kind === 'reset' && hasSameKeys(call, settled!))
      );
    }).length,
  };
}

function hasSameKeys(one: StoreCall, other: StoreCall): boolean {
  return JSON.stringify(one.subject.keys) === JSON.stringify(other.subject.keys);
}

function isPartial({ calls, message }: Execution): boolean {
  return calls.length < message.calls.length;
}
