import { type Explorable, hashOf, type Place, type Reach } from '@rollgate/explorer';
import { type Scope, World } from './world.js';

/** What is wrong with a state, and the actions that lead to it. */
export interface Failure {
  readonly problem: string;
  readonly actions: readonly string[];
}

/** Everything that may happen in a scope, in every order. A store cannot be copied, so each state is reached by its actions again. */
export class LeasingModel implements Explorable<undefined, Failure> {
  readonly start = undefined;
  /** The explorer knows actions by their index here. */
  readonly #actions: string[] = [];

  constructor(private readonly scope: Scope) {}

  expand([place]: readonly [Place<undefined>], reach: Reach<undefined>): Failure | undefined {
    const path = place.actions.map((action) => this.#actions[action]!);
    const first = this.#worldAfter(path);
    for (const [index, action] of first.actions().entries()) {
      const world = index === 0 ? first : this.#worldAfter(path);
      world.run(action);
      const problem = world.verify();
      if (problem !== undefined) return { problem, actions: [...path, action] };
      if (!this.#actions.includes(action)) this.#actions.push(action);
      reach(place, this.#actions.indexOf(action), hashOf(world.key()), undefined);
    }
    return undefined;
  }

  #worldAfter(actions: readonly string[]): World {
    const world = new World(this.scope);
    for (const action of actions) world.run(action);
    return world;
  }
}
