import { createRandom } from '@rollgate/test-support/random';
import type { Choice, ModelState } from './model-state.js';
import type { QueueModel } from './queue-model.js';
import { intervalOf, limitOf, processOf, type Scope } from './scope.js';

/** The steps of a schedule. Returns what is wrong at its end, if anything is. */
export type Steps = Generator<Choice, string | undefined, void>;

/** Takes random steps with all faults of the scope, and then finishes without faults. */
export function* simulate(model: QueueModel, state: ModelState, seed: number, length: number): Steps {
  const random = createRandom(seed);
  for (let step = 0; step < length; step++) {
    const choices = model.choices(state);
    if (choices.length === 0) break;
    yield choices[Math.floor(random() * choices.length)]!;
    const problem = model.findProblem(state);
    if (problem !== undefined) return problem;
  }
  return yield* finish(model, state);
}

/** Continues without faults until all callers that wait have started. */
export function* finish(model: QueueModel, state: ModelState): Steps {
  const end = state.tick + longestFinish(model.scope);
  for (; state.tick <= end; model.pass(state)) {
    yield* deliverAll(model, state);
    for (const [index, caller] of state.callers.entries()) {
      if (caller.resends) yield model.callers.enter(index);
      if (caller.owesLeave && hasWaiting(model, state, index)) yield model.callers.leaveAgain(index);
      yield* deliverAll(model, state);
      if (caller.status === 'waits')
        yield caller.isMissing ? model.callers.reenter(state, index) : model.callers.sync(state, index);
      yield* deliverAll(model, state);
      if (caller.status === 'hasTurn' && caller.at < state.tick) yield model.callers.reenter(state, index);
      yield* deliverAll(model, state);
    }
    for (const [index, { status, at }] of state.callers.entries()) {
      if (status === 'hasTurn' && at === state.tick) yield model.callers.start(index);
    }
    const problem = model.findProblem(state);
    if (problem !== undefined) return `${problem}, in a fair schedule`;
    if (state.callers.every(({ status }) => status !== 'waits' && status !== 'hasTurn')) return undefined;
  }
  return 'a caller waits forever';
}

/** In how many ticks all callers start without faults. A process that has ended delays the others by its lease. */
function longestFinish(scope: Scope): number {
  const { window, lease, horizon, costs } = scope;
  if (scope.intervals === undefined) return 2 * costs.length * window + lease + 2 * horizon + 8;
  const waits = costs[0]!.map((_, rule) => {
    const units = costs.reduce((sum, own) => sum + own[rule]!, 0);
    const interval = intervalOf(scope, rule);
    // The units that ended processes have left in the bucket, and those of all callers.
    return interval > 0 ? (limitOf(scope, rule) + 1 + units) * interval : units * window;
  });
  return lease + waits.reduce((sum, wait) => sum + wait, 0) + 2;
}

function* deliverAll(model: QueueModel, state: ModelState): Generator<Choice, void, void> {
  while (state.messages.length > 0) yield model.faults.deliver(0);
  while (state.unused.length > 0) yield model.callers.refundUnused(state, 0);
}

/** A process without a caller that waits gets no reply, so its lease ends instead. */
function hasWaiting(model: QueueModel, { callers }: ModelState, index: number): boolean {
  return callers.some(
    ({ status }, other) => status === 'waits' && processOf(model.scope, other) === processOf(model.scope, index),
  );
}
