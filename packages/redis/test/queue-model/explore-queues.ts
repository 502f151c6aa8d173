import type { Choice, ModelState, QueueModel } from './queue-model.js';
import type { Outcome } from './script-runner.js';

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** How many states a fair schedule was tried from. */
  readonly tried: number;
  /** The first problem and the state in which it was found. */
  readonly problem: string | undefined;
  readonly example: string | undefined;
}

/** How many script calls go to the server together. */
const BATCH = 300;

/** Visits all states of the model, depth first, until it finds a problem or has visited `maxStates`. */
export async function explore(model: QueueModel, maxStates: number, tryEvery: number): Promise<Exploration> {
  const seen = new Set<string>();
  const stack: string[] = [JSON.stringify(model.initial)];
  let transitions = 0;
  let tried = 0;
  const result = (problem?: string, example?: string): Exploration => ({
    states: seen.size,
    transitions,
    tried,
    problem,
    example,
  });
  while (stack.length > 0 && seen.size < maxStates) {
    const pending: { state: string; choice: Choice }[] = [];
    while (stack.length > 0 && pending.length < BATCH) {
      const text = stack.pop()!;
      if (seen.has(text)) continue;
      seen.add(text);
      const state = JSON.parse(text) as ModelState;
      const problem = model.findProblem(state);
      if (problem !== undefined) return result(problem, text);
      if (seen.size % tryEvery === 0) {
        tried += 1;
        const stuck = await runFairly(model, JSON.parse(text) as ModelState);
        if (stuck !== undefined) return result(stuck, text);
      }
      for (const choice of model.choices(state)) pending.push({ state: text, choice });
    }
    transitions += pending.length;
    for (const [index, outcome] of (await runAll(model, pending)).entries()) {
      const { state, choice } = pending[index]!;
      const next = JSON.parse(state) as ModelState;
      choice.apply(next, outcome);
      if (model.problem !== undefined) return result(model.problem, state);
      sort(next);
      stack.push(JSON.stringify(next));
    }
  }
  return result();
}

async function runAll(
  model: QueueModel,
  pending: readonly { state: string; choice: Choice }[],
): Promise<(Outcome | undefined)[]> {
  const steps = pending.flatMap(({ state, choice }) =>
    choice.operations === undefined ? [] : [model.toStep(JSON.parse(state) as ModelState, choice.operations)],
  );
  const outcomes = steps.length === 0 ? [] : await model.runner.run(steps);
  let place = 0;
  return pending.map(({ choice }) => (choice.operations === undefined ? undefined : outcomes[place++]));
}

/** The order of messages and starts does not matter. */
function sort({ messages, unused, starts }: ModelState): void {
  for (const list of [messages, unused, starts]) {
    (list as unknown[]).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
}

/** Without further faults, all callers that wait start. Returns what is wrong, if anything is. */
async function runFairly(model: QueueModel, state: ModelState): Promise<string | undefined> {
  const { window, lease, horizon, costs } = model.scope;
  const end = state.tick + costs.length * window + lease + 2 * horizon + 8;
  const take = async (choice: Choice) => {
    const [outcome] = await runAll(model, [{ state: JSON.stringify(state), choice }]);
    choice.apply(state, outcome);
  };
  const deliverAll = async () => {
    while (state.messages.length > 0) await take(model.deliver(0));
    while (state.unused.length > 0) await take(model.refundUnused(state, 0));
  };
  for (; state.tick <= end; model.pass(state)) {
    await deliverAll();
    for (const [index, caller] of state.callers.entries()) {
      if (caller.status === 'waits')
        await take(caller.isMissing ? model.reenter(state, index) : model.sync(state, index));
      await deliverAll();
      if (caller.status === 'hasTurn' && caller.at < state.tick) await take(model.reenter(state, index));
      await deliverAll();
    }
    for (const [index, { status, at }] of state.callers.entries()) {
      if (status === 'hasTurn' && at === state.tick) await take(model.start(index));
    }
    const problem = model.findProblem(state);
    if (problem !== undefined) return `${problem}, in a fair schedule`;
    if (state.callers.every(({ status }) => status !== 'waits' && status !== 'hasTurn')) return undefined;
  }
  return 'a caller waits forever';
}
