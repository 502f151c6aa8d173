import { HashSet } from './hash-set.js';
import { Histories } from './histories.js';

/** The end of a history, with what the model keeps of it. */
export interface Place<State> {
  readonly actions: readonly number[];
  readonly state: State;
}

/** A model whose histories can be explored. Actions are numbers below 2^16, and a history has at most 255 of them. */
export interface Explorable<State, Finding> {
  /** The state without any history. A model that runs each history again needs none. */
  readonly start: State;
  /** How many places it takes together; default 1. */
  readonly batch?: number;
  /**
   * Takes every possible action at these places, and calls `reach` with the place, the action, a hash of all that decides the future, and the
   * state. Returns what is wrong, if anything is.
   */
  expand(places: readonly Place<State>[], reach: Reach<State>): PromiseLike<Finding | undefined> | Finding | undefined;
}

export type Reach<State> = (from: Place<State>, action: number, hash: number, state: State) => void;

/** What {@link explore} takes. */
export interface ExploreOptions {
  /** Actions of the longest histories; default `Infinity`. */
  readonly depth?: number | undefined;
  /** Ends after this many states. With the order `shortest`, all histories of the last length are still taken. Default `Infinity`. */
  readonly states?: number | undefined;
  /** Whether only one of several histories that end in the same state is extended; default `true`. */
  readonly merge?: boolean | undefined;
  /** Which history is extended next: the shortest, the newest, or any one, the same in each run. Default `shortest`. */
  readonly order?: 'shortest' | 'newest' | 'any' | undefined;
}

/** How much was explored. */
export interface Exploration<Finding> {
  /** The length of the longest histories. */
  readonly depth: number;
  /** The number of different states, by the length of the history that reached them first. */
  readonly levels: readonly number[];
  readonly states: number;
  readonly seconds: number;
  /** Whether no history was left to extend. */
  readonly isComplete: boolean;
  /** What is wrong. With the order `shortest`, no shorter history fails. */
  readonly finding: Finding | undefined;
}

/** A turn of the event loop settles promises and lets weak references go. Otherwise they would fill the memory. */
const BATCHES_PER_TURN = 100;

/** Takes every history of a model, and ends at the first one that fails. */
export async function explore<State, Finding>(
  model: Explorable<State, Finding>,
  { depth = Infinity, states = Infinity, merge = true, order = 'shortest' }: ExploreOptions = {},
): Promise<Exploration<Finding>> {
  const startUsage = process.cpuUsage();
  const histories = new Histories();
  const seen = new HashSet();
  const kept = new Map<number, State>([[0, model.start]]);
  const indexes = new Map<Place<State>, number>();
  const levels = [1];
  const open = new OpenHistories(order);
  if (depth > 0) open.add(0);
  let finding: Finding | undefined;
  const reach: Reach<State> = (from, action, hash, state) => {
    if (merge && !seen.add(hash)) return;
    const index = histories.add(indexes.get(from)!, action);
    const length = histories.lengthOf(index);
    levels[length] = (levels[length] ?? 0) + 1;
    if (length >= depth) return;
    open.add(index);
    if (state !== undefined) kept.set(index, state);
  };
  for (let batches = 1, lastLength = 0; open.size > 0 && finding === undefined; batches++) {
    const isLonger = order !== 'shortest' || histories.lengthOf(open.next) > lastLength;
    if (isLonger && histories.count >= states) break;
    lastLength = histories.lengthOf(open.next);
    const places: Place<State>[] = [];
    while (open.size > 0 && places.length < (model.batch ?? 1)) {
      const index = open.take();
      const place = { actions: histories.at(index), state: kept.get(index)! };
      kept.delete(index);
      indexes.set(place, index);
      places.push(place);
    }
    finding = await model.expand(places, reach);
    indexes.clear();
    if (batches % BATCHES_PER_TURN === 0) await new Promise(setImmediate);
  }
  const { user, system } = process.cpuUsage(startUsage);
  const seconds = (user + system) / 1e6;
  const isComplete = open.size === 0 && finding === undefined;
  return { depth: levels.length - 1, levels, states: histories.count, seconds, isComplete, finding };
}

/** The histories that were not extended yet. */
class OpenHistories {
  readonly #order: NonNullable<ExploreOptions['order']>;
  readonly #indexes: number[] = [];
  #first = 0;
  #random = 1;

  constructor(order: NonNullable<ExploreOptions['order']>) {
    this.#order = order;
  }

  get size(): number {
    return this.#indexes.length - this.#first;
  }

  /** The one that `take` returns next, if the order is `shortest`. */
  get next(): number {
    return this.#indexes[this.#first]!;
  }

  add(index: number): void {
    this.#indexes.push(index);
  }

  take(): number {
    if (this.#order === 'shortest') return this.#indexes[this.#first++]!;
    const last = this.#indexes.pop()!;
    if (this.#order === 'newest' || this.#indexes.length === 0) return last;
    // A linear congruential generator.
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2 ** 31;
    const place = Math.floor((this.#random / 2 ** 31) * (this.#indexes.length + 1));
    if (place === this.#indexes.length) return last;
    const taken = this.#indexes[place]!;
    this.#indexes[place] = last;
    return taken;
  }
}
