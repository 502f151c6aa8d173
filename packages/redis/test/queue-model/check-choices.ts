import type { Operation } from '../../src/operations/operations.js';
import type { ModelOperations } from './model-operations.js';
import type { ModelReceiver } from './model-receiver.js';
import { type Choice, type ModelState, TICK } from './model-state.js';
import type { Scope } from './scope.js';

/** Plain checks of one unit of each limit. */
export class CheckChoices {
  constructor(
    private readonly scope: Scope,
    private readonly operations: ModelOperations,
    private readonly receiver: ModelReceiver,
  ) {}

  choices({ checks, heldChecks, overtakingChecks }: ModelState): Choice[] {
    const choices: Choice[] = [];
    if (checks > 0) choices.push(this.#check('checks', this.operations.checkIfEmpty()));
    if (heldChecks > 0) choices.push(this.#check('heldChecks', this.operations.checkBehind()));
    if (overtakingChecks > 0) choices.push(this.#check('overtakingChecks', this.operations.overtakingCheck()));
    return choices;
  }

  #check(counter: 'checks' | 'heldChecks' | 'overtakingChecks', operation: Operation): Choice {
    return {
      operations: [operation],
      apply: (state, outcome) => {
        state[counter] -= 1;
        this.receiver.receive(state, undefined, outcome!);
        const line = outcome!.reply.split('\n')[1]!;
        if (line === '') state.heldChecks += 1;
        else if (isAllowed(line)) {
          if (counter !== 'overtakingChecks') this.#expectNobodyBefore(state);
          const start = state.tick + Math.round(delayOf(line) / TICK);
          state.starts.push([start, this.operations.keys.map(() => 1), state.tick]);
        }
      },
    };
  }

  #expectNobodyBefore({ callers, messages, isReordered }: ModelState): void {
    if (this.scope.hasFaults || isReordered || messages.length > 0) return;
    const isBehind = callers.some(({ status, number }) => status === 'waits' && number > 0);
    if (isBehind) this.receiver.problem ??= 'a check overtook a caller';
  }
}

/** The longest delay of the results in a line. Five numbers start with the delay. */
function delayOf(line: string): number {
  return Math.max(0, ...line.split(',').map((result) => Number(/^(\d+) 0 \d+ \d+ \d+/.exec(result)?.[1] ?? 0)));
}

/** Whether no rule rejects, by the results in a line of a reply. */
function isAllowed(line: string): boolean {
  return !line.startsWith('-') && !/(^|,)-|^0 0 \d+ \d+ \d+(,|$)/.test(line);
}
