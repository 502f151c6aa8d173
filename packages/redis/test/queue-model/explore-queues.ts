import { type Explorable, hashOf, type Place, type Reach } from '@rollgate/explorer';
import type { Choice, ModelState } from './model-state.js';
import type { QueueModel } from './queue-model.js';
import { finish, type Steps } from './schedules.js';
import type { Outcome } from './script-runner.js';

/** A problem, and the state in which it was found. */
export interface Failure {
  readonly problem: string;
  readonly example: string;
}

/**
 * All that may happen in a scope. The explorer keeps each state as text, and a script call takes the choices of many states together. An
 * action is the index of its choice.
 */
export class ExploredQueues implements Explorable<string, Failure> {
  readonly batch = 40;
  readonly start: string;
  /** How many states were extended, and from how many of them a fair schedule was tried. */
  extended = 0;
  tried = 0;

  /** @param tryEvery The number of states per fair schedule. */
  constructor(
    private readonly model: QueueModel,
    private readonly tryEvery: number,
  ) {
    this.start = JSON.stringify(model.initial);
  }

  async expand(places: readonly Place<string>[], reach: Reach<string>): Promise<Failure | undefined> {
    const model = this.model;
    const pending: { place: Place<string>; action: number; state: ModelState; choice: Choice }[] = [];
    for (const place of places) {
      const state = JSON.parse(place.state) as ModelState;
      this.extended += 1;
      const problem = model.findProblem(state) ?? (await this.#findStuck(place.state));
      if (problem !== undefined) return { problem, example: place.state };
      for (const [action, choice] of model.choices(state).entries()) pending.push({ place, action, state, choice });
    }
    for (const [index, outcome] of (await runAll(model, pending)).entries()) {
      const { place, action, choice } = pending[index]!;
      const next = JSON.parse(place.state) as ModelState;
      choice.apply(next, outcome);
      if (model.problem !== undefined) return { problem: model.problem, example: place.state };
      sort(next);
      const text = JSON.stringify(next);
      reach(place, action, hashOf(text), text);
    }
    return undefined;
  }

  /** Without further faults, all callers that wait start. Returns what is wrong, if anything is. */
  async #findStuck(text: string): Promise<string | undefined> {
    if (this.extended % this.tryEvery !== 0) return undefined;
    this.tried += 1;
    const state = JSON.parse(text) as ModelState;
    const [problem] = await runTogether(this.model, [{ state, steps: finish(this.model, state) }]);
    return problem;
  }
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
