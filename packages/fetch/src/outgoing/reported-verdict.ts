import * as leases from '@rollgate/core/leases';
import type { Usage } from '@rollgate/core/limits';
import type { State, Verdict } from '@rollgate/core/store';
import * as server from './reported-state.js';

/** The settings of a limit that determine its verdicts. */
interface Settings {
  /** The units of open calls while nothing is known. */
  readonly limit: number;
  readonly retryAfterMicros: number;
}

/** Decides on a call of this cost. */
export function fillVerdict(state: State, nowMicros: number, cost: number, settings: Settings, verdict: Verdict): void {
  const calls = server.openCallsOf(state);
  const open = leases.usedUnits(calls, nowMicros);
  // The wait by the numbers alone, and the wait if all calls stay open until their leases end.
  const isNever = nowMicros < server.forgottenMicros(state) && server.isAboveLimit(state, cost);
  const reportedTime = isNever
    ? Infinity
    : Math.min(timeOfCall(state, cost, 0, settings.limit), server.forgottenMicros(state));
  const openTime = Math.min(timeOfCall(state, cost, open, settings.limit), server.expiresMicros(state));
  const reportedWait = Math.max(0, reportedTime - nowMicros);
  const openWait = Math.max(0, openTime - nowMicros);
  verdict.isEstimate = openWait > reportedWait; // A response may come at any time.
  verdict.waitMicros = verdict.isEstimate
    ? Math.max(reportedWait, Math.min(openWait, settings.retryAfterMicros))
    : reportedWait;
  verdict.reason = 'limit';
  verdict.delayMicros = 0;
  verdict.atMicros = Math.max(1, nowMicros, leases.newestIdOf(calls) + 1);
  fillFigures(state, nowMicros, settings, verdict, open);
}

/** The units that the server has counted, and those of open calls. */
export function usageOf(state: State, nowMicros: number): Usage {
  const spent = server.isKnown(state) ? server.limitOf(state) - server.unitsAt(state, nowMicros) : 0;
  return { spent, reserved: leases.usedUnits(server.openCallsOf(state), nowMicros) };
}

/** When a call of this cost may start if so many units are open. */
function timeOfCall(state: State, cost: number, open: number, guess: number): number {
  return Math.max(server.blockedUntil(state), timeByNumbers(state, cost, open, guess));
}

function timeByNumbers(state: State, cost: number, open: number, guess: number): number {
  // Without open calls, a state that knows nothing has expired, so a call of any cost starts as a probe.
  if (!server.isKnown(state)) return cost <= guess - open ? -Infinity : Infinity;
  if (server.isAboveLimit(state, cost)) return Infinity;
  const limit = Math.max(cost, server.limitOf(state)); // After a window without a reported limit, a call of any cost starts as a probe.
  const units = Math.min(server.expectedUnits(state, cost), limit);
  const reserve = server.reserveNextTo(state, units);
  const others = server.expectedUnits(state, open);
  return others <= limit - units - reserve ? server.timeOfUnits(state, units + others + reserve) : Infinity;
}

/** Fills in the figures that do not depend on the cost. Their times ignore open calls. */
export function fillFigures(
  state: State,
  nowMicros: number,
  { limit }: Settings,
  verdict: Verdict,
  open = leases.usedUnits(server.openCallsOf(state), nowMicros),
): void {
  const isBlocked = server.blockedUntil(state) > nowMicros;
  const units = server.isKnown(state) ? server.unitsAt(state, nowMicros) : limit;
  const isFull = units === server.limitOf(state) && open === 0; // A call may take all units.
  const reserve = server.reserveNextTo(state, 0);
  const waitFor = (count: number) => {
    const time = Math.max(
      server.blockedUntil(state),
      server.isKnown(state) ? server.timeOfUnits(state, count) : -Infinity,
    );
    return Math.max(0, Math.min(time, server.forgottenMicros(state)) - nowMicros);
  };
  const free = isFull ? units : server.costWithin(state, units - server.expectedUnits(state, open) - reserve);
  verdict.remaining = isBlocked ? 0 : Math.max(0, free);
  verdict.resetMicros = waitFor(server.limitOf(state)); // 0 units if nothing is known.
  const next = 1 + (isBlocked ? 0 : server.costWithin(state, units - reserve));
  const nextUnits = Math.min(server.limitOf(state), server.expectedUnits(state, next) + reserve);
  verdict.nextUnitMicros = verdict.resetMicros === 0 ? 0 : waitFor(nextUnits);
}
