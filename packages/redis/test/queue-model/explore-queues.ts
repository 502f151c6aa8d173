import type { Choice, ModelState } from './model-state.js';
import type { QueueModel } from './queue-model.js';
import { finish, type Steps } from './schedules.js';
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
    const pending: { text: string; state: ModelState; choice: Choice }[] = [];
    while (stack.length > 0 && pending.length < BATCH) {
      const text = stack.pop()!;
      if (seen.has(text)) continue;
      seen.add(text);
      const state = JSON.parse(text) as ModelState;
      const problem = model.findProblem(state);
      if (problem !== undefined) return result(problem, text);
      if (seen.size % tryEvery === 0) {
        tried += 1;
        const stuck = await runAlone(model, JSON.parse(text) as ModelState);
        if (stuck !== undefined) return result(stuck, text);
      }
      for (const choice of model.choices(state)) pending.push({ text, state, choice });
    }
    transitions += pending.length;
    for (const [index, outcome] of (await runAll(model, pending)).entries()) {
      const { text, choice } = pending[index]!;
      const next = JSON.parse(text) as ModelState;
      choice.apply(next, outcome);
      if (model.problem !== undefined) return result(model.problem, text);
      sort(next);
      stack.push(JSON.stringify(next));
    }
  }
  return result();
}

async function runAll(
  model: QueueModel,
  pending: readonly { readonly state: ModelState; readonly choice: Choice }[],
): Promise<(Outcome | undefined)[]> {
  const steps = pending.flatMap(({ state, choice }) =>
    choice.operations === undefined ? [] : [model.toStep(state, choice.operations)],
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
async function runAlone(model: QueueModel, state: ModelState): Promise<string | undefined> {
  const [problem] = await runTogether(model, [{ state, steps: finish(model, state) }]);
  return problem;
}

/** Runs schedules, each on its own state, with a step of each of them in a script call. Returns what is wrong with each. */
export async function runTogether(
  model: QueueModel,
  schedules: readonly { readonly state: ModelState; readonly steps: Steps }[],
): Promise<(string | undefined)[]> {
  const problems: (string | undefined)[] = [];
  let running = [...schedules.entries()];
  while (running.length > 0) {
    const pending = running.flatMap(([index, { state, steps }]) => {
      const { done, value } = steps.next();
      if (done) problems[index] = value;
      return done ? [] : [{ index, state, choice: value as Choice }];
    });
    for (const [place, outcome] of (await runAll(model, pending)).entries()) {
      const { state, choice } = pending[place]!;
      choice.apply(state, outcome);
    }
    const open = new Set(pending.map(({ index }) => index));
    running = running.filter(([index]) => open.has(index));
  }
  return problems;
}
