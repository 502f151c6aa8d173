import type { RecordedTurn } from './model-operations.js';
import { type CallerState, type ModelState, TICK } from './model-state.js';
import { intervalOf, limitOf, type Scope } from './scope.js';

/** A turn in a reply or a message: whose it is, and when it was granted. */
export interface FoundTurn extends RecordedTurn {
  readonly index: number;
  readonly now: number;
}

/** How much later than the first operation of a script its others are, in microseconds. */
const SCRIPT_MICROS = 3;

/** Finds starts that leaky buckets assign against their guarantees. All times are microseconds. */
export class AssignedStarts {
  readonly #rules: readonly number[];

  constructor(private readonly scope: Scope) {
    this.#rules = [...scope.costs[0]!.keys()].filter((rule) => intervalOf(scope, rule) > 0);
  }

  /**
   * What is wrong with the turns that one script has granted in this state.
   *
   * @param earlier All other turns that are recorded.
   */
  findProblem(state: ModelState, turns: readonly FoundTurn[], earlier: readonly FoundTurn[]): string | undefined {
    for (const rule of this.#rules) {
      const own = turns.filter((turn) => this.#units(turn, rule) > 0);
      own.sort((one, other) => one.hits[rule]! - other.hits[rule]!);
      // The queue has one end, so each start is behind all earlier ones.
      const lastEnd = Math.max(0, ...earlier.map((turn) => this.#end(turn, rule)));
      for (const [place, turn] of own.entries()) {
        const previous = own[place - 1];
        const free = previous === undefined ? lastEnd : this.#end(previous, rule);
        if (turn.hits[rule]! < free) return 'two starts are closer than the interval';
        if (previous && this.#isReversed(state, previous, turn, rule)) return 'a later caller got the earlier start';
        const room = limitOf(this.scope, rule) + 1 - this.#units(turn, rule);
        if (turn.hits[rule]! - turn.stamp > room * this.#interval(rule))
          return 'more callers than may wait have starts';
      }
    }
    return undefined;
  }

  /** Whether a caller that was too late has got a start behind its old one, although none behind that was taken. */
  hasLostStart(state: ModelState, index: number, late: CallerState, turns: readonly FoundTurn[]): boolean {
    const own = turns.find((turn) => turn.index === index);
    // A ticket that its caller has left may still be in a queue.
    const isFirst = turns.every((turn) => turn === own || state.callers[turn.index]!.number > late.number);
    if (own === undefined || !isFirst) return false;
    return this.#rules.some((rule) => {
      const old = { ...own, hits: late.hits };
      const [freeTime, voidBefore] = readBucket(state.places[rule]!);
      // Scripts of a tick have the same time, so a start that was refunded may seem to be later than this one.
      if (this.#units(own, rule) === 0 || this.#end(old, rule) < freeTime || late.stamp < voidBefore) return false;
      return own.hits[rule]! > Math.max(old.hits[rule]!, own.now + SCRIPT_MICROS);
    });
  }

  #isReversed(state: ModelState, { index: first }: FoundTurn, { index: second }: FoundTurn, rule: number): boolean {
    const [one, other] = [state.callers[first]!, state.callers[second]!];
    const queue = state.places[this.scope.costs[0]!.length + rule]!.split(' ');
    const isKnown = !this.scope.hasFaults && !state.isReordered;
    return isKnown && one.number > other.number && [first, second].every((index) => queue.includes(String(index + 1)));
  }

  #units({ index }: FoundTurn, rule: number): number {
    return this.scope.costs[index]![rule]!;
  }

  #interval(rule: number): number {
    return intervalOf(this.scope, rule) * TICK;
  }

  #end(turn: FoundTurn, rule: number): number {
    const units = this.#units(turn, rule);
    return units > 0 ? turn.hits[rule]! + units * this.#interval(rule) : 0;
  }
}

/** The time from which all starts are free, and the stamp before which receipts are void, in the text of a leaky bucket. */
function readBucket(text: string): readonly [freeTime: number, voidBefore: number] {
  const [, freeTime, , voidBefore] = /^(\d+)\d\d(\/\d+)?(?:r(\d+))?/.exec(text) ?? [];
  return [Number(freeTime ?? 0), Number(voidBefore ?? 0)];
}
