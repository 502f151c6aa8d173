import { createHash } from 'node:crypto';
import { type Scope, World } from './world.js';

/** What an exploration has found. */
export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** What is wrong with a state, and the actions that lead to it. */
  readonly failure?: { readonly problem: string; readonly actions: readonly string[] };
  /** Whether all states were reached. */
  readonly isComplete: boolean;
}

const PATHS_PER_TURN = 100;

/**
 * Runs everything that may happen, in every order, up to a number of states. A store cannot be copied, so each state is reached by its
 * actions again. If there are more states, the ones to continue from are a fixed random choice.
 */
export async function explore(scope: Scope, maxStates: number): Promise<Exploration> {
  const seen = new Set<string>();
  const open: (readonly string[])[] = [[]];
  const random = createRandom();
  let transitions = 0;
  for (let paths = 1; open.length > 0; paths++) {
    // Weak references keep their targets until the end of the turn.
    if (paths % PATHS_PER_TURN === 0) await new Promise(setImmediate);
    const path = takeAny(open, random);
    let world: World | undefined = worldAfter(scope, path);
    for (const action of world.actions()) {
      transitions += 1;
      world ??= worldAfter(scope, path);
      world.run(action);
      const problem = world.verify();
      if (problem !== undefined) {
        return { states: seen.size, transitions, isComplete: false, failure: { problem, actions: [...path, action] } };
      }
      const key = createHash('sha1').update(world.key()).digest('base64');
      world = undefined;
      if (seen.has(key)) continue;
      seen.add(key);
      open.push([...path, action]);
      if (seen.size >= maxStates) return { states: seen.size, transitions, isComplete: false };
    }
  }
  return { states: seen.size, transitions, isComplete: true };
}

function worldAfter(scope: Scope, actions: readonly string[]): World {
  const world = new World(scope);
  for (const action of actions) world.run(action);
  return world;
}

function takeAny<Item>(items: Item[], random: () => number): Item {
  const index = Math.floor(random() * items.length);
  const item = items[index]!;
  items[index] = items.at(-1)!;
  items.pop();
  return item;
}

/** A linear congruential generator. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
